"""The popularity shortcut: how well one list of documents does for all queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nclue_build.stats.judgments import GOLD
from nclue_build.stats.measures import discounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.stats.measures import Truth


class Shortcut(NamedTuple):
    """A query-independent list and what it scores (0 to 1); ``exact`` when no list scores more."""

    docs: tuple[int, ...]
    value: float
    exact: bool


def best_for_gold_ndcg(truth: Truth) -> Shortcut:
    """The best list for Gold-NDCG: every document adds its own share, so sorting by it is optimal."""
    gold = truth.labels[:, :-1] >= GOLD
    inverse = np.divide(1.0, truth.ideal_gold, out=np.zeros_like(truth.ideal_gold), where=truth.ideal_gold > 0)
    worth = np.einsum("qd,q->d", gold.astype(np.float64), inverse)
    docs = np.argsort(-worth, kind="stable")[: truth.k]
    value = float((worth[docs] * discounts(len(docs))).sum()) / max(len(gold), 1)
    return Shortcut(tuple(docs.tolist()), value, exact=True)


def greedy_for_gold_hit(truth: Truth) -> Shortcut:
    """A list for Gold Hit, one document after the other by the queries it adds.

    Greedy cover reaches at least 1 - 1/e of the best list (Nemhauser, Wolsey and Fisher, 1978).
    """
    gold = truth.labels[:, :-1] >= GOLD
    return _greedy(truth, gold, np.zeros_like(gold))


def greedy_for_n_clue(truth: Truth) -> Shortcut:
    """A list for n-Clue Score, one document after the other by the queries it decides well; a lower bound of the best.

    A document decides every open query it is judged for: well where it is a gold.
    """
    labels = truth.labels[:, :-1]
    gold = labels >= GOLD
    return _greedy(truth, gold, (labels > 0) & ~gold)


def _greedy(truth: Truth, wins: NDArray[np.bool_], losses: NDArray[np.bool_]) -> Shortcut:
    undecided = np.ones(len(wins), dtype=np.bool_)
    free = np.ones(wins.shape[1], dtype=np.bool_)
    chosen: list[int] = []
    n_won = 0
    while len(chosen) < truth.k and free.any():
        gains = wins[undecided].sum(axis=0)
        costs = losses[undecided].sum(axis=0)
        # The most queries won, then the fewest lost, then the first id.
        order = np.lexsort((np.arange(len(gains)), costs, -gains))
        doc = int(order[free[order]][0])
        if not gains[doc]:
            break
        n_won += int(gains[doc])
        chosen.append(doc)
        free[doc] = False
        undecided &= ~(wins[:, doc] | losses[:, doc])
    return Shortcut(tuple(chosen), n_won / max(len(wins), 1), exact=False)
