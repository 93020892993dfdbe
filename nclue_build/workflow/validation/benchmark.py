"""The files of the benchmark."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.findings import MAX_FINDINGS
from nclue_build.core.ids import page_id
from nclue_build.store import layout
from nclue_build.workflow.families import find_family
from nclue_build.workflow.validation.composition import Composing, check_composition, check_forms
from nclue_build.workflow.validation.repairs import check_repair

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nclue_build.records.base import Level
    from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.gate import GateReport
    from nclue_build.records.inventory import Rejected
    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.inventory import KnownInventory
    from nclue_build.workflow.validation.reading import Reading

_TREC_OF_DOCUMENTS: Final = tuple(name for name in layout.TREC_FILES if name != layout.TREC_PAGES)


def check_benchmark(
    reading: Reading, documents: KnownDocuments, inventory: KnownInventory, config: BuildConfig
) -> None:
    """Every file of the current benchmark that one can check without recomputing."""
    folder = reading.build.benchmark
    qrels = folder / layout.QRELS
    queries = _check_queries(reading, folder / layout.QUERIES, documents, inventory.condition_ids)
    n_qrels, n_quotes = _check_qrels(reading, qrels, documents, queries)
    meta: QrelsMeta | None = reading.file(folder / layout.META, find_family("qrels.meta").model)
    if meta is not None and qrels.is_file() and sha256_file(qrels) != meta.qrels_sha256:
        reading.add("digest-differs", f"differs from the digest in {layout.META}", qrels)
    check_forms(reading, tuple(queries.values()))
    composed = queries
    if reading.build.composed != folder:
        check_repair(reading, meta, tuple(queries.values()))
        path = reading.build.composed / layout.QUERIES
        composed = {query.query_id: query for _, query in reading.rows(path, find_family("queries").model)}
    rejected = _check_rejected(reading, reading.build.composed / layout.REJECTED, composed)
    judge = meta.item_judge if meta else None
    known = Composing(tuple(composed.values()), tuple(rejected), documents, config, judge)
    check_composition(reading, known)
    for name in _TREC_OF_DOCUMENTS:
        _check_trec(reading, folder / name, documents.in_benchmark, queries)
    pages = frozenset(
        page_id(doc_id, page) for doc_id in documents.in_benchmark for page in range(1, documents.n_pages[doc_id] + 1)
    )
    _check_trec(reading, folder / layout.TREC_PAGES, pages, queries)
    if (folder / layout.GATE_REPORT).exists():
        counts = {
            "documents": len(documents.in_benchmark),
            "conditions": len(inventory.conditions),
            "evidence": inventory.n_evidence,
            "queries": len(queries),
            "qrels": n_qrels,
            "quotes": n_quotes,
        }
        if inventory.level == "page":
            counts["pages"] = sum(documents.n_pages[doc_id] for doc_id in documents.in_benchmark)
        _check_gate_report(reading, inventory.level, counts)


def _check_rejected(reading: Reading, path: Path, queries: Mapping[str, Query]) -> list[Rejected]:
    """Candidates that are no query, each once, in order."""
    rows = reading.ids(reading.rows(path, find_family("rejected").model), path, "id", "duplicate-id")
    rejected: list[Rejected] = []
    row: Rejected
    for line, row in reading.ascending(rows, path, "id"):
        rejected.append(row)
        if (row.stage, row.kind) != ("compose", "candidate"):
            reading.add("composition-differs", f"{row.stage} {row.kind} is no candidate", path, line, row.id)
        if row.id in queries:
            reading.add("composition-differs", f"{row.id!r} is also a query", path, line, row.id)
    return rejected


def _check_gate_report(reading: Reading, level: Level, counts: Mapping[str, int]) -> None:
    """gate.json: that it agrees with itself and with the files it is about."""
    path = reading.build.benchmark / layout.GATE_REPORT
    report: GateReport | None = reading.file(path, find_family("gate").model)
    if report is None:
        return
    total = sum(report.findings_by_code.values())
    listed = Counter(finding.code for finding in report.findings)
    if (
        report.ok != (not report.n_findings)
        or report.n_findings != total
        or len(report.findings) != min(total, MAX_FINDINGS)
        or any(count > report.findings_by_code.get(code, 0) for code, count in listed.items())
    ):
        message = f"ok {report.ok}, n_findings {report.n_findings}, {total} by code, {len(report.findings)} listed"
        reading.add("gate-report-differs", f"{message}: run 'nclue-build gate'", path)
    told = {name: report.counts.get(name) for name in counts}
    if told != counts or report.level != level:
        message = f"it counts {told} at {report.level} level, there are {dict(counts)} at {level} level"
        reading.add("gate-report-differs", f"{message}: run 'nclue-build gate'", path)


def _check_queries(
    reading: Reading, path: Path, documents: KnownDocuments, conditions: frozenset[str]
) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    query: Query
    rows = reading.rows(path, find_family("queries").model)
    for line, query in reading.ids(rows, path, "query_id", "duplicate-query"):
        queries[query.query_id] = query
        if query.query_id in documents.all:
            reading.add("query-id-clash", f"{query.query_id!r} is also a document id", path, line, query.query_id)
        for condition in query.conditions:
            if condition.condition_id not in conditions:
                message = f"condition {condition.condition_id!r} is not in the inventory"
                reading.add("unknown-condition", message, path, line, query.query_id)
        for doc_id in query.golds:
            if doc_id not in documents.in_benchmark:
                message = f"gold {doc_id!r} is not in the benchmark's corpus"
                reading.add("unknown-document", message, path, line, query.query_id)
    return queries


def _check_qrels(
    reading: Reading, path: Path, documents: KnownDocuments, queries: Mapping[str, Query]
) -> tuple[int, int]:
    """Check the rows; gives the numbers of rows and of quotes."""
    n_rows = n_quotes = 0
    seen: dict[tuple[str, str], int] = {}
    row: Qrel
    for line, row in reading.rows(path, find_family("qrels").model):
        n_rows += 1
        n_quotes += len(row.evidence)
        pair = (row.query_id, row.doc_id)
        if (first := seen.setdefault(pair, line)) != line:
            reading.add("duplicate-qrel", f"{pair} stands twice (first in line {first})", path, line, row.query_id)
        if row.doc_id not in documents.in_benchmark:
            message = f"document {row.doc_id!r} is not in the benchmark's corpus"
            reading.add("unknown-document", message, path, line, row.doc_id)
        query = queries.get(row.query_id)
        if query is None:
            reading.add("unknown-query", f"query {row.query_id!r} is not in {layout.QUERIES}", path, line, row.query_id)
            continue
        if len(row.pages) != query.n:
            message = f"{pair}: {len(row.pages)} page lists for {query.n} conditions"
            reading.add("qrel-pages-differ", message, path, line, row.query_id)
        known = {condition.condition_id for condition in query.conditions}
        named = {quote.condition_id for quote in row.evidence} | set(row.violator.conditions if row.violator else ())
        for condition_id in sorted(named - known):
            message = f"{pair}: condition {condition_id!r} is not one of the query's"
            reading.add("unknown-condition", message, path, line, row.query_id)
    return n_rows, n_quotes


def _check_trec(reading: Reading, path: Path, documents: frozenset[str], queries: Mapping[str, Query]) -> None:
    for line, row in reading.qrels(path):
        if row.query_id not in queries:
            message = f"query {row.query_id!r} is not in {layout.QUERIES}"
            reading.add("unknown-query", message, path, line, row.query_id)
        if row.doc_id not in documents:
            reading.add("unknown-document", f"{row.doc_id!r} is not in the benchmark's corpus", path, line, row.doc_id)
