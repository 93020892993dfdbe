"""Arrays of rows of different lengths, and look-ups in sorted arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def offsets(lengths: Sequence[int] | NDArray[np.integer | np.bool_]) -> NDArray[np.int64]:
    """Where each row of a flat array begins, and where the last one ends.

    Args:
        lengths: Of the rows.

    Returns:
        int64, rows + 1: row ``r`` is ``flat[offsets[r]:offsets[r + 1]]``.
    """
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def ranges(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """The indices ``start, start + 1, ...`` of every row, one row after the other.

    Args:
        starts: First index of each row.
        lengths: How many indices each row has.

    Returns:
        int64, as many as the lengths together.
    """
    begins = offsets(lengths)
    return np.repeat(starts - begins[:-1], lengths) + np.arange(begins[-1], dtype=np.int64)


def find_sorted(keys: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Position of each wanted value among ascending keys, -1 where it is not there.

    Args:
        keys: Ascending, without repeats.
        wanted: Any shape.

    Returns:
        int64, in the shape of ``wanted``.
    """
    if not len(keys):
        return np.full(np.shape(wanted), -1, dtype=np.int64)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[position] == wanted, position, -1).astype(np.int64)
