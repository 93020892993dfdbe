"""What a repair changes in the judgments: every row, and counts of transitions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.records.repair import QrelChange, QrelState, QueryChange, Transitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.inventory.decided import Scoped
    from nclue_build.records.benchmark import Qrel, Query
    from nclue_build.records.repair import Repair, Scope


class Judged(NamedTuple):
    """A benchmark as two versions of it are compared.

    Args:
        version: Of its inventory.
        queries: By id.
        qrels: By query id and document id.
    """

    version: int
    queries: Mapping[str, Query]
    qrels: Mapping[str, Mapping[str, Qrel]]


class Because(NamedTuple):
    """Which decisions a judgment rests on.

    Args:
        by_place: Ids of the decisions on a condition in a document.
        by_pair: Ids of the decisions made on a query and document.
        reach: Query that a decision is for alone; absent for decisions that reach every query.
    """

    by_place: Mapping[tuple[str, str], tuple[str, ...]]
    by_pair: Mapping[tuple[str, str], tuple[str, ...]]
    reach: Mapping[str, str]

    @classmethod
    def of(cls, decisions: Iterable[Scoped]) -> Because:
        """Index the decisions."""
        by_place: dict[tuple[str, str], list[str]] = {}
        by_pair: dict[tuple[str, str], list[str]] = {}
        reach: dict[str, str] = {}
        for decision, scope, _ in sorted(decisions, key=lambda one: one.decision.decision_id):
            by_place.setdefault((decision.condition_id, decision.doc_id), []).append(decision.decision_id)
            by_pair.setdefault((decision.query_id, decision.doc_id), []).append(decision.decision_id)
            if scope == "pair":
                reach[decision.decision_id] = decision.query_id
        return cls(
            {key: tuple(ids) for key, ids in by_place.items()}, {key: tuple(ids) for key, ids in by_pair.items()}, reach
        )

    def on(self, query: Query, doc_id: str) -> tuple[str, ...]:
        """Decisions on any condition of a query in a document that reach the query."""
        found = {
            key
            for condition in query.conditions
            for key in self.by_place.get((condition.condition_id, doc_id), ())
            if self.reach.get(key, query.query_id) == query.query_id
        }
        return tuple(sorted(found))


def qrel_changes(before: Judged, after: Judged, because: Because, sources: Mapping[str, str]) -> list[QrelChange]:
    """Every judgment of a query in both versions that is not the same in both, sorted by query and document."""
    found: list[QrelChange] = []
    for query_id in sorted(before.queries.keys() & after.queries.keys()):
        query = after.queries[query_id]
        old, new = before.qrels[query_id], after.qrels[query_id]
        for doc_id in sorted(old.keys() | new.keys()):
            was, now = _state(old.get(doc_id)), _state(new.get(doc_id))
            if was != now:
                found.append(
                    QrelChange(
                        query_id=query_id,
                        doc_id=doc_id,
                        n=query.n,
                        source=sources[doc_id],
                        before=was,
                        after=now,
                        decisions=because.on(query, doc_id),
                        audited=(query_id, doc_id) in because.by_pair,
                    )
                )
    return found


def _state(qrel: Qrel | None) -> QrelState | None:
    if qrel is None:
        return None
    return QrelState(grade=qrel.grade, gold=qrel.gold, gate=qrel.gate, pages=qrel.pages)


def query_changes(
    before: Judged, after: Judged, gone: Mapping[str, str], because: Because
) -> tuple[list[QueryChange], list[QueryChange]]:
    """Queries that went, with why (``gone``), and those that came back."""

    def change(query: Query, qrels: Mapping[str, Qrel], reason: str) -> QueryChange:
        decisions = {key for doc_id in qrels for key in because.on(query, doc_id)}
        return QueryChange.model_validate(
            {
                "query_id": query.query_id,
                "concepts": tuple(condition.name for condition in query.conditions),
                "qrels": len(qrels),
                "reason": reason,
                "decisions": tuple(sorted(decisions)),
            }
        )

    removed = [
        change(before.queries[key], before.qrels[key], gone[key])
        for key in sorted(before.queries.keys() - after.queries.keys())
    ]
    restored = [
        change(after.queries[key], after.qrels[key], "gold_again")
        for key in sorted(after.queries.keys() - before.queries.keys())
    ]
    return removed, restored


def transitions(
    before: Judged,
    after: Judged,
    changes: Sequence[QrelChange],
    queries: tuple[Sequence[QueryChange], Sequence[QueryChange]],
    repairs: Sequence[Repair],
    scope: Scope,
) -> Transitions:
    """Count the changes of judgments; those of removed and restored queries are listed with their queries."""
    moved = [(_grade(row.before), _grade(row.after), row) for row in changes]
    changed = [(old, new, row) for old, new, row in moved if old != new]
    audited = [(old, new, row) for old, new, row in changed if row.audited]
    promoted = [(old, new, row) for old, new, row in moved if not _gold(row.before) and _gold(row.after)]
    demoted = [(old, new, row) for old, new, row in moved if _gold(row.before) and not _gold(row.after)]
    removed, restored = queries
    effects = Counter(row.effect for row in repairs)
    return Transitions(
        from_version=before.version,
        to_version=after.version,
        scope=scope,
        decisions=len(repairs),
        effects={name: effects[name] for name in sorted(effects)},
        grades=_arrows(changed),
        audited_grades=_arrows(audited),
        to_gold=_arrows(promoted),
        from_gold=_arrows(demoted),
        net_grade=sum(new - old for old, new, _ in changed),
        subset_to_gold=len(promoted),
        gold_to_subset=len(demoted),
        unaudited_changes=sum(not row.audited for _, _, row in moved),
        corrections_by_source=_counts(row.source for _, _, row in audited),
        corrections_by_n=_counts(str(row.n) for _, _, row in audited),
        removed_queries=tuple(removed),
        restored_queries=tuple(restored),
        queries=(len(before.queries), len(after.queries)),
        qrels=(_n_qrels(before), _n_qrels(after)),
        golds=(_n_golds(before), _n_golds(after)),
    )


def _grade(state: QrelState | None) -> int:
    return 0 if state is None else state.grade


def _gold(state: QrelState | None) -> bool:
    return state is not None and state.gold


def _arrows(moved: Iterable[tuple[int, int, QrelChange]]) -> dict[str, int]:
    return _counts(f"{old}->{new}" for old, new, _ in moved)


def _counts(values: Iterable[str]) -> dict[str, int]:
    found = Counter(values)
    return {key: found[key] for key in sorted(found)}


def _n_qrels(judged: Judged) -> int:
    return sum(len(judged.qrels[key]) for key in judged.queries)


def _n_golds(judged: Judged) -> int:
    return sum(row.gold for key in judged.queries for row in judged.qrels[key].values())
