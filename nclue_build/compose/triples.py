"""Triples of conditions out of compatible pairs, a quota from every gold document.

There are tens of millions of triples in a corpus of the study's size, and the longest documents own most of
them. So each document proposes its own, up to a quota, from the conditions it establishes well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.canonical import sha256_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.compose.pairs import PairTable
    from nclue_build.inventory.table import Inventory

_MAX_CONDITIONS: Final = 600
"""Conditions of one document that take part (a seeded choice beyond): bounds the work per document."""


def seeded_generator(seed: int, *names: str) -> np.random.Generator:
    """A PCG64 stream that depends on the seed and the names alone, not on any order of work."""
    digest = sha256_bytes("\n".join(names).encode("utf-8"))
    return np.random.Generator(np.random.PCG64([seed, *(int(digest[i : i + 8], 16) for i in range(0, 32, 8))]))


def propose_triples(
    inventory: Inventory, pairs: PairTable, usable: NDArray[np.bool_], quota: int, seed: int
) -> NDArray[np.int32]:
    """Propose triples whose three pairs are all compatible.

    Args:
        inventory: All P(d, c).
        pairs: Compatible pairs.
        usable: Per inventory row: the document may be a gold for that condition.
        quota: Triples a document proposes at most.
        seed: Of the choice where a document has more.

    Returns:
        int32, triples x 3, each ascending, sorted, without repeats.
    """
    n = pairs.n_conditions
    rows = np.flatnonzero(usable)
    order = np.argsort(inventory.document_of[rows], kind="stable")
    rows = rows[order]
    bounds = np.searchsorted(inventory.document_of[rows], np.arange(len(inventory.document_ids) + 1))
    found: list[NDArray[np.int64]] = []
    for document, doc_id in enumerate(inventory.document_ids):
        conditions = inventory.condition_of[rows[bounds[document] : bounds[document + 1]]]
        if len(conditions) < 3:  # noqa: PLR2004 - a triple
            continue
        generator = seeded_generator(seed, "triples", doc_id)
        if len(conditions) > _MAX_CONDITIONS:
            conditions = np.sort(generator.permutation(conditions)[:_MAX_CONDITIONS])
        triples = _triangles(conditions, pairs, quota, generator).astype(np.int64)
        found.append((triples[:, 0] * n + triples[:, 1]) * n + triples[:, 2])
    keys = np.unique(np.concatenate([*found, np.empty(0, np.int64)]))
    return np.stack([keys // n // n, keys // n % n, keys % n], axis=1).astype(np.int32)


def _triangles(
    conditions: NDArray[np.int32], pairs: PairTable, quota: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Up to ``quota`` triangles of the compatibility graph on these (ascending) conditions."""
    k = len(conditions)
    first, second = np.triu_indices(k, 1)
    is_edge = pairs.find(conditions[first], conditions[second]) >= 0
    first, second = first[is_edge], second[is_edge]
    adjacency = np.zeros((k, k), dtype=np.bool_)
    adjacency[first, second] = True
    # A few triangles from each of many edges rather than all from the first ones.
    chosen = generator.permutation(len(first))[: 4 * quota]
    edge, third = np.nonzero(adjacency[first[chosen]] & adjacency[second[chosen]])
    kept = generator.permutation(len(edge))[:quota]
    edge, third = edge[kept], third[kept]
    return conditions[np.stack([first[chosen][edge], second[chosen][edge], third], axis=1)]
