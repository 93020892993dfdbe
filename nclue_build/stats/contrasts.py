"""Two runs side by side: common support, rank agreement, the smallest difference that could be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nclue_build.stats.bootstrap import FamilyDraws
    from nclue_build.stats.measures import Outcomes

_Z_BOTH: Final = 1.959963984540054 + 0.8416212335729143
"""Normal quantiles of a two-sided test at 5 % and of a power of 80 %."""


@dataclass(frozen=True, slots=True)
class Split:
    """Shares of all queries: no gold within k, a subset before the gold, a gold before every subset; sum 1."""

    miss: float
    partial_first: float
    gold_first: float


@dataclass(frozen=True, slots=True)
class CommonSupport:
    """Ordering where both runs retrieve a gold (paper, section 5).

    Args:
        n_common: Queries where both do.
        difference: Sum over them of (variant gold first - base gold first); a whole number.
        mean: ``difference`` over ``n_common``; NaN without common queries.
        base: Shares of the base over all queries.
        variant: Shares of the variant.
    """

    n_common: int
    difference: int
    mean: float
    base: Split
    variant: Split


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Correlation of two orders of the same systems; NaN where one is constant or there are fewer than two."""

    spearman: float
    kendall_tau_b: float
    n_systems: int


def split(outcomes: Outcomes) -> Split:
    """Miss, partial first and gold first."""
    return Split(1.0 - float(outcomes.hit.mean()), float(outcomes.partial_first.mean()), float(outcomes.n_clue.mean()))


def common_support(base: Outcomes, variant: Outcomes) -> CommonSupport:
    """Compare how golds and subsets are ordered, on queries where both runs retrieve a gold."""
    both = base.hit & variant.hit
    difference = int(variant.n_clue[both].sum()) - int(base.n_clue[both].sum())
    n_common = int(both.sum())
    mean = difference / n_common if n_common else float("nan")
    return CommonSupport(n_common, difference, mean, split(base), split(variant))


def rank_agreement(first: Sequence[float], second: Sequence[float]) -> RankAgreement:
    """Spearman's rho with average ranks, and Kendall's tau-b, of two scores of the same systems."""
    from scipy.stats import kendalltau, spearmanr  # noqa: PLC0415 - takes half a second to load

    if len(first) != len(second):
        raise ValueError("both orders must score the same systems")
    if min(len(set(first)), len(set(second))) < 2:  # noqa: PLR2004 - an order needs two
        return RankAgreement(float("nan"), float("nan"), len(first))
    return RankAgreement(
        float(spearmanr(first, second).statistic), float(kendalltau(first, second).statistic), len(first)
    )


def smallest_detectable(deltas: NDArray[np.floating], draws: FamilyDraws) -> NDArray[np.float64]:
    """The smallest true difference a two-sided test at 5 % finds with a power of 80 %, at this size and spread.

    (1.96 + 0.84) times the standard error, which is the spread of the exact-family bootstrap [R].

    Args:
        deltas: float64, N x contrasts, variant minus base.
        draws: Of the families.

    Returns:
        float64, contrasts, in the unit of the differences.
    """
    return np.asarray(_Z_BOTH * draws.means(deltas).std(axis=0, ddof=1))
