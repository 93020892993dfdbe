"""The page gate in closed form, over arrays of query-document pairs.

A document is gold when each condition can have a page of its own and no page has them all. The
first half is a system of distinct representatives, which exists exactly when every set of k
conditions has at least k pages between them (P. Hall, "On representatives of subsets", J. London
Math. Soc. 10, 1935). With at most :data:`~nclue_build.gate.outcome.MAX_CONDITIONS` conditions all
subsets can be looked at, so unions, intersections and counts of bitsets decide, and no matching is searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import offsets
from nclue_build.core.errors import InternalError
from nclue_build.gate.outcome import MAX_CONDITIONS, Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.inventory.table import Inventory

_WORD_BITS: Final = 64
_SUBSET_WORDS: Final = 1 << 18
"""Subsets times pairs looked at together: 2 MiB of bitset words, which stay in the processor's cache."""


@dataclass(frozen=True, eq=False, slots=True)
class PageBitsets:
    """The page sets of an inventory as bits; row ``r`` owns ``words[starts[r]:starts[r] + widths[r]]``.

    Page ``p`` is bit ``(p - 1) % 64`` of word ``(p - 1) // 64``. All rows of a document have the same
    width, so they combine word by word, and one document of thousands of pages widens no other.

    Args:
        words: uint64.
        starts: int64, one per row.
        widths: int32, one per row.
    """

    words: NDArray[np.uint64]
    starts: NDArray[np.int64]
    widths: NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class Verdicts:
    """What the gate says of each pair; parallel arrays, one element a pair.

    Args:
        clue_count: int8, number of conditions with a page in the document.
        outcome: int8, an :class:`~nclue_build.gate.outcome.Outcome`.
        gold: bool.
        grade: int8, the clue count, capped at n - 1 where all conditions are there and the gate fails.
    """

    clue_count: NDArray[np.int8]
    outcome: NDArray[np.int8]
    gold: NDArray[np.bool_]
    grade: NDArray[np.int8]


def row_bitsets(inventory: Inventory) -> PageBitsets:
    """Turn the page lists of an inventory into bitsets.

    Returns:
        8 bytes per row and 64 pages of its document (up to the last page that has evidence).
    """
    lengths = np.diff(inventory.starts)
    document_words = np.zeros(len(inventory.document_ids), dtype=np.int32)
    row_of_page = np.repeat(np.arange(inventory.n_rows), lengths)
    words_needed = (inventory.pages - 1) // _WORD_BITS + 1
    np.maximum.at(document_words, inventory.document_of[row_of_page], words_needed)
    widths = document_words[inventory.document_of]
    bounds = offsets(widths)
    starts = bounds[:-1]
    words = np.zeros(int(bounds[-1]), dtype=np.uint64)
    bits = np.uint64(1) << ((inventory.pages - 1) % _WORD_BITS).astype(np.uint64)
    np.bitwise_or.at(words, starts[row_of_page] + (inventory.pages - 1) // _WORD_BITS, bits)
    return PageBitsets(words, starts, widths)


def check_pairs(inventory: Inventory, rows: NDArray[np.integer], bitsets: PageBitsets | None = None) -> Verdicts:
    """Gate many query-document pairs with the same number of conditions.

    Memory beyond inputs and results is bounded (a few MiB), whatever the number of pairs or pages.

    Args:
        inventory: All P(d, c).
        rows: Integers, pairs x n (2 <= n <= 8): the inventory row of each condition in the pair's document, -1
            where P(d, c) is empty (what :meth:`Inventory.find` returns). The order of the conditions does not matter.
        bitsets: ``row_bitsets(inventory)``, to be passed when this is called many times.

    Returns:
        Verdicts with one element a pair. In a document-level inventory a pair with every condition is gold
        (``DOCUMENT_LEVEL``) and any other one ``INCOMPLETE``.

    Raises:
        InternalError: ``rows`` has another shape, or mixes documents in one pair.
    """
    if rows.ndim != 2 or not 2 <= rows.shape[1] <= MAX_CONDITIONS:  # noqa: PLR2004 - two dimensions, two conditions
        raise InternalError(f"check_pairs takes pairs x 2..{MAX_CONDITIONS} inventory rows, not {rows.shape}")
    n = rows.shape[1]
    clue_count = (rows >= 0).sum(axis=1, dtype=np.int8)
    outcome = np.full(len(rows), Outcome.INCOMPLETE, dtype=np.int8)
    complete = np.flatnonzero(clue_count == n)
    if inventory.level == "document":
        outcome[complete] = Outcome.DOCUMENT_LEVEL
    elif len(complete):
        bitsets = bitsets or row_bitsets(inventory)
        step = _SUBSET_WORDS >> n
        for first in range(0, len(complete), step):
            part = complete[first : first + step]
            documents = inventory.document_of[rows[part]]
            if (documents != documents[:, :1]).any():
                raise InternalError("check_pairs got a pair whose inventory rows belong to different documents")
            outcome[part] = _closed_form(bitsets, rows[part])
    gold = (outcome == Outcome.OK) | (outcome == Outcome.DOCUMENT_LEVEL)
    grade = clue_count - ((clue_count == n) & ~gold)
    return Verdicts(clue_count, outcome, gold, grade.astype(np.int8))


def _closed_form(bitsets: PageBitsets, rows: NDArray[np.integer]) -> NDArray[np.int8]:
    """Outcomes of complete pairs: word by word, the pairs of narrower documents dropping out."""
    n_pairs, n = rows.shape
    n_subsets = 1 << n
    widths = bitsets.widths[rows[:, 0]]
    union_pages = np.zeros((n_subsets, n_pairs), dtype=np.int32)
    shares_page = np.zeros(n_pairs, dtype=np.bool_)
    for word in range(int(widths.max())):
        active = np.flatnonzero(widths > word)
        sets = bitsets.words[bitsets.starts[rows[active]] + word].T
        shares_page[active] |= np.bitwise_and.reduce(sets, axis=0) != 0
        unions = np.zeros((n_subsets, len(active)), dtype=np.uint64)
        for subset in range(1, n_subsets):
            rest = subset & (subset - 1)
            unions[subset] = unions[rest] | sets[(subset ^ rest).bit_length() - 1]
        union_pages[:, active] += np.bitwise_count(unions)
    subset_sizes = np.bitwise_count(np.arange(n_subsets, dtype=np.int32))
    has_assignment = (union_pages >= subset_sizes[:, None]).all(axis=0)
    verdict = np.where(has_assignment, np.int8(Outcome.OK), np.int8(Outcome.NO_ASSIGNMENT))
    return np.where(shares_page, np.int8(Outcome.SINGLE_PAGE), verdict).astype(np.int8)
