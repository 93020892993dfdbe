"""What answers come to: votes, ties, pages that are added, pairs about one fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.audit.conclusion import Adjudicated, Conclusion, conclude
from nclue_build.audit.policy import Round, make_queue
from nclue_build.records.audit import Answer, AskedCondition, Key, KeyItem, Override, Packet, PacketItem
from nclue_build.records.repair import DecisionQuote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Pages = dict[str, list[int]]
"""Pages said, by condition; an empty list is a no."""


def answers(said: Mapping[str, Pages]) -> dict[tuple[str, str], Answer]:
    return {
        (item, condition): Answer(
            item_id=item, condition_id=condition, present=bool(pages), pages=tuple(pages),
            quotes=tuple(DecisionQuote(page=page, quote=f"page {page}") for page in pages),
        )
        for item, own in said.items()
        for condition, pages in own.items()
    }  # fmt: skip


class Study:
    """Items ``(document, P(d, c) by condition, grade)``; all of nine pages are shown for every condition."""

    def __init__(self, items: dict[str, tuple[str, Pages, int]]) -> None:
        asked = {
            item: tuple(AskedCondition(condition_id=key, name=key, pages=tuple(range(1, 10))) for key in pages)
            for item, (_, pages, _) in items.items()
        }
        self.packet = Packet(
            items=tuple(PacketItem(item_id=key, query="?", conditions=own) for key, own in asked.items())
        )
        self.key = Key(
            seed=1, qrels_sha256="0" * 64,
            items=tuple(
                KeyItem(
                    item_id=item, query_id=f"q_{item}", doc_id=doc_id, grade=grade, gold=False, stratum="s", drawn=1,
                    available=1, pages=tuple(tuple(own) for own in pages.values()),
                )
                for item, (doc_id, pages, grade) in items.items()
            ),
        )  # fmt: skip

    def conclude(
        self,
        first: dict[str, Pages],
        second: dict[str, Pages],
        adjudicators: Sequence[dict[str, Pages]] = (),
        overrides: Sequence[tuple[str, str, str, list[int]]] = (),
    ) -> Conclusion:
        audit = Round(self.packet, self.key, answers(first), answers(second), ("A", "E"))
        queue = make_queue(audit)
        again = Adjudicated(Packet(items=()), [answers(said) for said in adjudicators], ("J1", "J2", "J3"))
        rows = {
            (condition, doc_id): Override(
                item_id=item, condition_id=condition, present=bool(pages), reason="read again",
                quotes=tuple(DecisionQuote(page=page, quote="as shown") for page in pages),
            )
            for item, doc_id, condition, pages in overrides
        }  # fmt: skip
        return conclude(audit, queue, again, rows, "tag")


def decided(found: Conclusion) -> list[tuple[str, bool, tuple[int, ...], str]]:
    return [(row.decision_id, row.present, row.pages, row.basis) for row in found.decisions]


ONE = {"x": ("d", {"a": [1], "b": []}, 1)}


@pytest.mark.parametrize(
    ("votes", "expected", "ties"),
    [
        ([[2], [3], []], [("x-b-tag", True, (2, 3), "majority")], 0),
        ([[2], [], []], [], 0),
        ([[2], []], [], 1),
        ([[2], [2], [2]], [("x-b-tag", True, (2,), "majority")], 0),
    ],
)
def test_open_conditions_follow_the_majority(
    votes: list[list[int]], expected: list[tuple[str, bool, tuple[int, ...], str]], ties: int
) -> None:
    found = Study(ONE).conclude(
        {"x": {"a": [1], "b": [2]}}, {"x": {"a": [1], "b": []}}, [{"x": {"b": vote}} for vote in votes]
    )
    assert decided(found) == expected
    assert len(found.ties) == ties


def test_an_absence_names_the_pages_shown_and_a_locked_positive_stays() -> None:
    study = Study({"x": ("d", {"a": [1], "b": [2]}, 2)})
    no: dict[str, Pages] = {"x": {"a": [1], "b": []}}
    found = study.conclude(no, no, [{"x": {"b": []}}, {"x": {"b": [2]}}, {"x": {"b": []}}])
    assert decided(found) == [("x-b-tag", False, (), "majority")]
    assert found.decisions[0].pages_shown == tuple(range(1, 10))
    assert found.decisions[0].quotes == ()  # not those of the one who says yes
    assert found.decisions[0].responses == ("J1", "J2", "J3")


def test_an_override_decides_against_a_majority_and_is_no_vote() -> None:
    found = Study(ONE).conclude(
        {"x": {"a": [1], "b": [2]}}, {"x": {"a": [1], "b": []}}, [{"x": {"b": []}}] * 3, [("x", "d", "b", [4])]
    )
    assert decided(found) == [("x-b-tag", True, (4,), "administrative")]
    assert found.decisions[0].reason == "read again"


def test_pages_that_make_a_pair_gold_are_added_though_its_conditions_are_known() -> None:
    """All three are there, on two pages: too few. Both evaluators find one of them on a third page."""
    study = Study({"x": ("d", {"a": [1], "b": [1], "c": [2]}, 2)})
    both = {"x": {"a": [1], "b": [5], "c": [2]}}
    assert decided(study.conclude(both, both)) == [("x-b-tag", True, (5,), "consensus")]
    known = {"x": {"a": [1], "b": [1], "c": [2]}}
    assert decided(study.conclude(known, known)) == []  # the page check on what they selected fails: kept


def test_pairs_that_are_kept_decide_nothing() -> None:
    """Both see the grade that the benchmark has, on other conditions than it does."""
    other = {"x": {"a": [], "b": [3]}}
    assert decided(Study(ONE).conclude(other, other)) == []
    # An override may name such a pair.
    found = Study(ONE).conclude(other, other, overrides=[("x", "d", "b", [3])])
    assert decided(found) == [("x-b-tag", True, (3,), "administrative")]


TWO = {"x": ("d", {"a": [1], "b": []}, 1), "y": ("d", {"b": [], "c": [2]}, 1)}


def test_pairs_that_say_the_same_of_one_fact_both_decide() -> None:
    said = {"x": {"a": [1], "b": [3]}, "y": {"b": [4], "c": [2]}}
    found = Study(TWO).conclude(said, said)
    assert decided(found) == [("x-b-tag", True, (3,), "consensus"), ("y-b-tag", True, (4,), "consensus")]
    assert (found.conflicts, found.denied) == ((), ())


def test_what_another_pair_denies_in_the_first_round_is_said_and_is_no_conflict() -> None:
    said = {"x": {"a": [1], "b": [3]}, "y": {"b": [], "c": [2]}}
    found = Study(TWO).conclude(said, said)
    assert [row.decision_id for row in found.decisions] == ["x-b-tag"]
    assert (found.conflicts, found.denied) == ((), ("x-b-tag",))


def test_a_majority_against_a_consensus_conflicts_also_where_one_of_them_is_the_inventory() -> None:
    """One pair is kept: both find b where the inventory has it. In the other a majority would empty P(d, b)."""
    study = Study({"x": ("d", {"a": [1], "b": [3]}, 2), "y": ("d", {"b": [3], "c": [2]}, 2)})
    first = {"x": {"a": [1], "b": [3]}, "y": {"b": [3], "c": [2]}}
    second = {"x": {"a": [1], "b": [3]}, "y": {"b": [], "c": [2]}}
    found = study.conclude(first, second, [{"y": {"b": []}}] * 3)
    ((one, other),) = found.conflicts
    assert [(row.place, row.present, row.basis) for row in (one, other)] == [
        (("x", "b"), True, "consensus"), (("y", "b"), False, "majority")
    ]  # fmt: skip
    for pages, expected in (([3], []), ([], ["x-b-tag", "y-b-tag"])):
        settled = study.conclude(first, second, [{"y": {"b": []}}] * 3, [("x", "d", "b", pages)])
        assert settled.conflicts == ()
        assert [row.decision_id for row in settled.decisions] == expected


def test_opposite_verdicts_that_would_change_nothing_are_no_conflict() -> None:
    """Both find a in x, where the inventory has nothing, at its grade: kept. A majority says no in y, as it does."""
    study = Study({"x": ("d", {"a": [], "b": [1]}, 1), "y": ("d", {"a": [], "c": [2]}, 1)})
    first = {"x": {"a": [3], "b": []}, "y": {"a": [3], "c": [2]}}
    second = {"x": {"a": [3], "b": []}, "y": {"a": [], "c": [2]}}
    found = study.conclude(first, second, [{"y": {"a": []}}] * 3)
    assert (found.decisions, found.conflicts) == ((), ())
