"""Sign-flip randomisation: one contrast, a block of contrasts with max-|T|, and Holm over blocks.

Under the null hypothesis, exchanging the two systems on a unit (a query, or a family of queries) changes nothing, so
the sign of its summed difference is arbitrary (paper, section 6). p = (b + 1) / (B + 1) is never 0 and never too small
(Phipson and Smyth, 2010), since draws that equal the observed value count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from nclue_build.stats.resampling import N_FLIPS, group_sums, on_grid, sign_blocks, stream

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
    return exact if units is None else group_sums(exact, units)


def statistics(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """T = sum D / sqrt(sum D^2) of each endpoint, 0 where all D are 0 [R].

    Args:
        sums: float64, units x endpoints.
    """
    return _standardise(sums.sum(axis=0), _norms(sums))


class FlipTests(NamedTuple):
    """Two-sided p of each endpoint, on its own and adjusted for its block: float64, endpoints."""

    single: NDArray[np.float64]
    block: NDArray[np.float64]


def flip_tests(
    deltas: NDArray[np.floating],
    units: NDArray[np.int64] | None,
    blocks: NDArray[np.int64],
    *,
    seed: int,
    n_flips: int = N_FLIPS,
) -> FlipTests:
    """Test every endpoint on its own, and against the largest |T*| of its block (Westfall and Young, 1993).

    All endpoints share the signs, so what an endpoint gets does not depend on the other blocks.

    Args:
        deltas: float64, N x endpoints, variant minus base.
        units: int64, N: unit of each query, such as its family; None: each query is one.
        blocks: int64, endpoints: block of each.
        seed: Of the analysis.
        n_flips: Draws of signs.

    Returns:
        (1 + draws that reach |T|) / (n_flips + 1): by the endpoint itself, by any of its block.
    """
    sums = unit_sums(deltas, units)
    enough = np.abs(statistics(sums)) - _TOLERANCE
    norms = _norms(sums)
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    single, adjusted = np.zeros(len(enough), dtype=np.int64), np.zeros(len(enough), dtype=np.int64)
    rng = stream(seed, "sign flips by query" if units is None else "sign flips by unit")
    for signs in sign_blocks(rng, len(sums), n_flips):
        drawn = np.abs(_standardise(signs.astype(np.float64) @ sums, norms))
        single += (drawn >= enough).sum(axis=0)
        for places in members:
            largest = drawn[:, places].max(axis=1)
            adjusted[places] += (largest[:, None] >= enough[places]).sum(axis=0)
    return FlipTests((single + 1) / (n_flips + 1), (adjusted + 1) / (n_flips + 1))


def flip_p_values(
    deltas: NDArray[np.floating],
    units: NDArray[np.int64] | None = None,
    *,
    seed: int,
    n_flips: int = N_FLIPS,
) -> NDArray[np.float64]:
    """Two-sided p of each endpoint on its own: :func:`flip_tests` without blocks.

    Args:
        deltas: float64, N x endpoints or N, variant minus base.
        units: int64, N: unit of each query, such as its family; None: each query is one.
        seed: Of the analysis.
        n_flips: Draws of signs.

    Returns:
        float64, endpoints.
    """
    columns = np.reshape(deltas, (len(deltas), -1))
    return flip_tests(columns, units, np.arange(columns.shape[1]), seed=seed, n_flips=n_flips).single


def max_t_p_values(
    deltas: NDArray[np.floating],
    units: NDArray[np.int64] | None = None,
    *,
    seed: int,
    n_flips: int = N_FLIPS,
) -> NDArray[np.float64]:
    """Two-sided p of each endpoint, adjusted for all of them: :func:`flip_tests` of a single block.

    Args:
        deltas: float64, N x endpoints of the block.
        units: As in :func:`flip_p_values`.
        seed: Of the analysis.
        n_flips: Draws of signs.

    Returns:
        float64, endpoints.
    """
    columns = np.reshape(deltas, (len(deltas), -1))
    return flip_tests(columns, units, np.zeros(columns.shape[1], dtype=np.int64), seed=seed, n_flips=n_flips).block


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
    return np.asarray(totals / np.where(norms > 0, norms, 1.0))  # totals are 0 where norms are
