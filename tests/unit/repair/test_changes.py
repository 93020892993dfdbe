"""Counting transitions: the bookkeeping of the study's first round of repairs."""

from __future__ import annotations

from nclue_build.records.repair import QrelChange, QrelState
from nclue_build.repair.changes import Judged, transitions


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
