"""Gold+Support@k: the three best distinct pages shown of a retrieved gold."""

from __future__ import annotations

import pytest

from nclue_build.stats.support import gold_support, shown_pages

TWO = (frozenset({2, 3}), frozenset({7}))


@pytest.mark.parametrize(
    ("pages", "shown"),
    [
        ([], set()),
        ([(4, 1.0)], {4}),
        ([(1, 0.1), (2, 0.9), (3, 0.5), (4, 0.4)], {2, 3, 4}),
        ([(5, 1.0), (6, 1.0), (7, 1.0), (8, 1.0)], {5, 6, 7}),  # equal scores: in the order of the run
        ([(5, 1.0), (5, 0.9), (5, 0.8), (6, 0.1), (7, 0.0)], {5, 6, 7}),  # distinct pages
    ],
)
def test_pages_that_count(pages: list[tuple[int, float]], shown: set[int]) -> None:
    assert shown_pages(pages) == shown


def test_a_gold_is_supported_when_every_condition_is_met() -> None:
    found = gold_support([("other", ((2, 1.0),)), ("gold", ((3, 0.2), (7, 0.1), (9, 0.9), (8, 0.05)))], {"gold": TWO})
    assert (found.success, found.n_golds, found.best_share, found.n_complete) == (True, 1, 1.0, 1)


def test_a_page_below_the_third_does_not_count() -> None:
    pages = ((3, 0.9), (4, 0.8), (5, 0.7), (7, 0.6))
    found = gold_support([("gold", pages)], {"gold": TWO})
    assert (found.success, found.best_share) == (False, 0.5)


def test_one_page_may_serve_two_conditions() -> None:
    assert gold_support([("gold", ((4, 1.0),))], {"gold": (frozenset({4, 5}), frozenset({4}))}).success


def test_the_best_covered_gold_within_k_counts() -> None:
    golds = {"a": TWO, "b": TWO, "c": TWO}
    ranking = [("a", ((2, 1.0),)), ("b", ()), ("c", ((2, 1.0), (7, 1.0)))]
    found = gold_support(ranking, golds, k=3)
    assert (found.success, found.n_golds, found.best_share, found.mean_share) == (True, 3, 1.0, 0.5)
    cut = gold_support(ranking, golds, k=2)
    assert (cut.success, cut.n_golds, cut.best_share, cut.mean_share) == (False, 2, 0.5, 0.25)


def test_without_a_retrieved_gold_there_is_nothing_to_cover() -> None:
    found = gold_support([("subset", ((2, 1.0), (7, 1.0)))], {"gold": TWO})
    assert (found.success, found.n_golds, found.best_share, found.mean_share) == (False, 0, None, None)
