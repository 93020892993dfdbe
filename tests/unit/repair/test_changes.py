"""Counting transitions: the bookkeeping of the study's first round of repairs."""

from __future__ import annotations

from nclue_build.records.benchmark import Forms, Qrel, Query, QueryCondition, Strata
from nclue_build.records.repair import QrelChange, QrelState
from nclue_build.repair.changes import Because, Judged, qrel_changes, query_changes, transitions


def change(number: int, n: int, before: tuple[int, bool], after: tuple[int, bool]) -> QrelChange:
    states = [
        QrelState(grade=grade, gold=gold, gate="ok" if gold else "incomplete", pages=())
        for grade, gold in (before, after)
    ]
    return QrelChange(
        query_id=f"q{number}",
        doc_id="d",
        n=n,
        source="s",
        before=states[0],
        after=states[1],
        decisions=(),
        audited=True,
    )


def test_the_studys_transitions() -> None:
    """65 of 300 grades change: 1->2 37 (36 golds, one partial of n = 3), 2->3 26 (golds), 2->1 2 (golds no more)."""
    kinds = [
        *((2, (1, False), (2, True)) for _ in range(36)),
        (3, (1, False), (2, False)),
        *((3, (2, False), (3, True)) for _ in range(26)),
        *((2, (2, True), (1, False)) for _ in range(2)),
    ]
    changes = [change(number, n, before, after) for number, (n, before, after) in enumerate(kinds)]
    empty = Judged(0, {}, {})
    found = transitions(empty, Judged(1, {}, {}), changes, ((), ()), (), "inventory")
    assert found.grades == {"1->2": 37, "2->1": 2, "2->3": 26}
    assert found.to_gold == {"1->2": 36, "2->3": 26}
    assert found.from_gold == {"2->1": 2}
    assert found.subset_to_gold - found.gold_to_subset == 60
    assert found.net_grade == 37 + 26 - 2
    assert found.corrections_by_n == {"2": 38, "3": 27}
    assert sum(found.corrections_by_source.values()) == 65


def test_the_studys_lost_query() -> None:
    """A demotion takes the only gold of one of 226 queries: it goes with its nine judgments, 8,858 -> 8,849."""
    counts = [9, 44, *[39] * 189, *[41] * 34, 40]
    assert (len(counts), sum(counts)) == (226, 8858)
    queries = {f"q{number}": query(f"q{number}") for number in range(226)}
    rows = {
        f"q{number}": {
            f"d{document}": qrel(f"q{number}", f"d{document}", gold=not document) for document in range(count)
        }
        for number, count in enumerate(counts)
    }
    before = Judged(0, queries, rows)
    left = {key: one for key, one in queries.items() if key != "q0"}
    after = Judged(1, left, {key: rows[key] for key in left})
    because = Because({("c0", "d0"): ("J1",)}, {("q0", "d0"): ("J1",)}, {})
    moved = query_changes(before, after, {"q0": "no_gold"}, because)
    changes = qrel_changes(before, after, because, {})
    found = transitions(before, after, changes, moved, (), "inventory")
    assert (found.queries, found.qrels, found.golds) == ((226, 225), (8858, 8849), (226, 225))
    ((gone,), back) = moved
    assert (gone.query_id, gone.qrels, gone.reason, gone.decisions, back) == ("q0", 9, "no_gold", ("J1",), [])
    assert changes == []


def query(query_id: str) -> Query:
    conditions = tuple(QueryCondition(condition_id=key, name=key, raw_name=key, aliases=()) for key in ("c0", "c1"))
    return Query(
        query_id=query_id, n=2, conditions=conditions, relaxation=None, forms=Forms(raw="", clean_v2="", natural=""),
        golds=("d0",), n_judged=1, strata=Strata(l_min=1, d_plus=1, sources=("s",)),
    )  # fmt: skip


def qrel(query_id: str, doc_id: str, *, gold: bool) -> Qrel:
    return Qrel(
        query_id=query_id, doc_id=doc_id, grade=2 if gold else 1, clue_count=2 if gold else 1, gold=gold,
        gate="ok" if gold else "incomplete", pages=((1,), (2,) if gold else ()), witness=(1, 2) if gold else None,
        shared_pages=None, violator=None, evidence=(),
    )  # fmt: skip
