"""Runs against a benchmark: ids become codes, rows become a matrix, and what the benchmark does not know is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.stats.rankings import ABSENT
from nclue_build.store.runs import PageScores, read_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from nclue_build.score.benchmark import Benchmark
    from nclue_build.store.runs import RunColumns


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCodes:
    """Codes of all documents of a benchmark: judged ones first, as in the judgments; then the others.

    Args:
        codes: By document id.
        docno_ranks: int64, by code: rank in the byte order of ids, with which trec_eval breaks ties.
    """

    codes: Mapping[str, int]
    docno_ranks: NDArray[np.int64]

    @classmethod
    def of(cls, benchmark: Benchmark) -> DocumentCodes:
        """Number the documents."""
        judged = benchmark.judgments.doc_ids
        known = set(judged)
        ids = (*judged, *(doc_id for doc_id in benchmark.doc_ids if doc_id not in known))
        order = sorted(range(len(ids)), key=lambda code: ids[code].encode())
        ranks = np.empty(len(ids), dtype=np.int64)
        ranks[order] = np.arange(len(ids))
        return cls({doc_id: code for code, doc_id in enumerate(ids)}, ranks)


@dataclass(frozen=True, slots=True, eq=False)
class LoadedRun:
    """A run over all queries of a benchmark, in the order of its rows.

    Args:
        name: Of the run.
        docs: int64, N x depth: document codes, absent ones at the end.
        scores: float64, N x depth.
        missing: Queries of the benchmark that the run does not have; each counts as 0.
        dropped_queries: Ids the benchmark does not have, with their number of rows, where that was allowed.
        dropped_docs: The same for documents.
        n_dropped: Rows dropped in all.
        pages: By (query, document), where the run is page-aware: (page, score) in its order.
    """

    name: str
    docs: NDArray[np.int64]
    scores: NDArray[np.float64]
    missing: tuple[str, ...]
    dropped_queries: Mapping[str, int]
    dropped_docs: Mapping[str, int]
    n_dropped: int
    pages: Mapping[tuple[str, str], PageScores] | None


def load_run(
    path: Path, benchmark: Benchmark, codes: DocumentCodes, *, name: str | None = None, allow_unknown: bool = False
) -> LoadedRun:
    """Read a run and put it into the order of the benchmark's queries.

    Args:
        path: Of the run file.
        benchmark: What it is to be scored on.
        codes: Of the benchmark's documents.
        name: What to call it; by default the name of the file without its endings.
        allow_unknown: Drop and count rows of queries or documents that the benchmark does not have.

    Raises:
        DataError: as :func:`~nclue_build.store.runs.read_run`, and with the first line of every unknown id.
    """
    columns = read_run(path)
    queries = _map(columns.query_ids, benchmark.judgments.query_code)
    docs = _map(columns.doc_ids, codes.codes)
    row_queries, row_docs = queries[columns.queries], docs[columns.docs]
    dropped_queries = _unknown(columns.query_ids, columns.queries, row_queries < 0)
    dropped_docs = _unknown(columns.doc_ids, columns.docs, row_docs < 0)
    if (dropped_queries or dropped_docs) and not allow_unknown:
        raise _unknown_error(path, columns, row_queries < 0, row_docs < 0)
    kept = (row_queries >= 0) & (row_docs >= 0)
    matrix_docs, matrix_scores = _matrix(
        row_queries[kept], row_docs[kept], columns.scores[kept], len(benchmark.queries)
    )
    missing = np.flatnonzero(np.bincount(row_queries[kept], minlength=len(benchmark.queries)) == 0)
    pages = None
    if columns.pages is not None:
        pages = {
            (columns.query_ids[columns.queries[row]], columns.doc_ids[columns.docs[row]]): columns.pages[row]
            for row in np.flatnonzero(kept).tolist()
        }
    return LoadedRun(
        name or run_name(path),
        matrix_docs,
        matrix_scores,
        tuple(benchmark.judgments.query_ids[query] for query in missing.tolist()),
        dropped_queries,
        dropped_docs,
        int((~kept).sum()),
        pages,
    )


def run_name(path: Path) -> str:
    """What to call a run by its file: the name without ``.gz`` and one more ending."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


def _map(ids: tuple[str, ...], codes: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([codes.get(one, -1) for one in ids], dtype=np.int64)


def _unknown(ids: tuple[str, ...], rows: NDArray[np.int64], wrong: NDArray[np.bool_]) -> dict[str, int]:
    found, counts = np.unique(rows[wrong], return_counts=True)
    return dict(sorted(zip((ids[place] for place in found.tolist()), counts.tolist(), strict=True)))


def _unknown_error(
    path: Path, columns: RunColumns, bad_queries: NDArray[np.bool_], bad_docs: NDArray[np.bool_]
) -> DataError:
    """Every unknown id once, at its first line, with the number of its rows."""
    found = Findings()
    for kind, ids, rows, wrong in (
        ("query", columns.query_ids, columns.queries, bad_queries),
        ("document", columns.doc_ids, columns.docs, bad_docs),
    ):
        places = np.flatnonzero(wrong)
        distinct, first, counts = np.unique(rows[places], return_index=True, return_counts=True)
        for which in np.argsort(first, kind="stable").tolist():
            message = (
                f"{kind} {ids[distinct[which]]!r} is not in the benchmark ({counts[which]} rows): "
                "was the run made for another build? --allow-unknown drops and counts such rows"
            )
            line = int(columns.lines[places[first[which]]])
            found.add("unknown-run-id", message, path=str(path), line=line, id=ids[distinct[which]])
    return DataError.from_findings(found.kept, total=found.total)


def _matrix(
    queries: NDArray[np.int64], docs: NDArray[np.int64], scores: NDArray[np.float64], n_queries: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows by query, in their order within each query; one depth for all, padded at the end."""
    if len(queries) and (queries[1:] < queries[:-1]).any():
        order = np.argsort(queries, kind="stable")
        queries, docs, scores = queries[order], docs[order], scores[order]
    depths = np.bincount(queries, minlength=n_queries)
    places = np.arange(depths.max(initial=0)) < depths[:, None]
    matrix_docs = np.full(places.shape, ABSENT, dtype=np.int64)
    matrix_scores = np.full(places.shape, -np.inf)
    matrix_docs[places] = docs
    matrix_scores[places] = scores
    return matrix_docs, matrix_scores
