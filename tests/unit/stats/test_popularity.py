"""One list of documents for all queries, against every list there is."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from nclue_build.stats.judgments import Judgments
from nclue_build.stats.measures import Truth, measure
from nclue_build.stats.popularity import best_for_gold_ndcg, greedy_for_gold_hit, greedy_for_n_clue
from nclue_build.stats.rankings import rank

N_QUERIES, N_DOCS, K = 12, 6, 3


def truth_of(seed: int) -> Truth:
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(N_QUERIES):
        docs = rng.permutation(N_DOCS)[: int(rng.integers(1, 4))].tolist()
        rows += [(f"q{q:02}", f"d{doc}", 2 - (place > 0), place == 0) for place, doc in enumerate(docs)]
    return Truth.of(Judgments.of({f"q{q:02}": 2 for q in range(N_QUERIES)}, rows), K)


def scores_of(truth: Truth, docs: tuple[int, ...]) -> tuple[float, float, float]:
    ranking = rank(np.tile(docs, (N_QUERIES, 1)), np.tile(-np.arange(float(len(docs))), (N_QUERIES, 1)))
    found = measure(truth, ranking)
    return float(found.gold_ndcg.mean()), float(found.hit.mean()), float(found.n_clue.mean())


@pytest.mark.parametrize("seed", range(5))
def test_shortcuts_score_what_they_say_and_no_list_scores_more_than_the_best(seed: int) -> None:
    truth = truth_of(seed)
    found = best_for_gold_ndcg(truth), greedy_for_gold_hit(truth), greedy_for_n_clue(truth)
    every = np.array([scores_of(truth, docs) for docs in permutations(range(len(truth.judgments.doc_ids)), K)])
    for at, one in enumerate(found):
        assert one.value == pytest.approx(scores_of(truth, one.docs)[at])
        assert one.value <= every[:, at].max() + 1e-12
    assert found[0].exact
    assert found[0].value == pytest.approx(every[:, 0].max())
    assert found[1].value >= (1 - 1 / math.e) * every[:, 1].max()
