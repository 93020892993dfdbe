"""Expected scores when documents with equal scores come in random order, in closed form.

Each group of equal scores is shuffled on its own. Within the group that the cut-off falls into, a document is
equally likely at every place (McSherry and Najork, 2008, for NDCG; the same argument for the first judged document).
"""

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nclue_build.stats.judgments import GOLD, GRADE_MASK
from nclue_build.stats.measures import discounts, exponential_gain, linear_gain
from nclue_build.stats.rankings import ABSENT, look_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nclue_build.stats.measures import Truth
    from nclue_build.stats.rankings import Ranking


class ExpectedScores(NamedTuple):
    """Expectation over all orders of equal scores, per query: float64, N, from 0 to 1."""

    n_clue: NDArray[np.float64]
    hit: NDArray[np.float64]
    gold_ndcg: NDArray[np.float64]
    ndcg_lin: NDArray[np.float64]
    ndcg_exp: NDArray[np.float64]


def expected_scores(truth: Truth, ranking: Ranking) -> ExpectedScores:
    """Average the measures over every order of the documents with equal scores.

    Args:
        truth: Of the benchmark, at the cut-off wanted.
        ranking: Any order that follows the scores; all of its depth counts, since a group may reach past the cut-off.
    """
    n_queries = len(ranking.docs)
    result = np.zeros((5, n_queries))
    found = look_up(truth.labels, ranking.docs)
    weights = discounts(truth.k)
    ideals = np.stack([truth.ideal_gold, truth.ideal_lin, truth.ideal_exp])
    for q in range(n_queries):
        gain = np.zeros(3)
        clear = 1.0  # probability that no judged document has come yet
        miss = 1.0  # probability that no gold has come yet
        for start, end in _groups(ranking, q):
            room = min(end, truth.k) - start
            if room <= 0:
                break
            group = found[q, start:end]
            size, n_golds, n_judged = end - start, int((group >= GOLD).sum()), int((group > 0).sum())
            if n_judged:
                none_judged = comb(size - n_judged, room) / comb(size, room)
                result[0, q] += clear * (1.0 - none_judged) * n_golds / n_judged
                clear *= none_judged
                miss *= comb(size - n_golds, room) / comb(size, room)
                grades = (group & GRADE_MASK)[group > 0]
                mean_discount = float(weights[start : start + room].sum()) / size
                gain[0] += n_golds * mean_discount
                gain[1] += float(linear_gain(grades).sum()) * mean_discount
                gain[2] += float(exponential_gain(grades).sum()) * mean_discount
        result[1, q] = 1.0 - miss
        result[2:, q] = np.divide(gain, ideals[:, q], out=np.zeros(3), where=ideals[:, q] > 0)
    return ExpectedScores(*result)


def _groups(ranking: Ranking, q: int) -> Iterator[tuple[int, int]]:
    """Begin and end of each run of equal scores in a query's ranking."""
    depth = int((ranking.docs[q] != ABSENT).sum())
    scores = ranking.scores[q, :depth]
    edges = [0, *(np.flatnonzero(scores[1:] != scores[:-1]) + 1).tolist(), depth]
    yield from pairwise(edges)
