"""Agreement between people: confusion, kappas, Wilson intervals.

Definitions follow the audit of the study (section 4): a response's grade is its number of yes; page sets agree when
they are equal, the empty set included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.stats.resampling import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_Z_95: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Share:
    """A count, what it is out of, and the 95 % Wilson interval of their ratio."""

    count: int
    total: int
    interval: Interval


def share(count: int, total: int) -> Share:
    """A share with its Wilson interval."""
    return Share(count, total, wilson(count, total))


def wilson(count: int, total: int, z: float = _Z_95) -> Interval:
    """Score interval of a share (Wilson, 1927).

    Args:
        count: Successes.
        total: Trials; with none, everything is possible: NaN in [0, 1].
        z: Normal quantile, 1.96 for 95 %.
    """
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if total == 0:
        return Interval(float("nan"), 0.0, 1.0)
    value = count / total
    centre = value + z * z / (2 * total)
    spread = z * float(np.sqrt(value * (1 - value) / total + z * z / (4 * total * total)))
    scale = 1 + z * z / total
    low = 0.0 if count == 0 else (centre - spread) / scale
    high = 1.0 if count == total else (centre + spread) / scale
    return Interval(value, low, high)


def confusion(first: Sequence[int], second: Sequence[int], n_categories: int) -> NDArray[np.int64]:
    """How often each pair of categories was given.

    Args:
        first: Categories from 0, by one evaluator.
        second: By the other, for the same items.
        n_categories: How many there are.

    Returns:
        int64, categories x categories; rows are of the first.
    """
    table = np.zeros((n_categories, n_categories), dtype=np.int64)
    for one, other in zip(first, second, strict=True):
        table[one, other] += 1
    return table


def kappa(table: NDArray[np.integer], *, linear: bool = False) -> float:
    """Cohen's kappa of a confusion table: 1 - observed over expected disagreement (Cohen, 1960; 1968).

    Args:
        table: Square, counts.
        linear: Weigh a disagreement by the distance of the categories, else count every one alike.

    Returns:
        NaN where chance alone would agree throughout: there is nothing to correct.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:  # noqa: PLR2004 - rows and columns
        raise ValueError("a confusion table is square")
    total = counts.sum()
    if total == 0:
        return float("nan")
    places = np.arange(len(counts))
    distance = np.abs(places[:, None] - places[None, :]).astype(np.float64)
    weights = distance if linear else (distance > 0).astype(np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    disagreement = float((weights * expected).sum())
    return 1.0 - float((weights * counts).sum()) / disagreement if disagreement else float("nan")


def fleiss_kappa(ratings: NDArray[np.integer]) -> float:
    """Fleiss' kappa for any fixed number of raters (Fleiss, 1971).

    Args:
        ratings: Items x categories: how many raters chose each category; every row has the same sum, at least 2.

    Returns:
        NaN where all ratings fall into one category.
    """
    counts = np.asarray(ratings, dtype=np.float64)
    sums = counts.sum(axis=1)
    if not len(counts):
        return float("nan")
    if (sums != sums[0]).any() or sums[0] < 2:  # noqa: PLR2004 - agreement takes two
        raise ValueError("every item needs the same number of raters, two at least")
    n_raters = sums[0]
    observed = float(((counts * (counts - 1)).sum(axis=1) / (n_raters * (n_raters - 1))).mean())
    shares = counts.sum(axis=0) / counts.sum()
    by_chance = float((shares * shares).sum())
    return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else float("nan")
