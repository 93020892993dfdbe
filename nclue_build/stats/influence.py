"""How much of a result hangs on few documents: components, leave one out, remove the busiest, macro averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from nclue_build.core.arrays import offsets
from nclue_build.stats.resampling import N_BOOTSTRAP, Interval, percentile_interval, stream

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


@dataclass(frozen=True, slots=True)
class LeaveOneRange:
    """Smallest and largest mean when the queries of one document are left out; ``n_empty`` left nothing over."""

    low: float
    high: float
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


def leave_one_out(delta: NDArray[np.floating], incidence: Incidence) -> LeaveOneRange:
    """Mean difference without all queries of one document, for every document.

    Args:
        delta: float64, N.
        incidence: Documents of each query.
    """
    degrees = incidence.degrees()
    sums = np.bincount(
        incidence.matrix.indices,
        weights=np.repeat(delta, np.diff(incidence.matrix.indptr)),
        minlength=len(incidence.docs),
    )
    left = len(delta) - degrees
    some = left > 0
    if not some.any():
        return LeaveOneRange(float("nan"), float("nan"), int((~some).sum()))
    means = (delta.sum() - sums[some]) / left[some]
    return LeaveOneRange(float(means.min()), float(means.max()), int((~some).sum()))


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


def remove_busiest(delta: NDArray[np.floating], busiest: Busiest) -> float:
    """Mean difference without the queries of the busiest documents; NaN when none are left.

    Args:
        delta: float64, N.
        busiest: The documents.
    """
    return float(delta[busiest.left].mean()) if busiest.left.any() else float("nan")


def document_macro(delta: NDArray[np.floating], golds: Incidence) -> float:
    """Mean over gold documents of the mean difference of the queries they are gold for."""
    sums = np.bincount(
        golds.matrix.indices, weights=np.repeat(delta, np.diff(golds.matrix.indptr)), minlength=len(golds.docs)
    )
    return float((sums / golds.degrees()).mean())


def thin(golds: Incidence, *, seed: int, n_draws: int = N_BOOTSTRAP) -> NDArray[np.int64]:
    """Draw one query for each gold document, many times.

    Args:
        golds: Gold documents of each query.
        seed: Of the analysis.
        n_draws: Replicates.

    Returns:
        int64, n_draws x documents: queries.
    """
    by_doc = golds.matrix.tocsc()
    degrees = golds.degrees()
    places = stream(seed, "one query per document").random((n_draws, len(degrees)))
    return np.asarray(by_doc.indices[by_doc.indptr[:-1] + (places * degrees).astype(np.int64)], dtype=np.int64)


def one_query_per_document(delta: NDArray[np.floating], golds: Incidence, draws: NDArray[np.int64]) -> Interval:
    """Average over documents the difference of one query of each, many times.

    The interval measures what thinning does, not the sampling error: it centres on the document macro.

    Args:
        delta: float64, N.
        golds: Gold documents of each query.
        draws: The queries, of :func:`thin`.
    """
    return percentile_interval(document_macro(delta, golds), delta[draws].mean(axis=1))
