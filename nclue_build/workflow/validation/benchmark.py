"""The files of the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.core.ids import page_id
from nclue_build.store.trec import read_trec_qrels
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nclue_build.records.benchmark import Qrel, Query
    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.report import Report

QUERIES: Final = "queries.jsonl"
QRELS: Final = "qrels.jsonl"
META: Final = "qrels.meta.json"
TREC_OF_DOCUMENTS: Final = (
    "qrels.trec",
    "qrels.gold.trec",
    "qrels.conditions.trec",
    *(f"n{n}/{name}" for n in (2, 3) for name in ("qrels.trec", "qrels.gold.trec")),
)
TREC_OF_PAGES: Final = "qrels.pages.trec"
REPORTS: Final = ("composition", "forms_qa")


def check_benchmark(report: Report, documents: KnownDocuments, conditions: frozenset[str]) -> None:
    """Every file of the current benchmark that one can check without recomputing."""
    folder = report.build.benchmark
    queries = _check_queries(report, folder / QUERIES, documents, conditions)
    _check_qrels(report, folder / QRELS, documents, queries)
    meta = report.file(folder / META, find_family("qrels.meta").model)
    if meta is not None and (folder / QRELS).is_file() and sha256_file(folder / QRELS) != meta.qrels_sha256:
        report.add("digest-differs", f"differs from the digest in {META}", folder / QRELS)
    for name in REPORTS:
        report.file(folder / f"{name}.json", find_family(name).model)
    for _ in report.rows(folder / "rejected.jsonl", find_family("rejected").model):
        pass
    for name in TREC_OF_DOCUMENTS:
        _check_trec(report, folder / name, documents.in_benchmark, queries)
    pages = frozenset(
        page_id(doc_id, page) for doc_id in documents.in_benchmark for page in range(1, documents.n_pages[doc_id] + 1)
    )
    _check_trec(report, folder / TREC_OF_PAGES, pages, queries)
    if (folder / "gate.json").exists():
        report.file(folder / "gate.json", find_family("gate").model)


def _check_queries(
    report: Report, path: Path, documents: KnownDocuments, conditions: frozenset[str]
) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    query: Query
    rows = report.rows(path, find_family("queries").model)
    for line, query in report.ids(rows, path, "query_id", "duplicate-query"):
        queries[query.query_id] = query
        if query.query_id in documents.all:
            report.add("query-id-clash", f"{query.query_id!r} is also a document id", path, line, query.query_id)
        for condition in query.conditions:
            if condition.condition_id not in conditions:
                message = f"condition {condition.condition_id!r} is not in the inventory"
                report.add("unknown-condition", message, path, line, query.query_id)
        for doc_id in query.golds:
            if doc_id not in documents.in_benchmark:
                message = f"gold {doc_id!r} is not in the benchmark's corpus"
                report.add("unknown-document", message, path, line, query.query_id)
    return queries


def _check_qrels(report: Report, path: Path, documents: KnownDocuments, queries: Mapping[str, Query]) -> None:
    seen: dict[tuple[str, str], int] = {}
    row: Qrel
    for line, row in report.rows(path, find_family("qrels").model):
        pair = (row.query_id, row.doc_id)
        if (first := seen.setdefault(pair, line)) != line:
            report.add("duplicate-qrel", f"{pair} stands twice (first in line {first})", path, line, row.query_id)
        if row.doc_id not in documents.in_benchmark:
            message = f"document {row.doc_id!r} is not in the benchmark's corpus"
            report.add("unknown-document", message, path, line, row.doc_id)
        query = queries.get(row.query_id)
        if query is None:
            report.add("unknown-query", f"query {row.query_id!r} is not in {QUERIES}", path, line, row.query_id)
            continue
        if len(row.pages) != query.n:
            message = f"{pair}: {len(row.pages)} page lists for {query.n} conditions"
            report.add("qrel-pages-differ", message, path, line, row.query_id)
        known = {condition.condition_id for condition in query.conditions}
        named = {quote.condition_id for quote in row.evidence} | set(row.violator.conditions if row.violator else ())
        for condition_id in sorted(named - known):
            message = f"{pair}: condition {condition_id!r} is not one of the query's"
            report.add("unknown-condition", message, path, line, row.query_id)


def _check_trec(report: Report, path: Path, documents: frozenset[str], queries: Mapping[str, Query]) -> None:
    try:
        rows = read_trec_qrels(path)
    except DataError as error:
        report.failed(path, error)
        return
    report.counts["files"] += 1
    report.counts["rows"] += len(rows)
    for number, row in enumerate(rows, start=1):
        if row.query_id not in queries:
            report.add("unknown-query", f"query {row.query_id!r} is not in {QUERIES}", path, number, row.query_id)
        if row.doc_id not in documents:
            report.add("unknown-document", f"{row.doc_id!r} is not in the benchmark's corpus", path, number, row.doc_id)
