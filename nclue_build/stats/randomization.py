"""Sign-flip randomisation: one contrast, a block of contrasts with max-|T|, and Holm over blocks.

Under the null hypothesis, exchanging the two systems on a unit (a query, or a family of queries) changes nothing, so
the sign of its summed difference is arbitrary (paper, section 6). p = (b + 1) / (B + 1) is never 0 and never too small
(Phipson and Smyth, 2010), since draws that equal the observed value count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.stats.resampling import N_FLIPS, on_grid, sign_blocks, stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TOLERANCE: Final = 1e-9
"""T values closer than this are equal: ties count against the null being rejected."""


def unit_sums(deltas: NDArray[np.floating], units: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Sum differences within units.

    Args:
        deltas: float64, N x endpoints, variant minus base.
        units: int64, N: unit of each query, such as its family; None: each query is one.

    Returns:
        float64, units x endpoints, on a grid on which sums are exact.
    """
    columns = np.asarray(deltas, dtype=np.float64).reshape(len(deltas), -1)
    exact = on_grid(columns, float(np.abs(columns).max(initial=0.0)) * max(len(columns), 1))
    if units is None:
        return exact
    sums = np.zeros((int(units.max()) + 1 if len(units) else 0, exact.shape[1]))
    np.add.at(sums, units, exact)
    return sums


def statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """T = sum D / sqrt(sum D^2) of each endpoint, 0 where all D are 0 [R].

    Args:
        sums: float64, units x endpoints.
    """
    return _standardise(sums.sum(axis=0), _norms(sums))


def flip_p_values(
    deltas: NDArray[np.floating],
    units: NDArray[np.int64] | None = None,
    *,
    seed: int,
    n_flips: int = N_FLIPS,
) -> NDArray[np.float64]:
    """Two-sided p of each endpoint on its own.

    Args:
        deltas: float64, N x endpoints, variant minus base.
        units: int64, N: unit of each query, such as its family; None: each query is one.
        seed: Of the analysis.
        n_flips: Draws of signs, shared by all endpoints.

    Returns:
        float64, endpoints: (1 + draws with |T*| >= |T|) / (n_flips + 1).
    """
    sums = unit_sums(deltas, units)
    observed, norms = np.abs(statistics(sums)), _norms(sums)
    reached = np.zeros(sums.shape[1], dtype=np.int64)
    rng = stream(seed, "sign flips by query" if units is None else "sign flips by unit")
    for signs in sign_blocks(rng, len(sums), n_flips):
        drawn = np.abs(_standardise(signs.astype(np.float64) @ sums, norms))
        reached += (drawn >= observed - _TOLERANCE).sum(axis=0)
    return np.asarray((reached + 1) / (n_flips + 1))


def max_t_p_values(
    deltas: NDArray[np.floating],
    units: NDArray[np.int64] | None = None,
    *,
    seed: int,
    n_flips: int = N_FLIPS,
) -> NDArray[np.float64]:
    """Two-sided p of each endpoint of a block, adjusted for every endpoint that was tried (Westfall and Young, 1993).

    All endpoints share the signs; each is compared with the largest |T*| of the block.

    Args:
        deltas: float64, N x endpoints of the block.
        units: As in :func:`flip_p_values`.
        seed: Of the analysis.
        n_flips: Draws of signs.

    Returns:
        float64, endpoints.
    """
    sums = unit_sums(deltas, units)
    observed, norms = np.abs(statistics(sums)), _norms(sums)
    reached = np.zeros(sums.shape[1], dtype=np.int64)
    rng = stream(seed, "sign flips by query" if units is None else "sign flips by unit")
    for signs in sign_blocks(rng, len(sums), n_flips):
        largest = np.abs(_standardise(signs.astype(np.float64) @ sums, norms)).max(axis=1, initial=0.0)
        reached += (largest[:, None] >= observed - _TOLERANCE).sum(axis=0)
    return np.asarray((reached + 1) / (n_flips + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def _norms(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("ue,ue->e", sums, sums)))


def _standardise(totals: NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(totals, norms, out=np.zeros_like(totals), where=norms > 0)
