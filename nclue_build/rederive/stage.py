"""The ``gate`` stage: re-derive a whole build through the slow path and compare it with what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.records.corpus import CorpusRow, DocumentQuality, PageRow, SourceQuality
from nclue_build.records.gate import GateReport
from nclue_build.records.inventory import Condition, EvidenceRow, InventoryVersion
from nclue_build.rederive import beir_check, trec_check
from nclue_build.rederive.differences import Differences
from nclue_build.rederive.documents import DocumentScan, QuoteCheck, QuoteToCheck, scan_document
from nclue_build.rederive.inventory_check import (
    DerivedInventory,
    check_conditions,
    compare_evidence,
    compare_frequencies,
    resolved_evidence,
)
from nclue_build.rederive.matching import Evidence, judge_query
from nclue_build.rederive.qrels_check import (
    Judged,
    PlacedQuote,
    check_quote_coverage,
    compare_qrels,
    quotes_of,
    report_quotes,
)
from nclue_build.rederive.query_check import DocumentFacts, check_query_conditions, check_query_ids, compare_query
from nclue_build.rederive.version_check import check_order, compare_meta, compare_version
from nclue_build.rederive.windows import FormTable, conditions_in
from nclue_build.store.jsonl import iter_lines, read_json, read_jsonl, validation_findings, write_json
from nclue_build.store.stage import Declaration, StageContext, StageResult
from nclue_build.store.trec import read_trec_qrels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from nclue_build.records.base import Record
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.trec import TrecQrel
    from nclue_build.store.workspace import Build

    RecordT = TypeVar("RecordT", bound=Record)

CONDITIONS = "conditions.jsonl"
EVIDENCE = "evidence.jsonl"
VERSION = "version.json"
QUERIES = "queries.jsonl"
QRELS = "qrels.jsonl"
META = "qrels.meta.json"
BEIR = "beir"
REPORT = "gate.json"

_QUALITY: TypeAdapter[DocumentQuality | SourceQuality] = TypeAdapter(
    Annotated[DocumentQuality | SourceQuality, Field(discriminator="kind")]
)


class Gate:
    """Recompute P0, every judgment and every file of a benchmark, and list what differs."""

    name = "gate"
    version = 1

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Everything the inventory and the benchmark consist of."""
        benchmark = build.benchmark
        return Declaration(
            inputs=(
                build.documents(),
                build.quality(),
                build.pages,
                *(build.version(0) / name for name in (CONDITIONS, EVIDENCE, VERSION)),
                *(benchmark / name for name in (QUERIES, QRELS, META, *trec_check.file_names())),
                benchmark / BEIR,
            ),
            settings={"allowed_roles": list(config.extract.allowed_roles)},
            outputs=(benchmark / REPORT,),
        )

    def run(self, context: StageContext) -> StageResult:
        """Re-derive, compare, and write ``gate.json``.

        Returns:
            The findings kept in full and what was counted.

        Raises:
            DataError: an input that everything else is compared with is missing or has bad rows.
        """
        out = Differences()
        stored = _read(context.build, out)
        evidence, counts = _check_inventory(context, stored, out)
        judged: Judged = {
            query.query_id: judge_query([c.condition_id for c in query.conditions], evidence, stored.level)
            for _, query in stored.queries
        }
        _check_queries(context.build, stored, judged, out)
        _check_qrels(context.build, stored, judged, out)
        _check_trec(context.build, judged, stored.level, out)
        _check_beir(context.build, stored, judged, out)
        report = GateReport(
            ok=not out.total,
            level=stored.level,
            counts=counts,
            n_findings=out.total,
            findings_by_code=out.by_code,
            findings=tuple(out.kept),
        )
        write_json(context.build.benchmark / REPORT, report)
        shortfalls: tuple[str, ...] = ()
        if out.total > len(out.kept):
            shortfalls = (f"{out.total} differences, of which the first {len(out.kept)} are listed",)
        return StageResult(counts, report.findings, shortfalls)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A build as it is on disk; rows come with their lines."""

    version: InventoryVersion
    documents: dict[str, DocumentFacts]
    conditions: list[tuple[int, Condition]]
    evidence: list[tuple[int, EvidenceRow]]
    queries: list[tuple[int, Query]]
    qrels: list[tuple[int, Qrel]]
    meta: QrelsMeta

    @property
    def level(self) -> Literal["page", "document"]:
        return self.version.level


def _read(build: Build, out: Differences) -> _Stored:
    """Read everything but pages, TREC and BEIR files, and check order and digests on the way."""
    folder, benchmark = build.version(0), build.benchmark
    version = read_json(folder / VERSION, InventoryVersion)
    meta = read_json(benchmark / META, QrelsMeta)
    stored = _Stored(
        version=version,
        documents=_read_documents(build, out),
        conditions=_read_rows(folder / CONDITIONS, Condition),
        evidence=_read_rows(folder / EVIDENCE, EvidenceRow),
        queries=_read_rows(benchmark / QUERIES, Query),
        qrels=_read_rows(benchmark / QRELS, Qrel),
        meta=meta,
    )
    conditions, evidence = build.relative(folder / CONDITIONS), build.relative(folder / EVIDENCE)
    check_order(((line, (row.condition_id,)) for line, row in stored.conditions), conditions, out)
    check_order(((line, (row.condition_id, row.doc_id)) for line, row in stored.evidence), evidence, out)
    check_order(((line, (row.query_id,)) for line, row in stored.queries), build.relative(benchmark / QUERIES), out)
    check_order(
        ((line, (row.query_id, row.doc_id)) for line, row in stored.qrels), build.relative(benchmark / QRELS), out
    )
    recorded = [(folder / name, digest, folder / VERSION) for name, digest in sorted(version.digests.items())]
    recorded += [(folder / name, digest, benchmark / META) for name, digest in sorted(meta.inventory_digests.items())]
    recorded.append((benchmark / QRELS, meta.qrels_sha256, benchmark / META))
    for path, digest, recorder in recorded:
        if not path.is_file():
            out.add("file-missing", f"{build.relative(recorder)} records its digest", path=build.relative(path))
        elif (now := sha256_file(path)) != digest:
            message = f"{build.relative(recorder)} records {digest}, the file has {now}"
            out.add("digest-differs", message, path=build.relative(path))
    return stored


def _read_rows(path: Path, model: type[RecordT]) -> list[tuple[int, RecordT]]:
    """All rows of a file with their lines."""
    rows = zip(iter_lines(path), read_jsonl(path, model), strict=True)
    return [(line, row) for (line, _), row in rows]


def _read_documents(build: Build, out: Differences) -> dict[str, DocumentFacts]:
    """The documents of the benchmark's corpus, sorted by id; the corpus rows and the outcomes must agree on them."""
    corpus: dict[str, CorpusRow] = {}
    path = build.documents()
    for line, row in _read_rows(path, CorpusRow):
        if row.doc_id in corpus:
            message = "the id stands twice"
            out.add("duplicate-document", message, path=build.relative(path), line=line, id=row.doc_id)
        corpus[row.doc_id] = row
    found: dict[str, DocumentFacts] = {}
    path = build.quality()
    for line, text in iter_lines(path):
        try:
            outcome = _QUALITY.validate_json(text)
        except ValidationError as error:
            raise DataError.from_findings(validation_findings(error, path, line, "bad-record")) from None
        if isinstance(outcome, SourceQuality) or not outcome.in_benchmark:
            continue
        doc_id, where = outcome.doc_id, build.relative(path)
        if doc_id in found:
            out.add("duplicate-document", "the id stands twice", path=where, line=line, id=doc_id)
        if doc_id not in corpus:
            out.add("unknown-document", f"not in {path.name}", path=where, line=line, id=doc_id)
        elif corpus[doc_id].n_pages not in (None, outcome.n_pages):
            message = f"{outcome.n_pages} pages here, {corpus[doc_id].n_pages} in {build.documents().name}"
            out.add("page-rows-differ", message, path=where, line=line, id=doc_id)
        source = corpus[doc_id].source if doc_id in corpus else outcome.source
        found[doc_id] = DocumentFacts(source, outcome.n_pages, outcome.gold_eligible)
    return dict(sorted(found.items()))


def _check_inventory(context: StageContext, stored: _Stored, out: Differences) -> tuple[Evidence, dict[str, int]]:
    """Compare the inventory with the pages, and every quote too.

    Returns:
        The P(d, c) that judgments are recomputed from (derived from the pages; in document-level builds the stored
        one), and the counts of the report.
    """
    build = context.build
    folder = build.version(0)
    conditions = [row for _, row in stored.conditions]
    known = {row.condition_id: row for row in conditions}
    conditions_path, evidence_path = build.relative(folder / CONDITIONS), build.relative(folder / EVIDENCE)
    check_conditions(stored.conditions, conditions_path, out)
    rows = resolved_evidence(stored.evidence, known, stored.documents, stored.level, evidence_path, out)
    quotes = list(quotes_of(stored.qrels))
    if stored.level == "page":
        derived, checks, n_pages = _derive(context, stored, quotes, out)
        compare_frequencies(stored.conditions, derived, conditions_path, out)
        compare_evidence(rows, derived, conditions, evidence_path, out)
        evidence = derived.evidence(conditions)
    else:
        table = FormTable(conditions)
        position = {row.condition_id: index for index, row in enumerate(conditions)}
        checks = {
            index: QuoteCheck(
                on_page=False, has_alias=position.get(item.quote.condition_id) in conditions_in(item.quote.quote, table)
            )
            for index, item in enumerate(quotes)
        }
        n_pages = 0
        evidence = {row.condition_id: {} for row in conditions}
        for _, row in rows:
            evidence[row.condition_id][row.doc_id] = ()
    report_quotes(quotes, checks, evidence, stored.level, build.relative(build.benchmark / QRELS), out)
    version_path = build.relative(folder / VERSION)
    compare_version(stored.version, context.config.extract.allowed_roles, _version_counts(stored), version_path, out)
    return evidence, {
        "documents": len(stored.documents),
        "pages": n_pages,
        "conditions": len(conditions),
        "evidence": len(stored.evidence),
        "queries": len(stored.queries),
        "qrels": len(stored.qrels),
        "quotes": len(quotes),
    }


def _version_counts(stored: _Stored) -> dict[str, int]:
    return {
        "conditions": len(stored.conditions),
        "documents": len(stored.documents),
        "evidence": len(stored.evidence),
        "pages": sum(len(row.pages or ()) for _, row in stored.evidence),
    }


class _ScanTask(NamedTuple):
    """One document for a worker: everything to find its own inputs, nothing big."""

    doc_id: str
    page_file: Path
    conditions_file: Path
    conditions_sha256: str
    allowed_roles: tuple[str, ...]
    quotes: tuple[QuoteToCheck, ...]


@lru_cache(maxsize=1)
def _form_table(path: Path, sha256: str) -> FormTable:  # noqa: ARG001 - the digest makes a changed file a new table
    return FormTable(list(read_jsonl(path, Condition)))


def _scan(task: _ScanTask) -> DocumentScan | None:
    """Work on one document; None when its page file is missing."""
    if not task.page_file.is_file():
        return None
    table = _form_table(task.conditions_file, task.conditions_sha256)
    pages = read_jsonl(task.page_file, PageRow)
    return scan_document(task.doc_id, pages, frozenset(task.allowed_roles), table, task.quotes)


def _derive(
    context: StageContext, stored: _Stored, quotes: Sequence[PlacedQuote], out: Differences
) -> tuple[DerivedInventory, dict[int, QuoteCheck], int]:
    """Derive P0 from the pages, a document at a time, and look every quote up on the way."""
    build = context.build
    position: dict[str, int] = {}
    for index, (_, condition) in enumerate(stored.conditions):
        position.setdefault(condition.condition_id, index)
    quotes_of_document: dict[str, list[int]] = {}
    for index, item in enumerate(quotes):
        if item.quote.page is not None and item.quote.condition_id in position:
            quotes_of_document.setdefault(item.doc_id, []).append(index)
    conditions_file = build.version(0) / CONDITIONS
    digest = sha256_file(conditions_file)
    tasks = (
        _ScanTask(
            doc_id=doc_id,
            page_file=build.page_file(doc_id),
            conditions_file=conditions_file,
            conditions_sha256=digest,
            allowed_roles=context.config.extract.allowed_roles,
            quotes=tuple(
                QuoteToCheck(
                    position[quotes[index].quote.condition_id], quotes[index].quote.page or 0, quotes[index].quote.quote
                )
                for index in quotes_of_document.get(doc_id, ())
            ),
        )
        for doc_id in stored.documents
    )
    derived = DerivedInventory()
    checks: dict[int, QuoteCheck] = {}
    n_pages = 0
    context.progress.start("re-derive pages", len(stored.documents), "documents")
    for doc_id, scan in zip(stored.documents, context.mapper.map(_scan, tasks), strict=True):
        context.progress.advance()
        path = build.relative(build.page_file(doc_id))
        if scan is None:
            out.add("file-missing", "the page rows of a document are missing", path=path, id=doc_id)
            continue
        if scan.problem is not None:
            out.add("page-rows-differ", scan.problem, path=path, id=doc_id)
        elif scan.n_pages != stored.documents[doc_id].n_pages:
            message = f"{scan.n_pages} page rows, {stored.documents[doc_id].n_pages} in {build.quality().name}"
            out.add("page-rows-differ", message, path=path, id=doc_id)
        n_pages += scan.n_pages
        derived.add(scan)
        checks.update(zip(quotes_of_document.get(doc_id, ()), scan.quotes, strict=True))
    return derived, checks, n_pages


def _check_queries(build: Build, stored: _Stored, judged: Judged, out: Differences) -> None:
    path = build.relative(build.benchmark / QUERIES)
    conditions = {row.condition_id: row for _, row in reversed(stored.conditions)}
    check_query_ids(stored.queries, stored.documents, path, out)
    for line, query in stored.queries:
        check_query_conditions(query, line, conditions, path, out)
        compare_query(query, line, judged[query.query_id], stored.documents, path, out)


def _check_qrels(build: Build, stored: _Stored, judged: Judged, out: Differences) -> None:
    path = build.relative(build.benchmark / QRELS)
    compare_qrels(stored.qrels, judged, stored.documents, path, out)
    check_quote_coverage(stored.qrels, {query.query_id: query for _, query in stored.queries}, stored.level, path, out)
    compare_meta(stored.meta, stored.version, judged, build.relative(build.benchmark / META), out)


def _check_trec(build: Build, judged: Judged, level: str, out: Differences) -> None:
    for name in trec_check.file_names():
        path = build.benchmark / name
        expected = trec_check.expected_rows(name, judged, level)
        if not path.is_file():
            if expected:
                out.add("file-missing", f"{len(expected)} rows expected", path=build.relative(path))
            continue
        try:
            rows = read_trec_qrels(path)
        except DataError as error:
            for found in error.findings:
                out.add(found.code, found.message, path=build.relative(path), line=found.line)
            continue
        placed: list[tuple[int, TrecQrel]] = []
        for (line, text), row in zip(iter_lines(path), rows, strict=True):
            placed.append((line, row))
            if text != trec_check.exact_line(row):
                message = f"{text.decode('utf-8', 'replace')!r}: expected single spaces and a plain integer"
                out.add("bad-qrels-row", message, path=build.relative(path), line=line, id=row.query_id)
        trec_check.compare_trec(placed, expected, build.relative(path), out)


def _check_beir(build: Build, stored: _Stored, judged: Judged, out: Differences) -> None:
    folder = build.benchmark / BEIR
    if not folder.is_dir():
        return
    queries = {query.query_id: query for _, query in stored.queries}
    grades = {(query_id, doc_id): row.grade for query_id, rows in judged.items() for doc_id, row in rows.items()}
    checks: dict[str, Callable[[Iterable[tuple[int, bytes]], str, Differences], None]] = {
        beir_check.CORPUS: partial(beir_check.compare_corpus, documents=stored.documents),
        beir_check.QUERIES: partial(beir_check.compare_queries, queries=queries),
        beir_check.QRELS_TSV: partial(beir_check.compare_tsv, grades=grades),
        beir_check.QRELS_JSONL: partial(beir_check.compare_jsonl, grades=grades),
    }
    for name, check in checks.items():
        path = folder / name
        if path.is_file():
            check(iter_lines(path), build.relative(path), out)
        else:
            out.add("file-missing", "the BEIR folder is incomplete", path=build.relative(path))
