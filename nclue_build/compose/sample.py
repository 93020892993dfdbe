"""Sample candidates spread over strata, so that verification sees every kind of query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.compose.candidates import Candidates, Corpus

L_MIN_EDGES: Final = (5, 30, 100)
"""Upper edges, in pages of the shortest gold; 30 and 100 are the study's (n-Clue supplement, section 2)."""
D_PLUS_EDGES: Final = (12, 25, 50)
"""Upper edges, in judged documents; 25 and 50 are the study's."""


def l_min(candidates: Candidates, corpus: Corpus) -> NDArray[np.int32]:
    """Pages of each candidate's shortest gold."""
    if not len(candidates):
        return np.empty(0, np.int32)
    return np.minimum.reduceat(corpus.n_pages[candidates.gold_documents], candidates.gold_starts[:-1])


def gold_source(candidates: Candidates, corpus: Corpus) -> NDArray[np.int32]:
    """Source of each candidate's golds, -1 where they are of several."""
    if not len(candidates):
        return np.empty(0, np.int32)
    source = corpus.source[candidates.gold_documents]
    low = np.minimum.reduceat(source, candidates.gold_starts[:-1])
    high = np.maximum.reduceat(source, candidates.gold_starts[:-1])
    return np.where(low == high, low, -1).astype(np.int32)


def rarity(candidates: Candidates, corpus: Corpus) -> NDArray[np.int64]:
    """How rare the conditions are: mean over them of the whole binary logarithm of documents / document frequency."""
    inventory = corpus.inventory
    ratio = len(inventory.document_ids) // np.maximum(inventory.document_frequency, 1)
    levels = np.searchsorted(2 ** np.arange(1, 31), ratio, side="right")
    level: NDArray[np.int64] = levels[candidates.conditions].sum(axis=1) // candidates.n
    return level


def strata(candidates: Candidates, corpus: Corpus) -> NDArray[np.int64]:
    """Stratum of each candidate: rarity, source, L_min, number of judged documents and of golds (n is fixed)."""
    return np.stack(
        [
            rarity(candidates, corpus),
            gold_source(candidates, corpus),
            np.searchsorted(L_MIN_EDGES, l_min(candidates, corpus)),
            np.searchsorted(D_PLUS_EDGES, candidates.n_judged),
            np.diff(candidates.gold_starts),
        ],
        axis=1,
    ).astype(np.int64)


def spread_sample(
    candidates: Candidates, strata: NDArray[np.int64], size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Draw candidates from all strata in turn, and within a stratum from all gold documents in turn.

    A stratum's share is equal, not proportional, until it is exhausted: long documents would otherwise own the
    sample.

    Args:
        candidates: To draw from, in an order that no input order can change.
        strata: int64, candidates x features.
        size: How many to draw at most.
        generator: Seeded.

    Returns:
        Ascending indices.
    """
    total = len(candidates)
    if total <= size:
        return np.arange(total)
    priority = generator.permutation(total)
    stratum = np.unique(strata, axis=0, return_inverse=True)[1].ravel()
    # The gold with the fewest candidates stands for its candidate.
    popularity = np.bincount(candidates.gold_documents)
    owner = np.repeat(np.arange(total), np.diff(candidates.gold_starts))
    rarest_first = np.lexsort((candidates.gold_documents, popularity[candidates.gold_documents], owner))
    gold = candidates.gold_documents[rarest_first][candidates.gold_starts[:-1]]
    turn = _rank_within((stratum, gold), priority)
    place = _rank_within((stratum,), turn * total + priority)
    return np.sort(np.lexsort((priority, place))[:size])


def _rank_within(groups: tuple[NDArray[np.integer], ...], priority: NDArray[np.integer]) -> NDArray[np.int64]:
    """0-based rank of every element inside its group, by ascending priority (distinct within a group)."""
    order = np.lexsort((priority, *groups))
    changes = np.zeros(len(order), dtype=np.bool_)
    for group in groups:
        changes[1:] |= group[order][1:] != group[order][:-1]
    starts = np.maximum.accumulate(np.where(changes, np.arange(len(order)), 0))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - starts
    return rank
