"""Bootstrap intervals: over exact families, and crossed over queries and documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.arrays import offsets
from nclue_build.stats.resampling import (
    N_BOOTSTRAP,
    Interval,
    group_sums,
    on_grid,
    percentile_intervals,
    resample_counts,
    stream,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.stats.judgments import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class CrossedWeights:
    """Weights of the queries in each replicate of the crossed bootstrap.

    Args:
        weights: float64, replicates x N: w_q u_q.
        totals: float64, replicates: their sums.
        n_redrawn: Replicates that were drawn again, since their weights were all 0.
    """

    weights: NDArray[np.float64]
    totals: NDArray[np.float64]
    n_redrawn: int

    def means(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Means of each replicate: theta* = sum w_q u_q x_q / sum w_q u_q.

        Those of a difference are the differences of the means of its two runs.

        Args:
            values: float64, N: per-query values.

        Returns:
            float64, replicates.
        """
        # Not a matrix product, whose digits would depend on the threads: the weights are on no grid.
        return np.asarray(np.einsum("bq,q->b", self.weights, np.ascontiguousarray(values)) / self.totals)


@dataclass(frozen=True, slots=True, eq=False)
class FamilyDraws:
    """Replicates of the exact-family bootstrap, drawn once for everything that is resampled (paper, section 6).

    F families are drawn with replacement; a family drawn w times counts with all its queries, w times:
    theta* = sum w_f sum_(q in f) x_q / sum w_f |f| [R]. Whatever shares the draws is paired.

    Args:
        families: int64, N: family of each query.
        counts: float64 (whole numbers), replicates x F: how often each family was drawn.
        totals: float64 (whole numbers), replicates: queries drawn.
    """

    families: NDArray[np.int64]
    counts: NDArray[np.float64]
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, families: NDArray[np.int64], *, seed: int, n_draws: int = N_BOOTSTRAP) -> FamilyDraws:
        """Draw.

        Args:
            families: int64, N, as of :meth:`Judgments.families`.
            seed: Of the analysis.
            n_draws: Replicates.
        """
        n_families = int(families.max()) + 1 if len(families) else 0
        counts = resample_counts(stream(seed, "exact-family bootstrap"), n_families, n_draws)
        return cls(families, counts, counts @ np.bincount(families, minlength=n_families).astype(np.float64))

    def means(self, values: NDArray[np.floating | np.bool_]) -> NDArray[np.float64]:
        """Means of each replicate.

        Args:
            values: N x columns, or N; per-query values.

        Returns:
            float64, replicates x columns.
        """
        columns = np.asarray(values, dtype=np.float64).reshape(len(self.families), -1)
        n_families = self.counts.shape[1]
        magnitude = np.bincount(self.families, np.abs(columns).max(axis=1, initial=0.0), minlength=n_families)
        exact = on_grid(columns, float(magnitude.max(initial=0.0)) * max(n_families, 1))
        return np.asarray((self.counts @ group_sums(exact, self.families)) / self.totals[:, None])

    def intervals(self, values: NDArray[np.floating | np.bool_]) -> list[Interval]:
        """95 % intervals of the mean of each column; see :meth:`means`."""
        columns = np.asarray(values, dtype=np.float64).reshape(len(self.families), -1)
        return percentile_intervals(columns.mean(axis=0), self.means(columns))


def document_weights(judgments: Judgments, *, gold_only: bool) -> csr_array:
    """Each query's documents with equal weights that sum to 1, over the documents that occur at all.

    Args:
        judgments: Of the benchmark.
        gold_only: Golds, or all judged documents.

    Returns:
        N x documents, float64; a query without such a document has an empty row.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes most of a second to load, and scoring has no use for it

    chosen = judgments.gold if gold_only else np.ones(len(judgments.docs), dtype=np.bool_)
    docs, queries = judgments.docs[chosen], judgments.queries[chosen]
    distinct, columns = np.unique(docs, return_inverse=True)
    n_docs = np.bincount(queries, minlength=len(judgments.query_ids))
    return csr_array((1.0 / n_docs[queries], columns, offsets(n_docs)), shape=(len(n_docs), len(distinct)))


def crossed_weights(judgments: Judgments, *, gold_only: bool, seed: int, n_draws: int = N_BOOTSTRAP) -> CrossedWeights:
    """Draw queries and, independently, documents.

    Queries get multinomial weights w, distinct documents v; u_q is the mean of v over the query's documents: the mean,
    since sums or products do not fit the published intervals (established from its published numbers).

    Args:
        judgments: Of the benchmark.
        gold_only: Documents of a query are its golds, or all its judged documents.
        seed: Of the analysis.
        n_draws: Replicates.
    """
    memberships = document_weights(judgments, gold_only=gold_only)
    rng = stream(seed, f"crossed bootstrap, {'gold' if gold_only else 'judged'}")
    n_queries, n_docs = memberships.shape
    weights = np.empty((n_draws, n_queries))
    n_redrawn = 0
    for draw in range(n_draws):
        while True:
            w = np.bincount(rng.integers(0, n_queries, size=n_queries), minlength=n_queries)
            v = np.bincount(rng.integers(0, n_docs, size=n_docs), minlength=n_docs)
            weights[draw] = w * (memberships @ v.astype(np.float64))
            if weights[draw].any():
                break
            n_redrawn += 1
    return CrossedWeights(weights, weights.sum(axis=1), n_redrawn)
