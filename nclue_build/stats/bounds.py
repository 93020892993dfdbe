"""How low a contrast can fall if judged subsets turned out to be golds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.stats.judgments import GOLD
from nclue_build.stats.measures import discounts
from nclue_build.stats.rankings import ABSENT, look_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.stats.measures import Truth
    from nclue_build.stats.rankings import Ranking


@dataclass(frozen=True, slots=True, eq=False)
class PromotionBounds:
    """Per query, the lowest and highest variant-minus-base n-Clue Score after promoting judged subsets (int64, N)."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    observed: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NdcgBounds:
    """Per query, the lowest and highest variant-minus-base Gold-NDCG after promotions (float64, N)."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    observed: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class FirstJudged:
    """The first judged document of each query within k: its code (int64, N; or absent), and 1 for a gold (int64, N)."""

    docs: NDArray[np.int64]
    gold: NDArray[np.int64]


def first_judged(truth: Truth, ranking: Ranking) -> FirstJudged:
    """Find it in every query of a ranking.

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        ranking: In the order in which its documents count.
    """
    docs = ranking.docs[:, : truth.k]
    found = look_up(truth.labels, docs)
    if not docs.shape[1]:
        return FirstJudged(np.full(len(docs), ABSENT, dtype=np.int64), np.zeros(len(docs), dtype=np.int64))
    place = (found > 0).argmax(axis=1)
    rows = np.arange(len(docs))
    some = found[rows, place] > 0
    return FirstJudged(np.where(some, docs[rows, place], ABSENT), (found[rows, place] >= GOLD).astype(np.int64))


def n_clue_bounds(base: FirstJudged, variant: FirstJudged) -> PromotionBounds:
    """Bounds of the n-Clue contrast when an adversary may promote judged subsets to golds.

    Per query the lowest difference is s_v where the base has no judged document, else max(s_v, [f_v = f_b]) - 1,
    where f is the first judged document: one promotion, of that of the base, decides the event, so the bound is the
    same for every number of promotions from 1 on. The highest follows by exchanging the roles. (Paper, section 6;
    established from its published numbers.)
    """
    same = (base.docs == variant.docs) & (base.docs != ABSENT)
    low = np.where(base.docs == ABSENT, variant.gold, np.maximum(variant.gold, same) - 1)
    high = np.where(variant.docs == ABSENT, -base.gold, 1 - np.maximum(base.gold, same))
    return PromotionBounds(low, high, variant.gold - base.gold)


def fewest_promotions(bounds: PromotionBounds) -> int | None:
    """How many promotions in total bring an n-Clue contrast, of either sign, to zero; None when none can.

    A query whose difference can change by 2 (from 1 to -1) costs the same single promotion as one where it is 1.
    """
    gap = int(bounds.observed.sum())
    if gap == 0:
        return 0
    changes = bounds.observed - bounds.low if gap > 0 else bounds.high - bounds.observed
    reached = np.flatnonzero(np.cumsum(np.sort(changes)[::-1]) >= abs(gap))
    return int(reached[0]) + 1 if len(reached) else None


def gold_ndcg_bounds(truth: Truth, base: Ranking, variant: Ranking, n_promotions: int) -> list[NdcgBounds]:
    """Bounds of the Gold-NDCG contrast when up to 1, 2, ... judged subsets in either top k become golds.

    The ideal is recomputed. For a given number of promotions the ideal is fixed and every promoted document adds its
    own difference of discounts, so the extremes are reached by the smallest (or largest) of these: no enumeration.

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        base: Ranking of the base.
        variant: Ranking of the variant.
        n_promotions: Largest number of promotions per query.

    Returns:
        For every number of promotions from 1 on.
    """
    ideal_of = np.cumsum(discounts(truth.k))
    n_golds = truth.judgments.n_golds()
    docs_b, docs_v = base.docs[:, : truth.k], variant.docs[:, : truth.k]
    same = (docs_b[:, :, None] == docs_v[:, None, :]) & (docs_b != ABSENT)[:, :, None]
    weights_b, weights_v = discounts(docs_b.shape[1]), discounts(docs_v.shape[1])
    # What each document adds: those of the base, then those of the variant alone.
    changes = np.concatenate(
        (
            np.einsum("qbv,v->qb", same.astype(np.float64), weights_v) - weights_b,
            np.where(same.any(axis=1), 0.0, weights_v),
        ),
        axis=1,
    )
    found = np.concatenate((look_up(truth.labels, docs_b), look_up(truth.labels, docs_v)), axis=1)
    found[:, docs_b.shape[1] :][same.any(axis=1)] = 0
    total = np.where(found >= GOLD, changes, 0.0).sum(axis=1)
    # Subsets by what they add; NaN, for anything else, sorts last.
    free = np.sort(np.where((found > 0) & (found < GOLD), changes, np.nan), axis=1)
    n_free = (~np.isnan(free)).sum(axis=1)
    rows = np.arange(len(free))
    observed = total / ideal_of[np.minimum(truth.k, n_golds) - 1]
    low, high = observed.copy(), observed.copy()
    down, up = total.copy(), total.copy()
    bounds = []
    for n in range(1, n_promotions + 1):
        open_rows = rows[n_free >= n]
        if len(open_rows):
            down[open_rows] += free[open_rows, n - 1]
            up[open_rows] += free[open_rows, n_free[open_rows] - n]
            ideal = ideal_of[np.minimum(truth.k, n_golds[open_rows] + n) - 1]
            low[open_rows] = np.minimum(low[open_rows], down[open_rows] / ideal)
            high[open_rows] = np.maximum(high[open_rows], up[open_rows] / ideal)
        bounds.append(NdcgBounds(low.copy(), high.copy(), observed))
    return bounds
