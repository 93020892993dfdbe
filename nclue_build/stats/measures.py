"""Measures of a ranking, per query: what decides n-Clue Score, Gold Hit, NDCG and the order of golds and subsets.

Definitions follow section 5 of the study; where that is silent, our reading is marked [R].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.stats.judgments import GOLD, GRADE_MASK
from nclue_build.stats.rankings import look_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nclue_build.records.scores import Measure
    from nclue_build.stats.judgments import Judgments
    from nclue_build.stats.rankings import Ranking


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What measures need of the judgments, worked out once for many runs.

    Args:
        judgments: Of the benchmark.
        k: Cut-off.
        labels: The table of :meth:`Judgments.labels`.
        ideal_gold: float64, N: DCG of the best ranking of golds.
        ideal_lin: The same with the grade as gain.
        ideal_exp: The same with 2^grade - 1 as gain.
    """

    judgments: Judgments
    k: int
    labels: NDArray[np.uint8]
    ideal_gold: NDArray[np.float64]
    ideal_lin: NDArray[np.float64]
    ideal_exp: NDArray[np.float64]

    @classmethod
    def of(cls, judgments: Judgments, k: int = 10, labels: NDArray[np.uint8] | None = None) -> Truth:
        """Work it out.

        Args:
            judgments: Of the benchmark.
            k: Cut-off, at least 1.
            labels: The table, where it is at hand.
        """
        if k < 1:
            raise ValueError("k must be at least 1")
        table = judgments.labels() if labels is None else labels
        return cls(
            judgments,
            k,
            table,
            _ideal(judgments, k, judgments.gold.astype(np.float64)),
            _ideal(judgments, k, linear_gain(judgments.grades)),
            _ideal(judgments, k, exponential_gain(judgments.grades)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What a run achieves on each query at a cut-off; every array has N entries.

    A query that the run does not return counts as 0 in all of them.

    Args:
        k: Cut-off.
        n_clue: bool: a gold comes before every judged subset; documents of grade 0 do not block.
        hit: bool: a gold is there.
        gold_ndcg: float64: NDCG with golds as the only relevant documents, ideal over min(k, golds).
        ndcg_lin: float64: NDCG with the grade as gain (trec_eval, BEIR, MTEB) [R].
        ndcg_exp: float64: NDCG with 2^grade - 1 as gain [R].
        first_judged: int64: rank of the first judged document within k, 0 for none.
        n_judged: int64: judged documents within k.
    """

    k: int
    n_clue: NDArray[np.bool_]
    hit: NDArray[np.bool_]
    gold_ndcg: NDArray[np.float64]
    ndcg_lin: NDArray[np.float64]
    ndcg_exp: NDArray[np.float64]
    first_judged: NDArray[np.int64]
    n_judged: NDArray[np.int64]

    @property
    def partial_first(self) -> NDArray[np.bool_]:
        """A gold is there, but a subset comes before it."""
        return self.hit & ~self.n_clue


def discounts(k: int) -> NDArray[np.float64]:
    """1 / log2(rank + 1) of the first k ranks (Järvelin and Kekäläinen, 2002)."""
    return 1.0 / np.log2(np.arange(2, k + 2, dtype=np.float64))


def linear_gain(grades: NDArray[np.integer]) -> NDArray[np.float64]:
    """The grade itself."""
    return grades.astype(np.float64)


def exponential_gain(grades: NDArray[np.integer]) -> NDArray[np.float64]:
    """2^grade - 1 (Burges et al., 2005)."""
    return np.exp2(grades.astype(np.float64)) - 1.0


def measure(truth: Truth, ranking: Ranking) -> Outcomes:
    """Score one run.

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        ranking: In the order in which its documents count.
    """
    k = truth.k
    found = look_up(truth.labels, ranking.docs[:, :k])
    weights = discounts(found.shape[1])
    gold, grades = found >= GOLD, found & GRADE_MASK
    judged = found > 0
    hit: NDArray[np.bool_] = np.asarray(gold.any(axis=1))
    is_judged: NDArray[np.bool_] = np.asarray(judged.any(axis=1))
    first = judged.argmax(axis=1) if found.shape[1] else np.zeros(len(found), dtype=np.int64)
    n_clue = is_judged.copy()
    n_clue[is_judged] = gold[is_judged, first[is_judged]]
    return Outcomes(
        k,
        n_clue,
        hit,
        _share(_sum(gold.astype(np.float64), weights), truth.ideal_gold),
        _share(_sum(linear_gain(grades), weights), truth.ideal_lin),
        _share(_sum(exponential_gain(grades), weights), truth.ideal_exp),
        np.where(is_judged, first + 1, 0),
        judged.sum(axis=1),
    )


def auc(truth: Truth, ranking: Ranking) -> NDArray[np.float64]:
    """Probability that a gold scores above a subset, ties counting half, over all judged documents of each query.

    A document the run does not return scores below all that it does, and equal to the others like it [R].

    Returns:
        float64, N; NaN where a query has no subset.
    """
    judgments = truth.judgments
    n_queries = len(judgments.query_ids)
    n_golds = judgments.n_golds()
    n_subsets = judgments.n_judged() - n_golds
    found = look_up(truth.labels, ranking.docs)
    queries, places = np.nonzero(found)
    gold, scores = found[queries, places] >= GOLD, ranking.scores[queries, places]
    # By query and falling score, as a ranking is. Subsets of the query that score below a document, and those that tie
    # with it: counts at the edges of its tie.
    starts = np.ones(len(queries), dtype=np.bool_)
    starts[1:] = (queries[1:] != queries[:-1]) | (scores[1:] != scores[:-1])
    tie = np.cumsum(starts) - 1
    before = np.concatenate(([0], np.cumsum(~gold)))
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(queries))
    of_query = np.bincount(queries[~gold], minlength=n_queries)
    end = np.cumsum(of_query)[queries]
    unseen_subsets = n_subsets - of_query
    wins = end - before[last][tie] + unseen_subsets[queries] + 0.5 * (before[last] - before[first])[tie]
    total = np.bincount(queries[gold], weights=wins[gold], minlength=n_queries).astype(np.float64)
    unseen_golds = n_golds - np.bincount(queries[gold], minlength=n_queries)
    total += 0.5 * unseen_golds * unseen_subsets
    pairs = (n_golds * n_subsets).astype(np.float64)
    return np.asarray(np.divide(total, pairs, out=np.full(n_queries, np.nan), where=pairs > 0))


def _sum(gains: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row sums in the order of the ranks, the same on any number of threads."""
    return np.asarray(np.einsum("qk,k->q", gains, weights))


def _share(reached: NDArray[np.float64], ideal: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(reached, ideal, out=np.zeros_like(reached), where=ideal > 0)


def _ideal(judgments: Judgments, k: int, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest DCG at k of each query for the gains of its judgments."""
    queries = judgments.queries
    order = np.lexsort((-gains, queries))
    places = np.arange(len(gains)) - judgments.starts[queries]
    within = places < k
    values = gains[order][within] * discounts(k)[places[within]]
    return np.asarray(
        np.bincount(queries[within], weights=values, minlength=len(judgments.query_ids)), dtype=np.float64
    )


def _points(values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
    return 100.0 * values.astype(np.float64)


SCORES: dict[Measure, Callable[[Outcomes], NDArray[np.float64]]] = {
    "n_clue_score": lambda outcomes: _points(outcomes.n_clue),
    "gold_hit": lambda outcomes: _points(outcomes.hit),
    "gold_ndcg": lambda outcomes: _points(outcomes.gold_ndcg),
    "ndcg_lin": lambda outcomes: _points(outcomes.ndcg_lin),
    "ndcg_exp": lambda outcomes: _points(outcomes.ndcg_exp),
}
"""The measures that runs are compared on, by name: values per query, in points (0 to 100)."""
