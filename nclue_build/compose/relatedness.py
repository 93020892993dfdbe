"""Topical relatedness of conditions, by integers.

A query should be something a person might look for: its conditions belong together. Sharing a document says
little where long documents contain everything, and sharing a *page* is what golds must not do. So:

- Two conditions are *associated* when pages of one lie close to pages of the other more often, over the whole
  corpus, than chance allows: as many pages thrown anywhere in the corpus. Short documents are one neighbourhood.
- Two conditions are *close* when, moreover, they are associated with the same other conditions. Two rare
  conditions that meet once are associated; only company in common says that they belong to one subject. This is
  what a latent space measures, in exact arithmetic: thresholded floats differ between processors. The strength of
  their own association counts as well: what long documents say here and there ("desktop", "keyboard") has much company
  in common, but is met little more often than chance allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import offsets

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.inventory.table import Inventory

WINDOW_PAGES: Final = 2
"""Pages on either side that count as the same neighbourhood (a section of a report)."""
MIN_NEAR: Final = 2
"""Near pages (counted from both sides) without which nothing is concluded."""
LIFTS: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Times chance from which an association has strength 1, 2, 3 and so on: about two steps to a doubling."""
CLOSE_PERCENT: Final = 25
"""Of the associated pairs of a corpus, the closest so many percent count as close.

Relative, because the cosine of two profiles falls with the number of documents and conditions of a corpus.
"""
_MILLION: Final = 1_000_000
_BLOCK_CELLS: Final = 1 << 20


class Relation(IntEnum):
    """How much two conditions must have to do with each other."""

    ANY = 0
    ASSOCIATED = 1
    CLOSE = 2


@dataclass(frozen=True, eq=False)
class Relatedness:
    """Associations between conditions.

    Args:
        closeness: int64, conditions x conditions, stored where associated and symmetric: the squared cosine of the
            two association profiles in millionths, plus one, times the strength of the association.
        close_from: Value from which an associated pair is close.
    """

    closeness: csr_array
    close_from: int

    def dense(self, block: slice) -> NDArray[np.int64]:
        """Closeness of a block's conditions to all conditions, 0 where not associated: (block, conditions)."""
        values: NDArray[np.int64] = self.closeness[block].toarray()
        return values


def measure_relatedness(inventory: Inventory, n_pages: NDArray[np.integer]) -> Relatedness:
    """Measure associations, in blocks of conditions.

    In a document-level inventory documents take the place of pages.

    Args:
        inventory: All P(d, c).
        n_pages: Pages of each document, in the order of ``inventory.document_ids``.
    """
    from scipy.sparse import csr_array, vstack  # noqa: PLC0415 - heavy

    places, nearby = _places(inventory, n_pages)
    n, total = places.shape
    n_places = np.asarray(places.sum(axis=1)).ravel().astype(np.int64)
    n_nearby = np.asarray(nearby.sum(axis=1)).ravel().astype(np.int64)
    step = max(1, _BLOCK_CELLS // max(n, 1))
    rows = [csr_array((0, n), dtype=np.int32)]
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        near = (places[block] @ nearby.T + nearby[block] @ places.T).toarray().astype(np.int64)
        chance = np.outer(n_places[block], n_nearby) + np.outer(n_nearby[block], n_places)
        strength = sum(near * total >= lift * chance for lift in LIFTS) * (near >= MIN_NEAR)
        strength[np.arange(block.stop - start), np.arange(start, block.stop)] = 0
        rows.append(csr_array(strength.astype(np.int32)))
    closeness = _closeness(csr_array(vstack(rows, format="csr")), step)
    values = closeness.data
    place = len(values) * (100 - CLOSE_PERCENT) // 100
    return Relatedness(closeness, int(np.partition(values, place)[place]) if len(values) else 1)


def _closeness(strength: csr_array, step: int) -> csr_array:
    """Squared cosines (in millionths, plus one) of the rows of a symmetric matrix, times its own elements."""
    norm = np.asarray((strength * strength).sum(axis=1)).ravel().astype(np.int64)
    values = np.empty(strength.nnz, dtype=np.int64)
    for start in range(0, strength.shape[0], step):
        block = strength[start : start + step]
        common = (block @ strength.T).toarray().astype(np.int64)
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        common = common[rows, block.indices]
        squared = _MILLION * common * common // (norm[start + rows] * norm[block.indices])
        values[strength.indptr[start] : strength.indptr[start + block.shape[0]]] = squared + 1
    closeness = strength.astype(np.int64)
    closeness.data = values * closeness.data
    return closeness


def _places(inventory: Inventory, n_pages: NDArray[np.integer]) -> tuple[csr_array, csr_array]:
    """Conditions x places of the corpus (all pages on one line): where each is, and what lies near that."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

    n_conditions = len(inventory.condition_ids)
    if inventory.level == "document":
        places = inventory.incidence()
        return places, places
    begins = offsets(n_pages)
    lengths = np.diff(inventory.starts)
    condition = np.repeat(inventory.condition_of, lengths)
    document = np.repeat(inventory.document_of, lengths)
    page = inventory.pages.astype(np.int64)
    shape = (n_conditions, int(begins[-1]))
    places = csr_array((np.ones(len(page), dtype=np.int32), (condition, begins[document] + page - 1)), shape=shape)
    rows, columns = [], []
    for step in range(-WINDOW_PAGES, WINDOW_PAGES + 1):
        moved = page + step
        inside = (moved >= 1) & (moved <= n_pages[document])
        rows.append(condition[inside])
        columns.append((begins[document] + moved - 1)[inside])
    row, column = np.concatenate(rows), np.concatenate(columns)
    nearby = csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=shape)
    nearby.sum_duplicates()
    nearby.data[:] = 1
    return places, nearby
