"""A few queries of a benchmark with their golds, to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.records.benchmark import Qrel, Query
from nclue_build.store.jsonl import read_jsonl, run_first
from nclue_build.store.layout import QRELS, QUERIES

if TYPE_CHECKING:
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class Sample:
    """A query and its gold judgments, sorted by document."""

    query: Query
    golds: tuple[Qrel, ...]


def sample_queries(build: Build, size: int) -> tuple[Sample, ...]:
    """Take queries of every arity in turn, evenly spread over each arity's ids.

    Args:
        build: A build whose benchmark is made.
        size: How many, at most.

    Returns:
        Samples, the largest arity first.

    Raises:
        UsageError: there is no benchmark yet.
        DataError: the benchmark's files are missing or broken.
    """
    if size < 1:
        return ()
    if not (build.benchmark / QUERIES).exists():
        raise UsageError("there are no queries to show. Run 'nclue-build run' first")
    with build.workspace.relative_paths():
        by_arity: dict[int, list[Query]] = {}
        for query in read_jsonl(build.benchmark / QUERIES, Query, advice=run_first("compose")):
            by_arity.setdefault(query.n, []).append(query)
        chosen: list[Query] = []
        for rank, arity in enumerate(sorted(by_arity, reverse=True)):
            queries = by_arity[arity]
            open_arities = len(by_arity) - rank
            share = min(len(queries), -(-(size - len(chosen)) // open_arities))
            chosen.extend(queries[index * len(queries) // share] for index in range(share))
        golds: dict[str, list[Qrel]] = {query.query_id: [] for query in chosen}
        for row in read_jsonl(build.benchmark / QRELS, Qrel, advice=run_first("compose")):
            if row.gold and row.query_id in golds:
                golds[row.query_id].append(row)
    return tuple(Sample(query, tuple(sorted(golds[query.query_id], key=lambda row: row.doc_id))) for query in chosen)
