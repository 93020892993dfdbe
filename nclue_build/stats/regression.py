"""Difficulty regression: what makes queries hard, with errors clustered by exact family [R].

A matched fit compares queries only within groups of like ones, each with an intercept of its own: whatever differs
between groups cannot explain anything (subclassification; Cochran, 1968) [R].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

N_GROUPS: Final = 5
"""Groups of like queries in a matched fit."""
_MAX_STEPS: Final = 100
_DIGITS: Final = 10
"""Decimals of what is reported: the last ones of a solved system differ from processor to processor."""
_CONVERGED: Final = 1e-10
_CERTAIN: Final = 1e-8


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Effect of one standard deviation of a predictor, with its cluster-robust standard error."""

    name: str
    value: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model.

    Args:
        coefficients: The intercept (of a fit without groups), then the predictors with any spread, of a matched fit
            within some group that tells anything.
        n_queries: Queries that told anything.
        converged: False where there is no finite fit.
    """

    coefficients: tuple[Coefficient, ...]
    n_queries: int
    converged: bool


def quantile_groups(values: NDArray[np.floating], n_groups: int = N_GROUPS) -> NDArray[np.int64]:
    """Groups of like values, as equal in size as equal values allow, which stay together.

    Args:
        values: float64, N.
        n_groups: How many to aim at; five take away nine tenths of a bias (Cochran, 1968).

    Returns:
        int64, N, numbered from 0 by rising values.
    """
    # Edges are values that occur: nothing is interpolated, so nothing depends on rounding.
    edges = np.quantile(values, np.arange(1, n_groups) / n_groups, method="inverted_cdf")
    return np.unique(np.searchsorted(edges, values), return_inverse=True)[1].astype(np.int64)


def linear_fit(
    y: NDArray[np.floating],
    predictors: Mapping[str, NDArray[np.floating]],
    clusters: NDArray[np.int64],
    groups: NDArray[np.int64] | None = None,
) -> Fit:
    """Least squares with cluster-robust errors (CR1; Liang and Zeger, 1986).

    Args:
        y: float64, N; 1 - s(q) for the study's regression.
        predictors: float64, N each, standardised here over all queries; an intercept is added.
        clusters: int64, N, numbered from 0.
        groups: int64, N, numbered from 0: compare queries within these only; None: all with each other.
    """
    model = _Model.of(predictors, clusters, groups)
    design = model.design
    bread = np.asarray(np.linalg.pinv(_gram(design, design)), dtype=np.float64)
    beta = np.asarray(bread @ _project(design, y), dtype=np.float64)
    return model.fit(beta, y - _predict(design, beta), bread, converged=True)


def logistic_fit(
    y: NDArray[np.floating],
    predictors: Mapping[str, NDArray[np.floating]],
    clusters: NDArray[np.int64],
    groups: NDArray[np.int64] | None = None,
) -> Fit:
    """Logistic regression by Newton's method with cluster-robust errors: the check of the linear model.

    Args:
        y: N values of 0 or 1.
        predictors: As for :func:`linear_fit`.
        clusters: int64, N, numbered from 0.
        groups: As for :func:`linear_fit`. A group whose queries all have one outcome tells nothing and is left out.

    Returns:
        ``converged`` is False under separation, also of a part of the queries, where no finite fit exists; then the
        figures mean nothing.
    """
    told = np.ones(len(y), dtype=np.bool_)
    if groups is not None:
        shares = np.bincount(groups, y) / np.bincount(groups)
        told = (shares[groups] > 0) & (shares[groups] < 1)
    model, y = _Model.of(predictors, clusters, groups, told), y[told]
    design = model.design
    beta = np.zeros(design.shape[1])
    converged = False
    for _ in range(_MAX_STEPS):
        expected = _logistic(_predict(design, beta))
        information = _gram(design * (expected * (1 - expected))[:, None], design)
        step = np.linalg.pinv(information) @ _project(design, y - expected)
        beta += step
        if float(np.abs(step).max(initial=0.0)) < _CONVERGED:
            converged = True
            break
        if float(np.abs(beta).max(initial=0.0)) > 1 / _CONVERGED:
            break
    expected = _logistic(_predict(design, beta))
    information = _gram(design * (expected * (1 - expected))[:, None], design)
    # A part of the queries that some predictor decides alone drives a coefficient to infinity.
    separated = bool(np.any((expected < _CERTAIN) | (expected > 1 - _CERTAIN)))
    converged &= len(y) > 0 and not separated
    return model.fit(beta, y - expected, np.linalg.pinv(information), converged=converged)


# Sums over queries go through einsum, which adds in one order: those of a matrix product depend on the threads.


def _gram(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,qj->ij", left, right))


def _project(design: NDArray[np.float64], values: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,q->i", design, values))


def _predict(design: NDArray[np.float64], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,i->q", design, beta))


def _logistic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -700.0, 700.0))))


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """What is fitted: the columns of the design, first intercepts, then predictors, and who belongs together."""

    design: NDArray[np.float64]
    n_intercepts: int
    names: tuple[str, ...]
    clusters: NDArray[np.int64]
    is_matched: bool

    @classmethod
    def of(
        cls,
        predictors: Mapping[str, NDArray[np.floating]],
        clusters: NDArray[np.int64],
        groups: NDArray[np.int64] | None,
        told: NDArray[np.bool_] | None = None,
    ) -> _Model:
        """The model on the queries that are told, None: on all; predictors are scaled over all in either case."""
        chosen = np.ones(len(clusters), dtype=np.bool_) if told is None else told
        member = (np.zeros(len(clusters), dtype=np.int64) if groups is None else groups)[chosen]
        intercepts = (member[:, None] == np.unique(member)).astype(np.float64)
        # A predictor that varies in left-out groups alone would be a combination of the intercepts.
        kept = {name: values for name, values in predictors.items() if _varies(values[chosen], member)}
        scaled = [((values - np.mean(values)) / np.std(values))[chosen] for values in kept.values()]
        return cls(
            np.column_stack([intercepts, *scaled]),
            intercepts.shape[1],
            tuple(kept),
            np.unique(clusters[chosen], return_inverse=True)[1].astype(np.int64),
            groups is not None,
        )

    def fit(
        self,
        beta: NDArray[np.float64],
        residuals: NDArray[np.floating],
        bread: NDArray[np.floating],
        *,
        converged: bool,
    ) -> Fit:
        errors = _cluster_errors(self.design, residuals, self.clusters, bread)
        begin = self.n_intercepts if self.is_matched else 0
        names = self.names if self.is_matched else ("intercept", *self.names)
        coefficients = tuple(
            Coefficient(name, round(float(value), _DIGITS), round(float(error), _DIGITS))
            for name, value, error in zip(names, beta[begin:], errors[begin:], strict=True)
        )
        return Fit(coefficients, len(residuals), converged)


def _varies(values: NDArray[np.floating], groups: NDArray[np.int64]) -> bool:
    """Whether any group holds two values."""
    order = np.lexsort((values, groups))
    return bool(np.any((np.diff(groups[order]) == 0) & (np.diff(values[order]) > 0)))


def _cluster_errors(
    design: NDArray[np.float64],
    residuals: NDArray[np.floating],
    clusters: NDArray[np.int64],
    bread: NDArray[np.floating],
) -> NDArray[np.float64]:
    n_clusters = int(clusters.max(initial=-1)) + 1
    scores = np.zeros((n_clusters, design.shape[1]))
    np.add.at(scores, clusters, design * residuals[:, None])
    n, p = design.shape
    small_sample = n_clusters / max(n_clusters - 1, 1) * (n - 1) / max(n - p, 1)
    covariance = small_sample * bread @ _gram(scores, scores) @ bread
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0.0)))
