"""Numbers that the study publishes and that follow from what else it publishes."""

from __future__ import annotations

import numpy as np
import pytest

from nclue_build.stats.agreement import confusion, kappa, share, wilson
from nclue_build.stats.bootstrap import FamilyDraws
from nclue_build.stats.bounds import first_judged, n_clue_bounds
from nclue_build.stats.contrasts import common_support, rank_agreement, split
from nclue_build.stats.judgments import Judgments
from nclue_build.stats.measures import Truth, measure
from nclue_build.stats.randomization import flip_p_values
from nclue_build.stats.rankings import rank

GRADES = np.array([[2, 6, 0, 0], [2, 72, 14, 0], [0, 11, 128, 1], [0, 1, 11, 52]])


def test_grade_agreement_of_the_blind_audit() -> None:
    exact = share(int(np.trace(GRADES)), int(GRADES.sum()))
    assert (exact.count, exact.total) == (254, 300)
    assert round(exact.interval.value, 3) == 0.847
    assert (round(exact.interval.low, 3), round(exact.interval.high, 3)) == (0.802, 0.883)
    assert round(kappa(GRADES, linear=True), 3) == 0.801


def test_confusion_counts_pairs_of_categories() -> None:
    first = [row for row in range(4) for column in range(4) for _ in range(GRADES[row, column])]
    second = [column for row in range(4) for column in range(4) for _ in range(GRADES[row, column])]
    assert confusion(first, second, 4).tolist() == GRADES.tolist()


@pytest.mark.parametrize(("count", "total"), [(162, 190), (92, 110), (81, 100), (173, 200)])
def test_exact_agreement_by_stratum_adds_up(count: int, total: int) -> None:
    interval = wilson(count, total)
    assert interval.low < count / total < interval.high
    assert 162 + 92 == 81 + 173 == 254


def test_spearman_of_thirteen_systems() -> None:
    # Sum of squared rank differences 156: 1 - 6 * 156 / (13 * 168).
    first = list(range(13))
    second = [8, 4, 3, 2, 1, 7, 6, 5, 0, 9, 10, 11, 12]
    assert sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) == 156
    assert round(rank_agreement(first, second).spearman, 4) == 0.5714
    # Two systems that share a rank in one copy have its average: .9986.
    assert round(rank_agreement(first, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5, 11.5]).spearman, 4) == 0.9986


def test_smallest_p_value_of_ten_thousand_flips() -> None:
    assert flip_p_values(np.ones(200), seed=11)[0] == 1 / 10_001


def test_shares_and_common_support_of_a_published_contrast() -> None:
    """Base .516/.307/.177, variant .398/.352/.250 of 1,000 queries; 31 of 414 common queries make .075."""
    base = ["miss"] * 516 + ["partial"] * 307 + ["gold"] * 177
    # 414 common queries: 31 more golds first in the variant; the others of the variant are hits of base misses.
    common = ["gold"] * 177 + ["gold"] * 31 + ["partial"] * 206
    variant_of_hits = [*common[177:], *["miss"] * 70, *common[:177]]  # 307 partial-first, then 177 gold-first
    variant = ["gold"] * 42 + ["partial"] * 146 + ["miss"] * 328 + variant_of_hits
    judgments, rankings = _benchmark(base, variant)
    truth = Truth.of(judgments)
    outcomes = [measure(truth, ranking) for ranking in rankings]
    assert [round(value, 3) for value in vars_of(split(outcomes[0]))] == [0.516, 0.307, 0.177]
    assert [round(value, 3) for value in vars_of(split(outcomes[1]))] == [0.398, 0.352, 0.250]
    support = common_support(*outcomes)
    assert (support.n_common, support.difference, round(support.mean, 3)) == (414, 31, 0.075)
    bounds = n_clue_bounds(*(first_judged(truth, ranking) for ranking in rankings))
    assert bounds.observed.sum() == 250 - 177
    assert (bounds.low <= bounds.observed).all()


@pytest.mark.parametrize(
    ("counts", "scores"),
    [((100, 73, 73), (44.4, 32.4, 32.4)), ((55, 40, 40), (24.4, 17.8, 17.8)), ((67, 61, 64), (29.8, 27.1, 28.4))],
)
def test_scores_of_225_queries_are_whole_counts(counts: tuple[int, ...], scores: tuple[float, ...]) -> None:
    found = []
    for count in counts:
        judgments, (ranking, _) = _benchmark(["gold"] * count + ["partial"] * (225 - count), ["miss"] * 225)
        found.append(100 * float(measure(Truth.of(judgments), ranking).n_clue.mean()))
    assert [round(value, 1) for value in found] == list(scores)


def test_differences_by_form_follow_from_the_counts() -> None:
    """Fusion minus BM25-AND on the three forms of the queries."""
    differences = [round(100 * (fusion - base) / 225, 1) for base, fusion in ((100, 67), (73, 61), (73, 64))]
    assert differences == [-14.7, -5.3, -4.0]


def test_differences_by_source_make_the_whole() -> None:
    sizes, deltas = (42, 44, 125, 14), (0.1283, 0.0587, -0.0428, 0.0718)
    families = np.repeat(np.arange(4), sizes)
    interval = FamilyDraws.of(families, seed=1, n_draws=50).intervals(np.repeat(deltas, sizes))[0]
    assert round(interval.value, 4) == 0.0161


def test_agreement_on_conditions() -> None:
    agreed = share(661, 710)
    assert round(agreed.interval.value, 3) == 0.931
    assert agreed.interval.low < 0.931 < agreed.interval.high


def vars_of(one: object) -> list[float]:
    return [getattr(one, name) for name in ("miss", "partial_first", "gold_first")]


def _benchmark(base: list[str], variant: list[str]) -> tuple[Judgments, list]:  # type: ignore[type-arg]
    """Each query has a gold and a subset; a ranking shows them so that it comes out as told."""
    n = len(base)
    rows = [(f"q{q:04}", doc, grade, grade == 2) for q in range(n) for doc, grade in (("gold", 2), ("subset", 1))]
    judgments = Judgments.of({f"q{q:04}": 2 for q in range(n)}, rows)
    gold, subset = judgments.doc_code["gold"], judgments.doc_code["subset"]
    docs = {"miss": [subset, -1], "partial": [subset, gold], "gold": [gold, subset]}
    scores = np.tile([2.0, 1.0], (n, 1))
    return judgments, [rank(np.array([docs[kind] for kind in kinds]), scores) for kinds in (base, variant)]
