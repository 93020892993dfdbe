"""``changes.md``: what a repair changed and why, for people who were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.excerpt import excerpt
from nclue_build.core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nclue_build.records.benchmark import Query
    from nclue_build.records.inventory import Condition
    from nclue_build.records.repair import Decision, QrelChange, QrelState, QueryChange, Repair, Scope, Transitions

_REASONS: Final = {
    "no_gold": "no gold is left",
    "ineligible_gold": "a document that may not be a gold passes all checks",
    "gold_again": "it has a gold again",
}
_SCOPES: Final[Mapping[Scope, str]] = {
    "inventory": "a decision holds in every query that asks for the condition",
    "pair": "a decision holds in the query it was made for alone",
}
_LEGEND: Final = (
    "A judgment is shown as grade (outcome of the page checks; pages of each condition, in the order of the query). A "
    "gold has all conditions on pages of their own; *incomplete* lacks one, *single_page* has a page with all of them, "
    "*no_assignment* has too few pages for them."
)


def as_text(
    build: str,
    found: Transitions,
    changes: Sequence[QrelChange],
    decided: Sequence[tuple[Repair, Decision]],
    names: tuple[Mapping[str, Query], Iterable[Condition]],
) -> str:
    """What changed and why, the golds first.

    Args:
        build: Its name.
        found: The counts.
        changes: Every judgment that changed, by query.
        decided: What became of each decision.
        names: The queries there are now, and the conditions of the inventory.
    """
    queries, conditions = names
    known = {condition.condition_id: condition.name for condition in conditions}
    golds = [row for row in changes if _gold(row.before) != _gold(row.after)]
    others = [row for row in changes if _gold(row.before) == _gold(row.after)]
    effects = ", ".join(f"{count} {name}" for name, count in found.effects.items()) or "none"
    lines = [
        f"# {build}: from P{found.from_version} to P{found.to_version}",
        "",
        f"{counted(found.decisions, 'decision')}: {effects}. Scope {found.scope}: {_SCOPES[found.scope]}.",
        "",
        *_totals(found),
        "",
        *_grades(found),
        *_queries("Queries removed", found.removed_queries),
        *_queries("Queries back", found.restored_queries),
        *(("", _LEGEND) if changes else ()),
        *_judgments("Golds won and lost", golds, queries),
        *_judgments("Other judgments", others, queries),
        "",
        "## Decisions",
        "",
        *(_decision(row, decision, known) for row, decision in decided),
    ]
    return "\n".join(lines) + "\n"


def _totals(found: Transitions) -> Iterator[str]:
    yield from ("| | before | after | |", "|---|---:|---:|---:|")
    for name, (before, after) in (("queries", found.queries), ("judgments", found.qrels), ("golds", found.golds)):
        yield f"| {name} | {before} | {after} | {after - before:+d} |"


def _grades(found: Transitions) -> Iterator[str]:
    if found.grades:
        yield from (
            "| grade | judgments | looked at | won gold | lost gold |",
            "|---|---:|---:|---:|---:|",
        )
    for arrow, count in found.grades.items():
        columns = (found.audited_grades, found.to_gold, found.from_gold)
        counts = " | ".join(str(column.get(arrow, 0)) for column in columns)
        yield f"| {arrow.replace('->', ' -> ')} | {count} | {counts} |"
    if found.grades:
        yield ""
    yield (
        f"{found.subset_to_gold} became gold, {found.gold_to_subset} no longer are; grades change by "
        f"{found.net_grade:+d} in all (0 is no judgment). {counted(found.unaudited_changes, 'judgment')} moved without "
        "having been looked at, because they share a condition and a document with one that was."
    )
    for title, corrections in (("source", found.corrections_by_source), ("n", found.corrections_by_n)):
        if corrections:
            yield ""
            yield f"Grades corrected among those looked at, by {title}: {_counts(corrections)}."


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _queries(title: str, rows: Sequence[QueryChange]) -> Iterator[str]:
    if rows:
        yield from ("", f"## {title}", "")
    for row in rows:
        yield (
            f"- `{row.query_id}` {_concepts(row.concepts)}: {_REASONS[row.reason]}, {counted(row.qrels, 'judgment')}; "
            f"{_ids(row.decisions)}"
        )


def _judgments(title: str, changes: Sequence[QrelChange], queries: Mapping[str, Query]) -> Iterator[str]:
    if changes:
        yield from ("", f"## {title}", "")
    previous = ""
    for change in changes:
        if change.query_id != previous:
            conditions = queries[change.query_id].conditions
            yield f"- `{change.query_id}` {_concepts([condition.name for condition in conditions])}"
            previous = change.query_id
        because = _ids(change.decisions) + ("" if change.audited else ", not looked at itself")
        mark = _gold(change.after) - _gold(change.before)
        marked = {1: "**gold won**, ", -1: "**gold lost**, "}.get(mark, "")
        yield f"  - `{change.doc_id}`: {marked}{_shown(change.before)} -> {_shown(change.after)}; {because}"


def _decision(row: Repair, decision: Decision, names: Mapping[str, str]) -> str:
    what = f'"{names[row.condition_id]}" (`{row.condition_id}`) in `{row.doc_id}`'
    if row.effect == "applied":
        outcome = f"pages {_pages(row.old)} -> {_pages(row.new)}"
    elif row.effect == "unresolved":
        outcome = (
            f"unresolved, pages stay {_pages(row.old)}, of which only these were looked at: "
            f"{_pages([page for page in row.old if page in decision.pages_shown])}"
        )
    else:
        outcome = f"as before, pages {_pages(row.old)}"
    who = f" of {', '.join(row.responses)}" if row.responses else ""
    head = f"- `{row.decision_id}`: {what} is {'present' if row.present else 'absent'}: {outcome}"
    why = f"Asked for `{row.query_id}`; {row.basis}{who}: {' '.join(row.reason.split())}"
    quotes = [(quote.page, excerpt(quote.quote, [names[row.condition_id]])) for quote in decision.quotes]
    return "\n".join([f"{head}. {why}", *(f'  - page {page}: "{text}"' for page, text in quotes)])


def _gold(state: QrelState | None) -> bool:
    return state is not None and state.gold


def _concepts(names: Sequence[str]) -> str:
    return "; ".join(f'"{name}"' for name in names)


def _ids(decisions: Sequence[str]) -> str:
    return "because of " + (", ".join(f"`{key}`" for key in decisions) or "nothing known")


def _pages(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages)) or "none"


def _shown(state: QrelState | None) -> str:
    if state is None:
        return "not judged (0)"
    pages = " / ".join(_pages(pages) for pages in state.pages)
    return f"grade {state.grade}{' gold' if state.gold else ''} ({state.gate}; pages {pages})"
