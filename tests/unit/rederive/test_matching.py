"""The slow gate on cases worked out by hand (the laws hold it against the fast one)."""

from __future__ import annotations

import pytest

from nclue_build.rederive.matching import HallSet, Judgment, first_hall_set, judge_query, smallest_assignment

IDS = ("a", "b", "c")


def judge(*pages: tuple[int, ...]) -> Judgment:
    ids = IDS[: len(pages)]
    return judge_query(
        ids, {key: {"d": found} if found else {} for key, found in zip(ids, pages, strict=True)}, "page"
    )["d"]


def test_only_documents_with_a_condition_are_judged_in_order() -> None:
    evidence = {"a": {"d3": (1,), "d1": (2,)}, "b": {"d2": (1,)}, "c": {"d0": (1,)}}
    assert list(judge_query(("a", "b"), evidence, "page")) == ["d1", "d2", "d3"]
    assert judge_query(("x", "y"), evidence, "page") == {}


@pytest.mark.parametrize(
    ("pages", "gate", "grade"),
    [
        (((2,), (19,), (60,)), "ok", 3),
        (((), (28,), (47,)), "incomplete", 2),
        (((), (), (4,)), "incomplete", 1),
        (((5,), (5,), (5, 6)), "single_page", 2),
        (((1,), (1,), (2, 3)), "no_assignment", 2),
        (((1,), (1,)), "single_page", 1),
    ],
)
def test_outcomes(pages: tuple[tuple[int, ...], ...], gate: str, grade: int) -> None:
    judgment = judge(*pages)
    assert (judgment.gate, judgment.grade, judgment.gold) == (gate, grade, gate == "ok")
    assert judgment.present == tuple(number for number, found in enumerate(pages, start=1) if found)


def test_explanations() -> None:
    assert judge((1, 2), (3, 4), (1,)).witness == (2, 3, 1)
    assert judge((5, 9), (5, 9), (5, 6, 9)).shared_pages == (5, 9)
    assert judge((2, 3), (1,), (1,)).violator == HallSet(("b", "c"), (1,))


def test_smallest_assignment_and_hall_set_exclude_each_other() -> None:
    assert smallest_assignment([(1, 2), (1, 2), (1, 2)]) is None
    assert first_hall_set(IDS, [(1, 2), (1, 2), (1, 2)]) == HallSet(IDS, (1, 2))
    assert first_hall_set(IDS, [(1, 2), (1, 2), (1, 3)]) is None


def test_a_document_level_pair_is_gold_when_complete() -> None:
    evidence: dict[str, dict[str, tuple[int, ...]]] = {"a": {"d": (), "e": ()}, "b": {"d": ()}}
    judged = judge_query(("a", "b"), evidence, "document")
    assert [(key, row.gate, row.gold, row.present) for key, row in judged.items()] == [
        ("d", "document_level", True, (1, 2)),
        ("e", "incomplete", False, (1,)),
    ]
