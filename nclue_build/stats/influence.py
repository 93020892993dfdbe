"""How much of a result hangs on few documents: components, leave one out, remove the busiest, macro averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from nclue_build.core.arrays import offsets
from nclue_build.stats.resampling import N_BOOTSTRAP, Interval, on_grid, percentile_intervals, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nclue_build.stats.judgments import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """Which documents hang on which queries.

    Args:
        matrix: bool, N x documents that occur.
        docs: int64: code of each column.
    """

    matrix: csr_array
    docs: NDArray[np.int64]

    @classmethod
    def of(cls, judgments: Judgments, *, gold_only: bool) -> Incidence:
        """D(q) is the golds of a query, or all its judged documents."""
        chosen = judgments.gold if gold_only else np.ones(len(judgments.docs), dtype=np.bool_)
        queries = judgments.queries[chosen]
        distinct, columns = np.unique(judgments.docs[chosen], return_inverse=True)
        starts = offsets(np.bincount(queries, minlength=len(judgments.query_ids)))
        ones = np.ones(len(columns), dtype=np.bool_)
        return cls(csr_array((ones, columns, starts), shape=(len(starts) - 1, len(distinct))), distinct)

    def degrees(self) -> NDArray[np.int64]:
        """Queries of each document."""
        return np.bincount(self.matrix.indices, minlength=len(self.docs))

    def sums(self, deltas: NDArray[np.floating]) -> NDArray[np.float64]:
        """Over the queries of each document, of N x contrasts: documents x contrasts."""
        return np.asarray(self.matrix.T @ deltas)


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneRanges:
    """Smallest and largest mean when the queries of one document are left out.

    Args:
        low: float64, contrasts; NaN where nothing is left without any document.
        high: The same.
        n_empty: Documents without whose queries nothing is left: skipped.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_empty: int


def component_sizes(incidence: Incidence) -> list[int]:
    """Connected components of the graph of queries and documents, by their number of queries, largest first."""
    n_queries, n_docs = incidence.matrix.shape
    edges = incidence.matrix.tocoo()
    rows, columns = edges.coords
    n_nodes = n_queries + n_docs
    graph = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns + n_queries)), shape=(n_nodes, n_nodes))
    _, numbers = connected_components(graph, directed=False)
    return sorted(np.unique(numbers[:n_queries], return_counts=True)[1].tolist(), reverse=True)


def leave_one_out(deltas: NDArray[np.floating], incidence: Incidence) -> LeaveOneRanges:
    """Mean differences without all queries of one document, for every document.

    Args:
        deltas: float64, N x contrasts.
        incidence: Documents of each query.
    """
    left = len(deltas) - incidence.degrees()
    some = left > 0
    if not some.any():
        nothing = np.full(deltas.shape[1], np.nan)
        return LeaveOneRanges(nothing, nothing, len(left))
    means = (deltas.sum(axis=0) - incidence.sums(deltas)[some]) / left[some, None]
    return LeaveOneRanges(means.min(axis=0), means.max(axis=0), int((~some).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Busiest:
    """The documents with the most queries, and what is left without them.

    Degrees are counted once, before anything is removed; equal degrees go by document id [R, fits].

    Args:
        docs: Codes, busiest first.
        left: bool, N: queries that hang on none of them.
    """

    docs: tuple[int, ...]
    left: NDArray[np.bool_]

    @classmethod
    def of(cls, incidence: Incidence, doc_ids: tuple[str, ...], n_docs: int = 20) -> Busiest:
        """Find them.

        Args:
            incidence: Documents of each query.
            doc_ids: Ids by code.
            n_docs: How many documents to remove.
        """
        degrees = incidence.degrees()
        order = sorted(range(len(degrees)), key=lambda column: (-degrees[column], doc_ids[incidence.docs[column]]))
        removed = order[:n_docs]
        touched = np.asarray(incidence.matrix[:, removed].sum(axis=1)).ravel() > 0
        return cls(tuple(int(incidence.docs[column]) for column in removed), ~touched)


def remove_busiest(deltas: NDArray[np.floating], busiest: Busiest) -> NDArray[np.float64]:
    """Mean differences without the queries of the busiest documents; NaN when none are left.

    Args:
        deltas: float64, N x contrasts.
        busiest: The documents.

    Returns:
        float64, contrasts.
    """
    return np.asarray(deltas[busiest.left].mean(axis=0)) if busiest.left.any() else np.full(deltas.shape[1], np.nan)


def document_macro(deltas: NDArray[np.floating], golds: Incidence) -> NDArray[np.float64]:
    """Mean over gold documents of the mean difference of the queries they are gold for.

    Args:
        deltas: float64, N x contrasts.
        golds: Gold documents of each query.

    Returns:
        float64, contrasts.
    """
    return np.asarray((golds.sums(deltas) / golds.degrees()[:, None]).mean(axis=0))


def thin(golds: Incidence, *, seed: int, n_draws: int = N_BOOTSTRAP) -> NDArray[np.float64]:
    """Draw one query for each gold document, many times.

    Args:
        golds: Gold documents of each query.
        seed: Of the analysis.
        n_draws: Replicates.

    Returns:
        float64 (whole numbers), n_draws x N: for how many documents each query was drawn.
    """
    by_doc = golds.matrix.tocsc()
    degrees = golds.degrees()
    places = stream(seed, "one query per document").random((n_draws, len(degrees)))
    drawn = by_doc.indices[by_doc.indptr[:-1] + (places * degrees).astype(np.int64)]
    n_queries = golds.matrix.shape[0]
    return np.stack([np.bincount(row, minlength=n_queries) for row in drawn]).astype(np.float64)


def one_query_per_document(
    deltas: NDArray[np.floating], golds: Incidence, draws: NDArray[np.float64]
) -> list[Interval]:
    """Average over documents the difference of one query of each, many times.

    The interval measures what thinning does, not the sampling error: it centres on the document macro.

    Args:
        deltas: float64, N x contrasts.
        golds: Gold documents of each query.
        draws: Of :func:`thin`.
    """
    n_docs = len(golds.docs)
    exact = on_grid(deltas, float(np.abs(deltas).max(initial=0.0)) * n_docs)
    return percentile_intervals(document_macro(deltas, golds), draws @ exact / n_docs)
