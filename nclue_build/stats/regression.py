"""Difficulty regression: what makes queries hard, with errors clustered by exact family [R]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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
    """A fitted model; ``dropped`` names predictors without any spread, ``converged`` is False where it did not fit."""

    kind: str
    coefficients: tuple[Coefficient, ...]
    dropped: tuple[str, ...]
    n_queries: int
    n_clusters: int
    converged: bool


def linear_fit(
    y: NDArray[np.floating], predictors: Mapping[str, NDArray[np.floating]], clusters: NDArray[np.int64]
) -> Fit:
    """Least squares with cluster-robust errors (CR1; Liang and Zeger, 1986).

    Args:
        y: float64, N; 1 - s(q) for the study's regression.
        predictors: float64, N each, standardised here; an intercept is added.
        clusters: int64, N, numbered from 0.
    """
    names, design, dropped = _design(predictors, len(y))
    bread = np.asarray(np.linalg.pinv(_gram(design, design)), dtype=np.float64)
    beta = np.asarray(bread @ _project(design, y), dtype=np.float64)
    errors = _cluster_errors(design, y - _predict(design, beta), clusters, bread)
    return _fit("linear", names, beta, errors, dropped, clusters, converged=True)


def logistic_fit(
    y: NDArray[np.floating], predictors: Mapping[str, NDArray[np.floating]], clusters: NDArray[np.int64]
) -> Fit:
    """Logistic regression by Newton's method with cluster-robust errors: the check of the linear model.

    Args:
        y: N values of 0 or 1.
        predictors: As for :func:`linear_fit`.
        clusters: int64, N, numbered from 0.

    Returns:
        ``converged`` is False under separation, also of a part of the queries, where no finite fit exists; then the
        figures mean nothing.
    """
    names, design, dropped = _design(predictors, len(y))
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
    errors = _cluster_errors(design, y - expected, clusters, np.linalg.pinv(information))
    # A part of the queries that some predictor decides alone drives a coefficient to infinity.
    separated = bool(np.any((expected < _CERTAIN) | (expected > 1 - _CERTAIN)))
    return _fit("logistic", names, beta, errors, dropped, clusters, converged=converged and not separated)


# Sums over queries go through einsum, which adds in one order: those of a matrix product depend on the threads.


def _gram(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,qj->ij", left, right))


def _project(design: NDArray[np.float64], values: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,q->i", design, values))


def _predict(design: NDArray[np.float64], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("qi,i->q", design, beta))


def _logistic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -700.0, 700.0))))


def _design(
    predictors: Mapping[str, NDArray[np.floating]], n_queries: int
) -> tuple[list[str], NDArray[np.float64], tuple[str, ...]]:
    names, columns, dropped = ["intercept"], [np.ones(n_queries)], []
    for name, values in predictors.items():
        spread = float(np.std(values))
        if spread > 0:
            names.append(name)
            columns.append((values - np.mean(values)) / spread)
        else:
            dropped.append(name)
    return names, np.column_stack(columns), tuple(dropped)


def _cluster_errors(
    design: NDArray[np.float64],
    residuals: NDArray[np.floating],
    clusters: NDArray[np.int64],
    bread: NDArray[np.floating],
) -> NDArray[np.float64]:
    n_clusters = int(clusters.max()) + 1
    scores = np.zeros((n_clusters, design.shape[1]))
    np.add.at(scores, clusters, design * residuals[:, None])
    n, p = design.shape
    small_sample = n_clusters / max(n_clusters - 1, 1) * (n - 1) / max(n - p, 1)
    covariance = small_sample * bread @ _gram(scores, scores) @ bread
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0.0)))


def _fit(  # noqa: PLR0913 - the parts of a result
    kind: str,
    names: list[str],
    beta: NDArray[np.float64],
    errors: NDArray[np.float64],
    dropped: tuple[str, ...],
    clusters: NDArray[np.int64],
    *,
    converged: bool,
) -> Fit:
    coefficients = tuple(
        Coefficient(name, round(float(value), _DIGITS), round(float(error), _DIGITS))
        for name, value, error in zip(names, beta, errors, strict=True)
    )
    return Fit(kind, coefficients, dropped, len(clusters), len(np.unique(clusters)), converged)
