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


def n_clue_bounds(truth: Truth, base: Ranking, variant: Ranking) -> PromotionBounds:
    """Bounds of the n-Clue contrast when an adversary may promote judged subsets to golds.

    Per query the lowest difference is s_v where the base has no judged document, else max(s_v, [f_v = f_b]) - 1,
    where f is the first judged document: one promotion, of that of the base, decides the event, so the bound is the
    same for every number of promotions from 1 on. The highest follows by exchanging the roles. (Paper, section 6;
    established from its published numbers.)

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        base: Ranking of the base.
        variant: Ranking of the variant.
    """
    first_b, s_b = _first(truth, base)
    first_v, s_v = _first(truth, variant)
    same = (first_b == first_v) & (first_b != ABSENT)
    low = np.where(first_b == ABSENT, s_v, np.maximum(s_v, same) - 1)
    high = np.where(first_v == ABSENT, -s_b, 1 - np.maximum(s_b, same))
    return PromotionBounds(low, high, s_v - s_b)


def fewest_promotions(bounds: PromotionBounds) -> int | None:
    """How many promotions in total bring a positive n-Clue contrast down to zero; None when none can.

    A query whose difference can fall by 2 (from 1 to -1) costs the same single promotion as one where it falls by 1.
    """
    gap = int(bounds.observed.sum())
    if gap <= 0:
        return 0
    drops = np.sort(bounds.observed - bounds.low)[::-1]
    reached = np.flatnonzero(np.cumsum(drops) >= gap)
    return int(reached[0]) + 1 if len(reached) else None


def gold_ndcg_bounds(truth: Truth, base: Ranking, variant: Ranking, n_promotions: int) -> NdcgBounds:
    """Bounds of the Gold-NDCG contrast when up to so many judged subsets in either top k become golds.

    The ideal is recomputed. For a given number of promotions the ideal is fixed and every promoted document adds its
    own difference of discounts, so the extremes are reached by the smallest (or largest) of these: no enumeration.

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        base: Ranking of the base.
        variant: Ranking of the variant.
        n_promotions: Largest number of promotions per query.
    """
    weights = discounts(truth.k)
    ideal_of = np.cumsum(weights)
    n_golds = truth.judgments.n_golds()
    size = len(base.docs)
    low, high, observed = np.zeros(size), np.zeros(size), np.zeros(size)
    shown = [
        (ranking.docs[:, : truth.k], look_up(truth.labels, ranking.docs[:, : truth.k])) for ranking in (base, variant)
    ]
    for q in range(size):
        gain: dict[int, float] = {}
        total = 0.0
        for sign, (docs, found) in zip((-1.0, 1.0), shown, strict=True):
            for place in np.flatnonzero(found[q]).tolist():
                change = sign * float(weights[place])
                if found[q, place] >= GOLD:
                    total += change
                else:
                    gain[int(docs[q, place])] = gain.get(int(docs[q, place]), 0.0) + change
        changes = sorted(gain.values())
        n_most = min(n_promotions, len(changes))
        ideals = [float(ideal_of[min(truth.k, int(n_golds[q]) + n) - 1]) for n in range(n_most + 1)]
        observed[q] = total / ideals[0]
        low[q] = min((total + sum(changes[:n])) / ideals[n] for n in range(n_most + 1))
        high[q] = max((total + sum(changes[len(changes) - n :])) / ideals[n] for n in range(n_most + 1))
    return NdcgBounds(low, high, observed)


def _first(truth: Truth, ranking: Ranking) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Code of the first judged document within k (or absent), and whether it is a gold."""
    docs = ranking.docs[:, : truth.k]
    found = look_up(truth.labels, docs)
    if not docs.shape[1]:
        return np.full(len(docs), ABSENT, dtype=np.int64), np.zeros(len(docs), dtype=np.int64)
    place = (found > 0).argmax(axis=1)
    rows = np.arange(len(docs))
    some = found[rows, place] > 0
    return np.where(some, docs[rows, place], ABSENT), (found[rows, place] >= GOLD).astype(np.int64)
