"""Pairs of conditions that may stand in one query: from a sparse condition x document product, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.compose.relatedness import Relation
from nclue_build.core.arrays import find_sorted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.compose.relatedness import Relatedness
    from nclue_build.inventory.table import Inventory

_BLOCK_CELLS: Final = 1 << 20
"""Condition pairs looked at together: bounds the dense counts of a block to some tens of megabytes."""


@dataclass(frozen=True, eq=False)
class PairTable:
    """Compatible pairs ``a < b``, sorted by ``keys = a * n_conditions + b``.

    Args:
        n_conditions: Conditions of the inventory.
        keys: int64.
        n_shared: int32, documents that have both, parallel to ``keys``.
        closeness: int32, see :class:`Relatedness`, 0 where not associated, parallel to ``keys``.
        drops: How many pairs that share a document were dropped, by reason.
    """

    n_conditions: int
    keys: NDArray[np.int64]
    n_shared: NDArray[np.int32]
    closeness: NDArray[np.int32]
    drops: dict[str, int]

    def members(self) -> NDArray[np.int32]:
        """Both condition indices of every pair: int32, pairs x 2."""
        return np.stack(np.divmod(self.keys, max(self.n_conditions, 1)), axis=1).astype(np.int32)

    def find(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
        """Position of each pair (``first < second``), -1 where it is not compatible."""
        return find_sorted(self.keys, first.astype(np.int64) * self.n_conditions + second)


def compatible_pairs(inventory: Inventory, keys: csr_array, relatedness: Relatedness, relation: Relation) -> PairTable:
    """Find all pairs that share a document, are not redundant, and belong together.

    Not redundant: no shared content key (:mod:`~nclue_build.compose.redundancy`), and the documents of the two
    overlap by less than half (Jaccard, compared as integers).

    Args:
        inventory: All P(d, c).
        keys: ``key_matrix`` of the conditions, in the order of ``inventory.condition_ids``.
        relatedness: Of the conditions.
        relation: What the two must have to do with each other.
    """
    n = len(inventory.condition_ids)
    incidence = inventory.incidence()
    frequency = inventory.document_frequency
    drops = {"redundant": 0, "document_overlap": 0, "unrelated": 0, "not_close": 0}
    found_keys: list[NDArray[np.int64]] = []
    found_shared: list[NDArray[np.int32]] = []
    found_closeness: list[NDArray[np.int32]] = []
    step = max(1, _BLOCK_CELLS // max(n, 1))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        shared = (incidence[block] @ incidence.T).toarray()
        alive = (shared > 0) & (np.arange(n) > np.arange(block.start, block.stop)[:, None])
        either = frequency[block, None] + frequency - shared
        fits = {
            "redundant": (keys[block] @ keys.T).toarray() == 0,
            "document_overlap": 2 * shared < either,
        }
        closeness = relatedness.dense(block)
        if relation >= Relation.ASSOCIATED:
            fits["unrelated"] = closeness > 0
        if relation >= Relation.CLOSE:
            fits["not_close"] = closeness >= relatedness.close_from
        for reason, fit in fits.items():
            drops[reason] += int((alive & ~fit).sum())
            alive &= fit
        first, second = np.nonzero(alive)
        found_keys.append((first + start).astype(np.int64) * n + second)
        found_shared.append(shared[first, second].astype(np.int32))
        found_closeness.append(closeness[first, second].astype(np.int32))
    return PairTable(
        n_conditions=n,
        keys=np.concatenate([*found_keys, np.empty(0, np.int64)]),
        n_shared=np.concatenate([*found_shared, np.empty(0, np.int32)]),
        closeness=np.concatenate([*found_closeness, np.empty(0, np.int32)]),
        drops=drops,
    )
