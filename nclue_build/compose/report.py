"""What composing says of itself: ``composition.json``, ``forms_qa.json``, and the shortfall in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.compose.forms import form_problems
from nclue_build.compose.relatedness import Relation
from nclue_build.compose.sample import D_PLUS_EDGES, L_MIN_EDGES
from nclue_build.records.composition import (
    Caps,
    Composition,
    Diversity,
    DropRate,
    FormProblem,
    FormsQa,
    MixRow,
    StepReport,
)
from nclue_build.store.layout import ARITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.compose.ladder import Composed, Step
    from nclue_build.compose.select import PoolEntry
    from nclue_build.records.benchmark import Query
    from nclue_build.records.config import ComposeSection

    Stratum = Literal["n", "source", "l_min", "d_plus", "n_golds", "relaxation"]

BUSIEST: Final = 20
"""Golds taken out to see what is left (n-Clue supplement, section 2)."""
_MIX_TOLERANCE_PERMILLE: Final = 50
_FOUND: Final = frozenset({"pairs.compatible", "n2.found", "n3.proposed", "n3.found"})
_RELATIONS: Final[dict[Relation, Literal["any", "associated", "close"]]] = {
    Relation.ANY: "any",
    Relation.ASSOCIATED: "associated",
    Relation.CLOSE: "close",
}
_ADVICE: Final = {
    "redundant": "the conditions name the same few things: add documents, or raise [mine] max_conditions",
    "document_overlap": "conditions stand in the same documents: add documents on other subjects",
    "unrelated": "no two conditions stand close together more often than chance: add documents",
    "not_close": "few conditions belong to the same subject: add documents on common subjects",
    "too_many_shared": "raise [compose] max_golds, or lower [mine] max_document_share",
    "no_gold": "no document has the conditions on different pages: longer documents are needed",
    "too_many_golds": "raise [compose] max_golds, or lower [mine] max_document_share",
    "ineligible_gold": "golds would be documents that cannot be golds (see flags in documents_quality.jsonl)",
    "weak_gold": "set [compose] strong_golds = false",
    "capped_documents": 'set [compose] capped_documents = "penalise"',
    "few_subsets": "lower [compose] min_subsets, or add documents",
}


def step_reports(composed: Composed) -> tuple[StepReport, ...]:
    """One report per step of the ladder that was tried."""
    selected = Counter((entry.step, len(entry.conditions)) for entry in composed.chosen)
    return tuple(
        StepReport(
            name=step.requirements.name,
            max_weak_conditions=step.requirements.max_weak,
            titles=step.requirements.titles,
            relation=_RELATIONS[step.requirements.relation],
            min_subsets=step.requirements.min_subsets,
            max_golds=step.requirements.max_golds,
            max_capped_documents=step.requirements.max_capped,
            enumerated={key: step.counts[key] for key in sorted(step.counts) if key in _FOUND},
            dropped={key: step.counts[key] for key in sorted(step.counts) if key not in _FOUND},
            sampled={f"n{n}": step.sampled[n] for n in sorted(step.sampled)},
            verified={f"n{n}": step.verified[n] for n in sorted(step.verified)},
            selected={f"n{n}": selected[number, n] for n in ARITIES},
        )
        for number, step in enumerate(composed.steps)
    )


def binding_enumeration(step: Step) -> str:
    """Which requirement drops most conjunctions at a step, and what to change."""
    drops: Counter[str] = Counter()
    for key, count in step.counts.items():
        if key not in _FOUND:
            drops[key.split(".", 1)[1]] += count
    reason, count = max(sorted(drops.items()), key=lambda item: item[1], default=("", 0))
    if not count:
        return "no two conditions share a document: mine more conditions ([mine] min_documents) or add documents"
    return f"'{reason}' drops {count} conjunctions: {_ADVICE[reason]}"


def binding_constraint(composed: Composed, config: ComposeSection) -> str:
    """Exactly which constraint keeps the number of queries down, in words."""
    chosen, goal, blocked = composed.chosen, composed.rules.goal, composed.selection.blocked
    parts: list[str] = []
    if left := blocked.get("left_over", 0):
        parts.append(f"the corpus gives no more under these limits: {_stopped('', left, blocked, composed, config)}")
    relaxed = Counter(name for index, name in composed.selection.left_over.items() if composed.pool[index].step)
    beyond_goal = relaxed.pop("n_queries", 0)
    if relaxed:
        parts.append(_stopped("relaxed ", relaxed.total(), relaxed, composed, config))
    if len(chosen) >= goal.queries and (beyond_goal or any(entry.step for entry in chosen)):
        more = f" and are not used for {beyond_goal} more" if beyond_goal else ""
        parts.append(
            f"relaxed requirements fill up to goal_queries = {goal.queries}{more}: add documents, it grows by them"
        )
    sampled = sum(sum(step.sampled.values()) for step in composed.steps[:1])
    found = sum(composed.steps[0].counts[f"n{n}.found"] for n in ARITIES)
    if sampled < found:
        parts.append(f"n_candidates = {config.n_candidates} lets {sampled} of {found} strict conjunctions be verified")
    elif not left:
        tried = (
            f"all {found} strict conjunctions were tried" if found else "no conjunction meets the strict requirements"
        )
        parts.append(f"{tried}; {binding_enumeration(composed.steps[0])}")
    return "; ".join(parts)


def _stopped(kind: str, left: int, stops: Mapping[str, int], composed: Composed, config: ComposeSection) -> str:
    """How many of the candidates left over each limit stops."""
    limits = {
        "max_per_condition": f"max_per_condition = {composed.rules.max_per_condition}",
        "max_per_gold": f"max_per_gold = {composed.selection.gold_cap}",
        "share_n3": f"share_n3 = {config.share_n3}",
    }
    stopped = {limit: stops[name] for name, limit in limits.items() if stops.get(name)}
    if not stopped:
        return (
            f"{left} {kind}candidates left over fit these limits alone, but not with the mix and caps of more queries"
        )
    listed = ", ".join(f"{limit} stops {count}" for limit, count in stopped.items())
    # The counts overlap: without a word of that they seem to contradict the total.
    overlap = " (some by more than one of them)" if sum(stopped.values()) > left else ""
    return f"of {left} {kind}candidates left over {listed}{overlap}"


def shortfalls(composed: Composed, config: ComposeSection) -> tuple[str, ...]:
    """Named shortfalls, one line each."""
    chosen = composed.chosen
    found = []
    if len(chosen) < config.n_queries:
        found.append(
            f"{len(chosen)} of the {config.n_queries} queries asked for: {binding_constraint(composed, config)}"
        )
    families, wanted = len({entry.golds for entry in chosen}), composed.rules.goal.families
    if families < wanted:
        found.append(
            f"{families} gold families, {wanted} were aimed at: too many queries have the very golds of another"
        )
    golds, wanted = len({gold for entry in chosen for gold in entry.golds}), composed.rules.goal.golds
    if golds < wanted:
        found.append(f"{golds} documents are gold for a query, {wanted} were aimed at")
    relaxed = Counter(composed.steps[entry.step].requirements.name for entry in chosen if entry.step)
    if relaxed:
        listed = ", ".join(f"{count} by {name}" for name, count in sorted(relaxed.items(), key=str))
        found.append(f"{sum(relaxed.values())} of these {len(chosen)} queries need relaxed requirements: {listed}")
    n3 = sum(1 for entry in chosen if len(entry.conditions) == 3)  # noqa: PLR2004 - n = 3
    realised, declared = _permille(n3, len(chosen)), composed.rules.share_n3_permille
    if abs(realised - declared) > _MIX_TOLERANCE_PERMILLE:
        scarce = 2 if realised > declared else 3
        found.append(
            f"{realised / 10:.1f}% of these queries have three conditions, share_n3 asks for {declared / 10:.1f}%: too "
            f"few candidates with {scarce} conditions fit under the limits"
        )
    return tuple(found)


def absent_sources(queries: Sequence[Query], composed: Composed, sources: Sequence[str]) -> tuple[str, ...]:
    """A line for every source that has documents which may be golds, and is in no query."""
    seen = {source for query in queries for source in query.strata.sources}
    return tuple(
        f"source {name!r} is in no query: none of its documents is a gold of a selected candidate"
        for name, share in zip(sources, composed.rules.source_permille, strict=True)
        if share and name not in seen
    )


def _permille(part: int, whole: int) -> int:
    return (1000 * part + whole // 2) // whole if whole else 0


def _bucket(value: int, edges: Sequence[int]) -> str:
    below = 0
    for edge in edges:
        if value <= edge:
            return f"{below + 1}-{edge}"
        below = edge
    return f"{below + 1}+"


def mix_rows(queries: Sequence[Query], composed: Composed, sources: Sequence[str]) -> tuple[MixRow, ...]:
    """Realised against declared mix, stratum by stratum."""
    share = composed.rules.share_n3_permille
    declared: dict[tuple[str, str], int] = {("n", "2"): 1000 - share, ("n", "3"): share}
    declared |= {("source", name): composed.rules.source_permille[index] for index, name in enumerate(sources)}
    counts: Counter[tuple[Stratum, str]] = Counter()
    for query in queries:
        counts["n", str(query.n)] += 1
        counts["source", query.strata.sources[0] if len(query.strata.sources) == 1 else "mixed"] += 1
        counts["l_min", _bucket(query.strata.l_min, L_MIN_EDGES)] += 1
        counts["d_plus", _bucket(query.strata.d_plus, D_PLUS_EDGES)] += 1
        counts["n_golds", str(len(query.golds))] += 1
        counts["relaxation", query.relaxation or "strict"] += 1
    wanted: dict[tuple[Stratum, str], None] = dict.fromkeys((("n", "2"), ("n", "3")))
    wanted |= dict.fromkeys(("source", name) for name in sources)
    wanted |= dict.fromkeys(sorted(counts))
    order: Sequence[Stratum] = ("n", "source", "l_min", "d_plus", "n_golds", "relaxation")
    return tuple(
        MixRow(
            stratum=stratum,
            value=value,
            declared_permille=declared.get((stratum, value)),
            queries=counts[stratum, value],
            realised_permille=_permille(counts[stratum, value], len(queries)),
        )
        for stratum, value in sorted(wanted, key=lambda key: (order.index(key[0]), key[1]))
    )


def diversity(entries: Sequence[PoolEntry]) -> Diversity:
    """How much the queries repeat each other."""
    use = Counter(gold for entry in entries for gold in entry.golds)
    busiest = {gold for gold, _ in sorted(use.items(), key=lambda item: (-item[1], item[0]))[:BUSIEST]}
    return Diversity(
        gold_documents=len(use),
        families=len({entry.golds for entry in entries}),
        conditions=len({condition for entry in entries for condition in entry.conditions}),
        queries_without_20_busiest_golds=sum(1 for entry in entries if busiest.isdisjoint(entry.golds)),
    )


def composition(
    queries: Sequence[Query], composed: Composed, config: ComposeSection, sources: Sequence[str], judge: str
) -> Composition:
    """Put ``composition.json`` together."""
    chosen = composed.chosen
    gold_use = Counter(gold for entry in chosen for gold in entry.golds)
    condition_use = Counter(condition for entry in chosen for condition in entry.conditions)
    refusals = Counter(mismatch.reason for mismatch in composed.mismatches.values())
    return Composition(
        n_queries_asked=config.n_queries,
        n_queries=len(chosen),
        goal_queries=composed.rules.goal.queries,
        goal_families=composed.rules.goal.families,
        goal_golds=composed.rules.goal.golds,
        seed=config.seed,
        item_judge=judge,
        verify=config.verify,
        steps=step_reports(composed),
        refusals={reason: refusals[reason] for reason in sorted(refusals)},
        drop_rates=tuple(
            DropRate(n_golds=n, candidates=seen, dropped=dropped, dropped_permille=_permille(dropped, seen))
            for n, (seen, dropped) in sorted(composed.drop_rates.items())
        ),
        mix=mix_rows(queries, composed, sources),
        caps=Caps(
            max_per_condition=composed.rules.max_per_condition,
            max_per_gold=composed.selection.gold_cap,
            busiest_condition_queries=max(condition_use.values(), default=0),
            busiest_gold_queries=max(gold_use.values(), default=0),
            busiest_gold_permille=_permille(max(gold_use.values(), default=0), len(chosen)),
        ),
        diversity=diversity(chosen),
        blocked=dict(sorted(composed.selection.blocked.items())),
        shortfalls=(*shortfalls(composed, config), *absent_sources(queries, composed, sources)),
    )


def forms_qa(queries: Iterable[Query]) -> FormsQa:
    """Check every deterministic form of every query."""
    checked = passed = concepts = cleaned = ambiguous = 0
    problems: list[FormProblem] = []
    for query in queries:
        found = form_problems(query.conditions, query.forms)
        checked += 1
        passed += not found
        concepts += 3 * query.n
        cleaned += sum(condition.name != condition.raw_name for condition in query.conditions)
        ambiguous += any(" and " in f" {condition.raw_name} " for condition in query.conditions)
        problems.extend(FormProblem(query_id=query.query_id, form=form, problem=problem) for form, problem in found)
    return FormsQa(
        queries=checked,
        passed=passed,
        concepts_checked=concepts,
        names_cleaned=cleaned,
        raw_names_with_and=ambiguous,
        problems=tuple(problems),
    )


def nothing_chosen(composed: Composed, config: ComposeSection, judge: str) -> str:
    """Which constraint leaves no query at all, at the last and widest step that was tried, and what to change."""
    last = composed.steps[-1]
    sampled = sum(sum(step.sampled.values()) for step in composed.steps)
    if not sampled:
        return binding_enumeration(last)
    if not composed.pool:
        refusals = Counter(mismatch.reason for mismatch in composed.mismatches.values())
        reason, count = max(sorted(refusals.items()), key=lambda item: item[1])
        return f"the {judge} judge found no good quote for any of {sampled} candidates ('{reason}' {count} times)"
    return binding_constraint(composed, config)
