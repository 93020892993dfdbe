"""The files of the benchmark."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.ids import page_id
from nclue_build.store import layout
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from nclue_build.records.benchmark import Qrel, Query
    from nclue_build.records.composition import Composition, FormsQa
    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.reading import Reading

_TREC_OF_DOCUMENTS: Final = tuple(name for name in layout.TREC_FILES if name != layout.TREC_PAGES)


def check_benchmark(reading: Reading, documents: KnownDocuments, conditions: frozenset[str]) -> None:
    """Every file of the current benchmark that one can check without recomputing."""
    folder = reading.build.benchmark
    qrels = folder / layout.QRELS
    queries = _check_queries(reading, folder / layout.QUERIES, documents, conditions)
    _check_qrels(reading, qrels, documents, queries)
    meta = reading.file(folder / layout.META, find_family("qrels.meta").model)
    if meta is not None and qrels.is_file() and sha256_file(qrels) != meta.qrels_sha256:
        reading.add("digest-differs", f"differs from the digest in {layout.META}", qrels)
    _check_reports(reading, queries.values())
    for _ in reading.rows(folder / layout.REJECTED, find_family("rejected").model):
        pass
    for name in _TREC_OF_DOCUMENTS:
        _check_trec(reading, folder / name, documents.in_benchmark, queries)
    pages = frozenset(
        page_id(doc_id, page) for doc_id in documents.in_benchmark for page in range(1, documents.n_pages[doc_id] + 1)
    )
    _check_trec(reading, folder / layout.TREC_PAGES, pages, queries)
    if (folder / layout.GATE_REPORT).exists():
        reading.file(folder / layout.GATE_REPORT, find_family("gate").model)


def _check_reports(reading: Reading, queries: Collection[Query]) -> None:
    """What composing reports of itself: it must count the queries there are."""
    path = reading.build.benchmark / layout.COMPOSITION
    composition: Composition | None = reading.file(path, find_family("composition").model)
    if composition is not None:
        counts = Counter(("n", str(query.n)) for query in queries)
        counts.update(("relaxation", query.relaxation or "strict") for query in queries)
        counts.update(("n_golds", str(len(query.golds))) for query in queries)
        counted = {
            (row.stratum, row.value): row.queries
            for row in composition.mix
            if row.queries and row.stratum in ("n", "relaxation", "n_golds")
        }
        if composition.n_queries != len(queries) or counted != dict(counts):
            message = f"n_queries or the mix is not that of the {len(queries)} queries"
            reading.add("composition-differs", message, path)
    path = reading.build.benchmark / layout.FORMS_QA
    proof: FormsQa | None = reading.file(path, find_family("forms_qa").model)
    if proof is not None and proof.queries != len(queries):
        reading.add("composition-differs", f"{proof.queries} queries, there are {len(queries)}", path)


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


def _check_qrels(reading: Reading, path: Path, documents: KnownDocuments, queries: Mapping[str, Query]) -> None:
    seen: dict[tuple[str, str], int] = {}
    row: Qrel
    for line, row in reading.rows(path, find_family("qrels").model):
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


def _check_trec(reading: Reading, path: Path, documents: frozenset[str], queries: Mapping[str, Query]) -> None:
    for line, row in reading.qrels(path):
        if row.query_id not in queries:
            message = f"query {row.query_id!r} is not in {layout.QUERIES}"
            reading.add("unknown-query", message, path, line, row.query_id)
        if row.doc_id not in documents:
            reading.add("unknown-document", f"{row.doc_id!r} is not in the benchmark's corpus", path, line, row.doc_id)
