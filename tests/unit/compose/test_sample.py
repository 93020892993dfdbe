from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nclue_build.compose.enumeration import enumerate_conjunctions
from nclue_build.compose.redundancy import key_matrix
from nclue_build.compose.relatedness import Relation, measure_relatedness
from nclue_build.compose.requirements import Requirements
from nclue_build.compose.sample import gold_source, l_min, spread_sample, strata
from nclue_build.compose.triples import seeded_generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.compose.candidates import Candidates, Corpus


def pairs_of(corpus: Corpus) -> Candidates:
    keys = key_matrix([frozenset({key}) for key in corpus.inventory.condition_ids])
    wanted = Requirements(None, max_weak=8, relation=Relation.ANY, min_subsets=2, max_golds=5, max_capped=5)
    relatedness = measure_relatedness(corpus.inventory, corpus.n_pages)
    return enumerate_conjunctions(corpus, keys, relatedness, wanted, 100, 11).pairs


def test_a_sample_reaches_strata_and_documents_that_chance_misses(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(3, 40, 300)
    pairs = pairs_of(corpus)
    size = 150
    assert len(pairs) > 10 * size
    drawn = spread_sample(pairs, strata(pairs, corpus), size, seeded_generator(11, "x"))
    by_chance = np.sort(seeded_generator(11, "y").permutation(len(pairs))[:size])
    kinds = np.unique(strata(pairs, corpus), axis=0, return_inverse=True)[1].ravel()
    assert len(drawn) == len(set(drawn.tolist())) == size
    assert len(set(kinds[drawn].tolist())) > len(set(kinds[by_chance].tolist()))
    assert len(set(kinds[drawn].tolist())) == min(size, kinds.max() + 1)
    golds = set(pairs.take(drawn).gold_documents.tolist())
    assert len(golds) >= len(set(pairs.take(by_chance).gold_documents.tolist()))
    assert spread_sample(pairs, strata(pairs, corpus), size, seeded_generator(11, "x")).tolist() == drawn.tolist()


def test_a_small_pool_is_taken_whole(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(3, 15, 20)
    pairs = pairs_of(corpus)
    drawn = spread_sample(pairs, strata(pairs, corpus), len(pairs) + 5, seeded_generator(11, "x"))
    assert drawn.tolist() == list(range(len(pairs)))
    assert len(spread_sample(pairs.take(drawn[:0]), strata(pairs, corpus)[:0], 5, seeded_generator(1, "x"))) == 0


def test_features_are_those_of_the_golds(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(9, 30, 80)
    pairs = pairs_of(corpus)
    shortest, source = l_min(pairs, corpus), gold_source(pairs, corpus)
    for index in range(0, len(pairs), 17):
        golds = list(pairs.golds(index))
        assert shortest[index] == min(corpus.n_pages[golds])
        kinds = set(corpus.source[golds].tolist())
        assert source[index] == (kinds.pop() if len(kinds) == 1 else -1)
