"""Laws of scoring, against brute force over every possibility."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.stats.bounds import PromotionBounds, fewest_promotions, first_judged, gold_ndcg_bounds, n_clue_bounds
from nclue_build.stats.expected import expected_scores
from nclue_build.stats.judgments import GOLD, Judgments
from nclue_build.stats.measures import Outcomes, Truth, auc, measure
from nclue_build.stats.rankings import ABSENT, Ranking, rank

N_DOCS = 5
LABELS = (0, 1, 2, 2 + GOLD)  # unjudged, two kinds of subset, gold

labels = st.lists(st.sampled_from(LABELS), min_size=N_DOCS, max_size=N_DOCS).filter(lambda row: max(row) >= GOLD)
scores = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=N_DOCS, max_size=N_DOCS)
orders = st.permutations(range(N_DOCS)).flatmap(
    lambda order: st.integers(0, N_DOCS).map(lambda depth: list(order)[:depth])
)
cutoffs = st.integers(1, N_DOCS + 1)


def judged(row: list[int]) -> Judgments:
    rows = [("q", f"d{doc}", label % GOLD, label >= GOLD) for doc, label in enumerate(row) if label]
    return Judgments.of({"q": 2}, rows)


def ranking_of(
    judgments: Judgments, order: list[int], values: list[float] | None = None, ties: Any = "input"
) -> Ranking:
    """A ranking of documents by number; those without a judgment all have the code D."""
    codes = [judgments.doc_code.get(f"d{doc}", len(judgments.doc_ids)) for doc in order]
    padded = codes + [ABSENT] * (N_DOCS - len(codes))
    given_scores = values if values is not None else [float(-place) for place in range(len(order))]
    given_scores = [*given_scores, *[0.0] * (N_DOCS - len(given_scores))]
    docs, values_array = np.array([padded], dtype=np.int64), np.array([given_scores])
    return rank(docs, values_array, ties=ties, labels=judgments.labels(), docno_ranks=np.arange(N_DOCS + 1))


def by_hand(row: list[int], order: list[int], k: int) -> tuple[float, float, float, float, float]:
    """The definitions, read aloud."""
    cut = order[:k]
    first = next((doc for doc in cut if row[doc]), None)
    n_clue = first is not None and row[first] >= GOLD
    hit = any(row[doc] >= GOLD for doc in cut)

    def ndcg(gain: Any) -> float:
        reached = sum(gain(row[doc]) / np.log2(place + 2) for place, doc in enumerate(cut))
        best = sorted(map(gain, row), reverse=True)[:k]
        return float(reached / sum(value / np.log2(place + 2) for place, value in enumerate(best)))

    return (
        float(n_clue),
        float(hit),
        ndcg(lambda label: float(label >= GOLD)),
        ndcg(lambda label: float(label % GOLD)),
        ndcg(lambda label: 2.0 ** (label % GOLD) - 1.0),
    )


def values_of(outcomes: Outcomes) -> list[float]:
    arrays = (outcomes.n_clue, outcomes.hit, outcomes.gold_ndcg, outcomes.ndcg_lin, outcomes.ndcg_exp)
    return [float(array[0]) for array in arrays]


@given(labels, orders, cutoffs)
def test_measures_follow_their_definitions(row: list[int], order: list[int], k: int) -> None:
    judgments = judged(row)
    outcomes = measure(Truth.of(judgments, k), ranking_of(judgments, order))
    assert values_of(outcomes) == pytest.approx(by_hand(row, order, k), abs=1e-12)
    assert int(outcomes.hit[0]) == int(outcomes.n_clue[0]) + int(outcomes.partial_first[0])


@given(labels, scores, cutoffs)
def test_expected_scores_are_the_mean_over_all_orders_of_ties(row: list[int], values: list[float], k: int) -> None:
    judgments = judged(row)
    truth = Truth.of(judgments, k)
    seen = [by_hand(row, list(order), k) for order in permutations(range(N_DOCS)) if _follows(values, order)]
    expected = expected_scores(truth, ranking_of(judgments, list(range(N_DOCS)), values, "expected"))
    assert [float(array[0]) for array in expected] == pytest.approx(np.mean(seen, axis=0), abs=1e-12)


@given(labels, scores, cutoffs)
def test_no_order_of_ties_is_worse_than_worst(row: list[int], values: list[float], k: int) -> None:
    judgments = judged(row)
    floor = [by_hand(row, list(order), k) for order in permutations(range(N_DOCS)) if _follows(values, order)]
    reached = values_of(measure(Truth.of(judgments, k), ranking_of(judgments, list(range(N_DOCS)), values, "worst")))
    assert reached[:3] == pytest.approx(np.min(floor, axis=0)[:3], abs=1e-12)


def _follows(values: list[float], order: tuple[int, ...]) -> bool:
    return all(values[first] >= values[second] for first, second in pairwise(order))


@given(labels, orders, orders, cutoffs)
def test_bounds_equal_exhaustive_promotion_for_every_number_of_promotions(
    row: list[int], base: list[int], variant: list[int], k: int
) -> None:
    judgments = judged(row)
    truth = Truth.of(judgments, k)
    bounds = n_clue_bounds(*(first_judged(truth, ranking_of(judgments, one)) for one in (base, variant)))
    subsets = [doc for doc in range(N_DOCS) if 0 < row[doc] < GOLD]
    for n_promoted in (1, 2, 3):
        differences = []
        for choice in product([False, True], repeat=len(subsets)):
            if sum(choice) > n_promoted:
                continue
            promoted = list(row)
            for doc, wanted in zip(subsets, choice, strict=True):
                promoted[doc] += GOLD if wanted else 0
            differences.append(int(by_hand(promoted, variant, k)[0]) - int(by_hand(promoted, base, k)[0]))
        assert (int(bounds.low[0]), int(bounds.high[0])) == (min(differences), max(differences))


def test_fewest_promotions_closes_the_gap_with_the_largest_drops() -> None:
    low = np.array([-1, 0, 0, 1])
    observed = np.array([1, 1, 1, 1])
    assert fewest_promotions(PromotionBounds(low, observed, observed)) == 3
    assert fewest_promotions(PromotionBounds(observed, observed, observed)) is None
    assert fewest_promotions(PromotionBounds(-observed, -low, -observed)) == 3  # the same with the roles exchanged
    assert fewest_promotions(PromotionBounds(low, observed, np.zeros(4, dtype=np.int64))) == 0


@given(labels, scores, st.integers(0, N_DOCS))
def test_auc_is_the_share_of_pairs_in_order(row: list[int], values: list[float], depth: int) -> None:
    judgments = judged(row)
    ranking = ranking_of(judgments, list(range(depth)), values[:depth])
    seen = [*values[:depth], *[-1.0] * (N_DOCS - depth)]
    golds = [seen[doc] for doc in range(N_DOCS) if row[doc] >= GOLD]
    subsets = [seen[doc] for doc in range(N_DOCS) if 0 < row[doc] < GOLD]
    area = float(auc(Truth.of(judgments), ranking)[0])
    if not subsets:
        assert np.isnan(area)
        return
    pairs = [float(gold > subset) + 0.5 * float(gold == subset) for gold in golds for subset in subsets]
    assert area == pytest.approx(np.mean(pairs))


@given(labels, orders, orders, cutoffs, st.integers(1, 3))
def test_ndcg_bounds_equal_exhaustive_promotion(
    row: list[int], base: list[int], variant: list[int], k: int, n_promotions: int
) -> None:
    judgments = judged(row)
    bounds = gold_ndcg_bounds(
        Truth.of(judgments, k), ranking_of(judgments, base), ranking_of(judgments, variant), n_promotions
    )[-1]
    shown = {*base[:k], *variant[:k]}
    subsets = [doc for doc in range(N_DOCS) if 0 < row[doc] < GOLD and doc in shown]
    differences = []
    for choice in product([False, True], repeat=len(subsets)):
        if sum(choice) <= n_promotions:
            promoted = list(row)
            for doc, wanted in zip(subsets, choice, strict=True):
                promoted[doc] += GOLD if wanted else 0
            differences.append(by_hand(promoted, variant, k)[2] - by_hand(promoted, base, k)[2])
    assert float(bounds.low[0]) == pytest.approx(min(differences), abs=1e-12)
    assert float(bounds.high[0]) == pytest.approx(max(differences), abs=1e-12)
