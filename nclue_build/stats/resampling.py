"""One engine for everything that draws: streams, sums that do not depend on threads, intervals.

Streams are PCG64 seeded by the run's seed and a name, so what is drawn for one purpose never depends on what else was
drawn. Sums are taken over values rounded to a binary grid so coarse that every sum is exact in float64, and finer than
a millionth of a point: a matrix product then gives the same digits on any number of threads and any machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DEFAULT_SEED: Final = 11
N_BOOTSTRAP: Final = 1000
N_FLIPS: Final = 10_000
_EXACT_BITS: Final = 52
_MAX_GRID_BITS: Final = 40
_MIN_GRID_BITS: Final = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % percentile interval and the value it belongs to."""

    value: float
    low: float
    high: float


def stream(seed: int, purpose: str) -> np.random.Generator:
    """The random numbers of one purpose.

    Args:
        seed: Of the whole analysis.
        purpose: A name that no other use has.
    """
    words = np.frombuffer(sha256(purpose.encode()).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words.tolist()])))


def on_grid(values: NDArray[np.floating | np.integer | np.bool_], largest_sum: float) -> NDArray[np.float64]:
    """Round values to multiples of a power of two, so that sums of them are exact.

    Args:
        values: Any shape.
        largest_sum: A bound of the absolute value of every sum that will be taken.

    Raises:
        ValueError: sums so large that the grid would be coarser than 2^-20.
    """
    spare = int(np.ceil(np.log2(max(largest_sum, 1.0)))) + 1
    bits = min(_MAX_GRID_BITS, _EXACT_BITS - spare)
    if bits < _MIN_GRID_BITS:
        raise ValueError(f"sums up to {largest_sum:g} leave no room for exact arithmetic")
    step = 2.0**-bits
    return np.round(np.asarray(values, dtype=np.float64) / step) * step


def group_sums(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sums of rows within groups.

    Args:
        values: float64, N x columns; on a grid, where sums are meant to be exact.
        groups: int64, N, numbered from 0.

    Returns:
        float64, groups x columns.
    """
    sums = np.zeros((int(groups.max(initial=-1)) + 1, values.shape[1]))
    order = np.argsort(groups, kind="stable")
    distinct, starts = np.unique(groups[order], return_index=True)
    if len(distinct):
        sums[distinct] = np.add.reduceat(values[order], starts, axis=0)
    return sums


def resample_counts(rng: np.random.Generator, n_items: int, n_draws: int) -> NDArray[np.float64]:
    """How often each of n items is drawn when n are drawn with replacement, for many draws.

    Returns:
        float64 (whole numbers), n_draws x n_items.
    """
    counts = np.empty((n_draws, n_items))
    for row in range(n_draws):
        counts[row] = np.bincount(rng.integers(0, n_items, size=n_items), minlength=n_items)
    return counts


def sign_blocks(rng: np.random.Generator, n_items: int, n_draws: int, block: int = 1000) -> Iterator[NDArray[np.int8]]:
    """Random signs, -1 or 1, in blocks of rows.

    Yields:
        int8, up to ``block`` x n_items.
    """
    for begin in range(0, n_draws, block):
        rows = min(block, n_draws - begin)
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-rows * n_items // 8)), dtype=np.uint8), count=rows * n_items)
        yield (bits.astype(np.int8) * 2 - 1).reshape(rows, n_items)


def percentile_intervals(
    values: NDArray[np.float64], draws: NDArray[np.float64], level: float = 0.95
) -> list[Interval]:
    """The percentile interval of each column of resampled values.

    Args:
        values: Of the sample itself, one per column.
        draws: Replicates x columns, finite.
        level: Share of the draws inside.
    """
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(draws, [tail, 100.0 - tail], axis=0).tolist()
    return [Interval(*found) for found in zip(values.tolist(), low, high, strict=True)]
