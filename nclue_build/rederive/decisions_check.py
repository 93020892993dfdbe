"""Later inventory versions: P0 as the pages give it, and the decisions of each version once more.

All decisions up to a version are taken together, from P0. Where they agree that a condition is there, their pages are
added; where they agree that it is not, it is gone if they looked at all of its pages, and stays whole if they did not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.findings import shown
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.records.repair import Decision, PairOverride
from nclue_build.rederive.documents import DerivedRow
from nclue_build.rederive.inventory_check import DerivedInventory, compare_evidence, resolved_evidence
from nclue_build.store import layout
from nclue_build.store.evidence import EvidenceColumns, read_evidence
from nclue_build.store.jsonl import read_json, read_numbered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.rederive.matching import Evidence, Pages
    from nclue_build.store.workspace import Build

_ADVICE = "restore it, or repair its parent version again"
Key = tuple[str, str]
"""Condition id, document id."""


class DecidedQuote(NamedTuple):
    """A quote that a decision rests on, and where the decision stands."""

    path: str
    line: int
    decision_id: str
    condition_id: str
    doc_id: str
    page: int
    text: str


@dataclass(frozen=True, slots=True)
class LaterVersion:
    """An inventory version after P0, as it is on disk; rows come with their lines."""

    number: int
    version: InventoryVersion
    conditions: list[tuple[int, Condition]]
    evidence: EvidenceColumns
    decisions: list[tuple[int, Decision]]
    pair_decisions: list[tuple[int, Decision]]
    overrides: list[tuple[int, PairOverride]]

    @classmethod
    def read(cls, build: Build, number: int, unreadable: Findings) -> LaterVersion:
        """Read one.

        Raises:
            DataError: it has no version.json.
        """
        folder = build.version(number)
        version = read_json(folder / layout.VERSION, InventoryVersion, advice=_ADVICE)

        def decisions(name: str) -> list[tuple[int, Decision]]:
            path = folder / name
            needed = name in version.digests or path.is_file()
            return list(read_numbered(path, Decision, found=unreadable, advice=_ADVICE)) if needed else []

        path = folder / layout.PAIR_OVERRIDES
        needed = layout.PAIR_OVERRIDES in version.digests or path.is_file()
        return cls(
            number=number,
            version=version,
            conditions=list(read_numbered(folder / layout.CONDITIONS, Condition, found=unreadable, advice=_ADVICE)),
            evidence=read_evidence(folder / layout.EVIDENCE, unreadable, advice=_ADVICE),
            decisions=decisions(layout.DECISIONS),
            pair_decisions=decisions(layout.PAIR_DECISIONS),
            overrides=list(read_numbered(path, PairOverride, found=unreadable, advice=_ADVICE)) if needed else [],
        )


class View(NamedTuple):
    """P(d, c) after all decisions.

    Args:
        evidence: As most queries see it.
        own: What some queries see otherwise: pages by (condition id, document id); none where it is absent.
    """

    evidence: Evidence
    own: Mapping[str, Mapping[Key, Pages]]

    def of(self, query_id: str) -> Evidence:
        """P(d, c) as one query sees it."""
        if query_id not in self.own:
            return self.evidence
        seen = dict(self.evidence)
        for (condition_id, doc_id), pages in self.own[query_id].items():
            documents = {key: found for key, found in seen.get(condition_id, {}).items() if key != doc_id}
            seen[condition_id] = documents | ({doc_id: pages} if pages else {})
        return seen


def decided_quotes(build: Build, versions: Iterable[LaterVersion]) -> list[DecidedQuote]:
    """Every quote of every decision."""
    found: list[DecidedQuote] = []
    for one in versions:
        for name, rows in ((layout.DECISIONS, one.decisions), (layout.PAIR_DECISIONS, one.pair_decisions)):
            path = build.relative(build.version(one.number) / name)
            found += [
                DecidedQuote(path, line, row.decision_id, row.condition_id, row.doc_id, quote.page, quote.quote)
                for line, row in rows
                for quote in row.quotes
            ]
    return found


def check_later(
    build: Build,
    versions: Sequence[LaterVersion],
    mined: tuple[InventoryVersion, Sequence[Condition], DerivedInventory],
    documents: Collection[str],
    out: Findings,
) -> View:
    """Compare every later version with P0 and the decisions up to it.

    Args:
        build: The build.
        versions: In order.
        mined: version.json and conditions of P0, and P0 as derived from the pages.
        documents: Ids of the benchmark's corpus.
        out: Takes what differs.

    Returns:
        P(d, c) of the last one.
    """
    first, conditions, p0 = mined
    position: dict[str, int] = {}
    for index, condition in enumerate(conditions):
        position.setdefault(condition.condition_id, index)
    so_far: list[Decision] = []
    pairs_so_far: list[Decision] = []
    inventory, own = p0, dict[str, dict[Key, "Pages"]]()
    for one in versions:
        folder = build.version(one.number)
        path = build.relative(folder / layout.DECISIONS)
        so_far += [row for _, row in one.decisions]
        pairs_so_far += [row for _, row in one.pair_decisions]
        _check_decisions(one, [*so_far, *pairs_so_far], path, out)
        inventory = _with_decisions(p0, so_far, position)
        own = _own_views(inventory, pairs_so_far, position)
        _compare_overrides(one, own, build.relative(folder / layout.PAIR_OVERRIDES), out)
        _compare_conditions(one, conditions, inventory, build.relative(folder / layout.CONDITIONS), out)
        evidence_path = build.relative(folder / layout.EVIDENCE)
        rows = resolved_evidence(one.evidence.items(), position, documents, "page", evidence_path, out)
        compare_evidence(rows, inventory, conditions, evidence_path, out)
        _compare_version(one, first, documents, build.relative(folder / layout.VERSION), out)
    return View(inventory.evidence(conditions), own)


def _check_decisions(one: LaterVersion, so_far: Sequence[Decision], path: str, out: Findings) -> None:
    """version.json lists the decisions there are; no id stands twice; none says the opposite of another."""
    ids = sorted(row.decision_id for _, row in (*one.decisions, *one.pair_decisions))
    if list(one.version.decisions) != ids:
        message = f"{layout.VERSION} lists {shown(one.version.decisions)}, the files hold {shown(ids)}"
        out.add("decisions-differ", message, path=path)
    seen: set[str] = set()
    said: dict[Key, Decision] = {}
    for row in so_far:
        if row.decision_id in seen:
            out.add("duplicate-decision", "the id stands twice, here or in two versions", path=path, id=row.decision_id)
        seen.add(row.decision_id)
        other = said.setdefault((row.condition_id, row.doc_id), row)
        if other.present != row.present:
            message = f"{other.decision_id} says the opposite of {row.condition_id} in {row.doc_id}"
            out.add("decision-conflict", message, path=path, id=row.decision_id)


def _by_place(decisions: Iterable[Decision]) -> dict[Key, list[Decision]]:
    groups: dict[Key, list[Decision]] = defaultdict(list)
    for row in decisions:
        groups[row.condition_id, row.doc_id].append(row)
    return groups


def _decide(pages: Pages, rows: Sequence[Decision]) -> Pages:
    """What decisions on one place make of its pages; those of the first one's opinion count."""
    agreeing = [row for row in rows if row.present == rows[0].present]
    if rows[0].present:
        return tuple(sorted(set(pages).union(*(row.pages for row in agreeing))))
    left = set(pages).difference(*(row.pages_shown for row in agreeing))
    return pages if left else ()


def _with_decisions(
    p0: DerivedInventory, decisions: Sequence[Decision], position: Mapping[str, int]
) -> DerivedInventory:
    rows = {index: dict(documents) for index, documents in p0.rows.items()}
    for (condition_id, doc_id), group in _by_place(decisions).items():
        if condition_id not in position:
            continue
        documents = rows.setdefault(position[condition_id], {})
        before = documents.get(doc_id)
        rows_of = () if before is None else zip(before.pages, before.mentions, before.in_heading, strict=True)
        known = {page: (mentions, in_heading) for page, mentions, in_heading in rows_of}
        pages = _decide(tuple(known), group)
        if pages:
            facts = [known.get(page, (1, False)) for page in pages]
            documents[doc_id] = DerivedRow(pages, tuple(m for m, _ in facts), tuple(h for _, h in facts))
        else:
            documents.pop(doc_id, None)
    return DerivedInventory(rows, p0.alias_documents, p0.alias_pages)


def _own_views(
    inventory: DerivedInventory, decisions: Sequence[Decision], position: Mapping[str, int]
) -> dict[str, dict[Key, Pages]]:
    by_query: dict[str, list[Decision]] = defaultdict(list)
    for row in decisions:
        by_query[row.query_id].append(row)
    own: dict[str, dict[Key, Pages]] = {}
    for query_id, rows in by_query.items():
        for key, group in _by_place(rows).items():
            found = inventory.rows.get(position.get(key[0], -1), {}).get(key[1])
            before = () if found is None else found.pages
            if (after := _decide(before, group)) != before:
                own.setdefault(query_id, {})[key] = after
    return own


def _compare_overrides(one: LaterVersion, own: Mapping[str, Mapping[Key, Pages]], path: str, out: Findings) -> None:
    expected = {(query_id, *key): pages for query_id, places in own.items() for key, pages in places.items()}
    for line, row in one.overrides:
        key = (row.query_id, row.condition_id, row.doc_id)
        wanted = expected.pop(key, None)
        if row.pages != wanted:
            message = f"{row.condition_id}, {row.doc_id}: stored {shown(row.pages)}, the decisions give {shown(wanted)}"
            out.add("override-differs", message, path=path, line=line, id=row.query_id)
    for query_id, condition_id, doc_id in sorted(expected):
        message = f"{condition_id}, {doc_id}: no row stored"
        out.add("override-differs", message, path=path, id=query_id)


def _compare_conditions(
    one: LaterVersion, mined: Sequence[Condition], inventory: DerivedInventory, path: str, out: Findings
) -> None:
    """The conditions are those of P0, with the frequencies of this version."""
    stored = {row.condition_id: (line, row) for line, row in one.conditions}
    for index, condition in enumerate(mined):
        documents = inventory.rows.get(index, {})
        frequencies = (len(documents), sum(len(row.pages) for row in documents.values()))
        if condition.condition_id not in stored:
            out.add("unknown-condition", "P0 has it, this version does not", path=path, id=condition.condition_id)
            continue
        line, row = stored.pop(condition.condition_id)
        if (row.document_frequency, row.page_frequency) != frequencies:
            message = (
                f"documents, pages: stored {(row.document_frequency, row.page_frequency)}, recomputed {frequencies}"
            )
            out.add("condition-frequency-differs", message, path=path, line=line, id=row.condition_id)
        same = {"document_frequency": row.document_frequency, "page_frequency": row.page_frequency}
        if condition.model_copy(update=same) != row:
            message = "beside its frequencies it differs from P0"
            out.add("condition-name-differs", message, path=path, line=line, id=row.condition_id)
    for key, (line, _) in sorted(stored.items()):
        out.add("unknown-condition", "P0 does not have it", path=path, line=line, id=key)


def _compare_version(
    one: LaterVersion, first: InventoryVersion, documents: Collection[str], path: str, out: Findings
) -> None:
    version = one.version
    facts: dict[str, tuple[object, object]] = {
        "version, parent": ((version.version, version.parent), (one.number, one.number - 1)),
        "level": (version.level, first.level),
        "allowed_roles": (version.allowed_roles, first.allowed_roles),
        "text_version": (version.text_version, first.text_version),
        "counts": (
            dict(sorted(version.counts.items())),
            {
                "conditions": len(one.conditions),
                "documents": len(documents),
                "evidence": one.evidence.n_rows,
                "pages": len(one.evidence.pages),
            },
        ),
    }
    for name, (kept, wanted) in facts.items():
        if kept != wanted:
            out.add("version-counts-differ", f"{name}: stored {shown(kept)}, expected {shown(wanted)}", path=path)
