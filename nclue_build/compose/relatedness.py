"""Topical relatedness of conditions, by integers.

A query should be something a person might look for: its conditions belong together. Sharing a document says
little where long documents contain everything, and sharing a *page* is what golds must not do. So a pair is
related when pages of one lie close to pages of the other more often, over the whole corpus, than chance allows:
as many pages as they have, thrown anywhere in the corpus. Short documents count as one neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.inventory.table import Inventory

WINDOW_PAGES: Final = 2
"""Pages on either side that count as the same neighbourhood (a section of a report)."""
MIN_LIFT: Final = 2
"""Times chance."""
MIN_NEAR: Final = 2
"""Near pages (counted from both sides) without which nothing is concluded."""


@dataclass(frozen=True, eq=False)
class Relatedness:
    """Counts behind the relation; every row is a condition.

    Args:
        places: int32, conditions x places (pages, or documents in a document-level inventory).
        nearby: int32 of the same shape, 1 at the places within the window of one of ``places``.
        n_places: Places of the corpus.
    """

    places: csr_array
    nearby: csr_array
    n_places: int

    def related(self, block: slice) -> NDArray[np.bool_]:
        """Which conditions are related to those of a block.

        Returns:
            Boolean array of shape (conditions of the block, all conditions).
        """
        near = (self.places[block] @ self.nearby.T + self.nearby[block] @ self.places.T).toarray().astype(np.int64)
        n_places = np.asarray(self.places.sum(axis=1)).ravel().astype(np.int64)
        n_nearby = np.asarray(self.nearby.sum(axis=1)).ravel().astype(np.int64)
        chance = np.outer(n_places[block], n_nearby) + np.outer(n_nearby[block], n_places)
        related: NDArray[np.bool_] = (near >= MIN_NEAR) & (near * self.n_places >= MIN_LIFT * chance)
        return related


def measure_relatedness(inventory: Inventory, n_pages: NDArray[np.integer]) -> Relatedness:
    """Place every condition's evidence on one line of all pages of the corpus.

    Args:
        inventory: All P(d, c).
        n_pages: Pages of each document, in the order of ``inventory.document_ids``.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

    n_conditions = len(inventory.condition_ids)
    if inventory.level == "document":
        shape = (n_conditions, len(inventory.document_ids))
        ones = np.ones(inventory.n_rows, dtype=np.int32)
        places = csr_array((ones, (inventory.condition_of, inventory.document_of)), shape=shape)
        return Relatedness(places, places, len(inventory.document_ids))
    offsets = np.concatenate([[0], np.cumsum(n_pages, dtype=np.int64)])
    lengths = np.diff(inventory.starts)
    condition = np.repeat(inventory.condition_of, lengths)
    document = np.repeat(inventory.document_of, lengths)
    page = inventory.pages.astype(np.int64)
    shape = (n_conditions, int(offsets[-1]))
    ones = np.ones(len(page), dtype=np.int32)
    places = csr_array((ones, (condition, offsets[document] + page - 1)), shape=shape)
    rows, columns = [], []
    for step in range(-WINDOW_PAGES, WINDOW_PAGES + 1):
        moved = page + step
        inside = (moved >= 1) & (moved <= n_pages[document])
        rows.append(condition[inside])
        columns.append((offsets[document] + moved - 1)[inside])
    row, column = np.concatenate(rows), np.concatenate(columns)
    nearby = csr_array((np.ones(len(row), dtype=np.int32), (row, column)), shape=shape)
    nearby.sum_duplicates()
    nearby.data[:] = 1
    return Relatedness(places, nearby, shape[1])
