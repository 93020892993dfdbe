"""A benchmark as scoring needs it: judgments, strata and the ids a run may name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, Finding
from nclue_build.core.findings import Findings
from nclue_build.core.phrases import counted
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.stats.judgments import Judgments
from nclue_build.store.jsonl import read_json, read_jsonl, read_numbered, run_first
from nclue_build.store.layout import META, QRELS, QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nclue_build.stats.support import Conditions
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Queries, judgments and corpus of a build.

    Args:
        name: Of the build.
        queries: By id, sorted.
        judgments: All nonzero ones.
        doc_ids: Every document that a run may return, sorted.
        page_sets: By query, then gold document: the pages of each condition; empty where judgments name no pages.
        frequencies: Of each query, the number of documents that establish each of its conditions.
        qrels_sha256: Digest of ``qrels.jsonl``: every figure is about these judgments.
    """

    name: str
    queries: Mapping[str, Query]
    judgments: Judgments
    doc_ids: tuple[str, ...]
    page_sets: Mapping[str, Mapping[str, Conditions]]
    frequencies: Mapping[str, tuple[int, ...]]
    qrels_sha256: str


def load_benchmark(build: Build, folder: Path | None = None) -> Benchmark:
    """Read the benchmark of a build.

    Args:
        build: The build.
        folder: Another copy of its benchmark, such as ``at-P0``; None: the current one.

    Raises:
        DataError: a file is missing or broken, queries or qrels are not those that ``qrels.meta.json`` describes, or
            documents are judged that the corpus does not have.
    """
    home = build.benchmark if folder is None else folder
    advice = run_first("compose") if folder is None else "no benchmark is there"
    restore = _how_to_restore(build, folder)
    queries = {query.query_id: query for query in read_jsonl(home / QUERIES, Query, advice=advice)}
    meta = read_json(home / META, QrelsMeta, advice=advice)
    try:
        digest = sha256_file(home / QRELS)
    except FileNotFoundError:
        raise DataError.from_findings(
            [Finding("file-missing", f"file not found: {advice}", str(home / QRELS))]
        ) from None
    if digest != meta.qrels_sha256:
        message = f"is {digest[:12]}..., {META} describes {meta.qrels_sha256[:12]}...: {restore}"
        raise DataError.from_findings([Finding("digest-differs", message, str(home / QRELS))])
    if len(queries) != meta.n_queries:
        message = f"has {counted(len(queries), 'query')}, {META} describes {meta.n_queries}: {restore}"
        raise DataError.from_findings([Finding("meta-differs", message, str(home / QUERIES))])
    rows = read_numbered(home / QRELS, Qrel, advice=advice)
    doc_ids = tuple(row.doc_id for row in benchmark_documents(build.quality))
    known, found = set(doc_ids), Findings()
    page_sets: dict[str, dict[str, Conditions]] = {}
    frequencies = {query_id: [0] * query.n for query_id, query in queries.items()}

    def labels() -> Iterator[tuple[str, str, int, bool]]:
        for line, row in rows:
            if row.doc_id not in known:
                known.add(row.doc_id)  # each is named once
                message = f"document {row.doc_id!r} is not in the corpus: were the queries composed on another one?"
                found.add("unknown-document", message, path=str(home / QRELS), line=line, id=row.doc_id)
            if row.gold and any(row.pages):
                page_sets.setdefault(row.query_id, {})[row.doc_id] = tuple(map(frozenset, row.pages))
            counts = frequencies.get(row.query_id, [])
            for place, pages in enumerate(row.pages[: len(counts)]):
                counts[place] += bool(pages)
            yield row.query_id, row.doc_id, row.grade, row.gold

    try:
        judgments = Judgments.of({query_id: query.n for query_id, query in queries.items()}, labels())
    except ValueError as error:
        raise DataError.from_findings([Finding("bad-record", str(error), str(home / QRELS))]) from None
    found.raise_any()
    return Benchmark(
        build.name,
        dict(sorted(queries.items())),
        judgments,
        doc_ids,
        page_sets,
        {query_id: tuple(counts) for query_id, counts in frequencies.items()},
        digest,
    )


def _how_to_restore(build: Build, folder: Path | None) -> str:
    """What to do about a file that is not as it was; copies are not composed, and repaired benchmarks not anew."""
    can_compose = folder is None and max(build.versions(), default=0) == 0
    return "restore the file" + (", or run 'nclue-build compose --fresh'" if can_compose else "")
