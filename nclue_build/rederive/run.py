"""One run of the gate, with all that it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.records.calls import UsedCall
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality
from nclue_build.records.gate import GateReport
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.rederive import beir_check, trec_check
from nclue_build.rederive.calls_check import check_quote_calls, check_verdict_calls
from nclue_build.rederive.documents import DocumentScan, QuoteCheck, QuoteToCheck, scan_document
from nclue_build.rederive.extraction_check import read_outcome, recount
from nclue_build.rederive.inventory_check import (
    DerivedInventory,
    check_conditions,
    compare_evidence,
    compare_frequencies,
    resolved_evidence,
)
from nclue_build.rederive.judge_check import check_item_judge, check_verdicts
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
from nclue_build.rederive.version_check import check_documents, check_order, compare_meta, compare_version
from nclue_build.rederive.windows import FormTable, conditions_in
from nclue_build.store import layout
from nclue_build.store.evidence import read_evidence
from nclue_build.store.form import ends_with_newline
from nclue_build.store.jsonl import iter_lines, read_json, read_jsonl, read_numbered, run_first, write_json
from nclue_build.store.pages import read_pages
from nclue_build.store.stage import StageContext, StageResult
from nclue_build.store.trec import read_numbered_qrels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nclue_build.records.base import Level
    from nclue_build.store.evidence import EvidenceColumns
    from nclue_build.store.trec import TrecQrel
    from nclue_build.store.workspace import Build


def run(context: StageContext) -> StageResult:
    """Re-derive, compare, and write ``gate.json``.

    Returns:
        The findings kept in full and what was counted.

    Raises:
        DataError: an input that everything else is compared with is missing or has bad rows.
    """
    build, out = context.build, Findings()
    stored = _read(build, out)
    evidence, counts, texts = _check_inventory(context, stored, out)
    judged: Judged = {
        query.query_id: judge_query([c.condition_id for c in query.conditions], evidence, stored.level)
        for _, query in stored.queries
    }
    _check_queries(build, stored, judged, out)
    _check_qrels(build, stored, judged, out)
    _check_judges(context, stored, out)
    _check_calls(build, stored, out)
    files = _BenchmarkFiles(build, out)
    trec_check.compare_files(files.qrels, files.shown, judged, stored.level, out)
    if (build.benchmark / layout.BEIR).is_dir():
        queries = {query.query_id: query for _, query in stored.queries}
        expected = beir_check.Expected(build.name, stored.meta.item_judge, texts, stored.documents, queries, judged)
        beir_check.compare_files(files.lines, files.shown, expected, out)
    found = tuple(build.workspace.relative_finding(finding) for finding in out.kept)
    report = GateReport(
        ok=not out.total,
        level=stored.level,
        counts=counts,
        n_findings=out.total,
        findings_by_code=out.by_code,
        findings=found,
    )
    if context.writable:
        write_json(build.benchmark / layout.GATE_REPORT, report)
    else:
        context.progress.warn(f"{layout.GATE_REPORT} is not written: nothing can be written here")
    shortfalls: tuple[str, ...] = ()
    if out.total > len(found):
        shortfalls = (f"{out.total} findings, of which the first {len(found)} are listed",)
    return StageResult(counts | {"findings": out.total}, found, shortfalls)


@dataclass(frozen=True, slots=True)
class _BenchmarkFiles:
    """Files of the benchmark that one reads once; what cannot be read becomes findings."""

    build: Build
    out: Findings

    def shown(self, name: str) -> str:
        return self.build.relative(self.build.benchmark / name)

    def qrels(self, name: str) -> Iterator[tuple[int, TrecQrel]] | None:
        path = self.build.benchmark / name
        return read_numbered_qrels(path, self.out) if path.is_file() else None

    def lines(self, name: str) -> Iterator[tuple[int, bytes]] | None:
        path = self.build.benchmark / name
        return self._lines(path) if path.is_file() else None

    def _lines(self, path: Path) -> Iterator[tuple[int, bytes]]:
        try:
            yield from iter_lines(path, keep_blank=True)
            if not ends_with_newline(path):
                self.out.add("not-canonical", "the last line has no line end", path=self.build.relative(path))
        except DataError as error:
            self.out.extend(error.findings)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A build as it is on disk; rows come with their lines."""

    version: InventoryVersion
    documents: dict[str, DocumentFacts]
    conditions: list[tuple[int, Condition]]
    evidence: EvidenceColumns
    queries: list[tuple[int, Query]]
    qrels: list[tuple[int, Qrel]]
    meta: QrelsMeta

    @property
    def level(self) -> Level:
        return self.version.level


def _read(build: Build, out: Findings) -> _Stored:
    """Read everything but pages, TREC and BEIR files, and check order and digests on the way."""
    folder, benchmark = build.version(0), build.benchmark
    mine, compose = run_first("mine"), run_first("compose")
    version = read_json(folder / layout.VERSION, InventoryVersion, advice=mine)
    meta = read_json(benchmark / layout.META, QrelsMeta, advice=compose)
    unreadable = Findings()
    stored = _Stored(
        version=version,
        documents=_read_documents(build, unreadable, out),
        conditions=list(read_numbered(folder / layout.CONDITIONS, Condition, found=unreadable, advice=mine)),
        evidence=read_evidence(folder / layout.EVIDENCE, unreadable, advice=mine),
        queries=list(read_numbered(benchmark / layout.QUERIES, Query, found=unreadable, advice=compose)),
        qrels=list(read_numbered(benchmark / layout.QRELS, Qrel, found=unreadable, advice=compose)),
        meta=meta,
    )
    unreadable.raise_any()
    for path, keys in (
        (folder / layout.CONDITIONS, ((line, (row.condition_id,)) for line, row in stored.conditions)),
        (folder / layout.EVIDENCE, ((row.line, (row.condition_id, row.doc_id)) for row in stored.evidence.items())),
        (benchmark / layout.QUERIES, ((line, (row.query_id,)) for line, row in stored.queries)),
        (benchmark / layout.QRELS, ((line, (row.query_id, row.doc_id)) for line, row in stored.qrels)),
    ):
        check_order(keys, build.relative(path), out)
    _check_digests(build, version, meta, out)
    return stored


def _check_digests(build: Build, version: InventoryVersion, meta: QrelsMeta, out: Findings) -> None:
    """Compare every file with the digests that version.json and qrels.meta.json record; each must record its own."""
    folder, benchmark = build.version(0), build.benchmark
    version_digests = {name: version.digests.get(name) for name in (layout.CONDITIONS, layout.EVIDENCE)}
    recorded = [
        (folder / name, digest, folder / layout.VERSION)
        for name, digest in sorted((version_digests | version.digests).items())
    ]
    recorded += [(folder / name, digest, benchmark / layout.META) for name, digest in meta.inventory_digests.items()]
    recorded.append((benchmark / layout.QRELS, meta.qrels_sha256, benchmark / layout.META))
    for path, digest, recorder in recorded:
        if not path.is_file():
            out.add("file-missing", f"{build.relative(recorder)} records its digest", path=build.relative(path))
        elif (now := sha256_file(path)) != digest:
            message = f"{build.relative(recorder)} records {digest or 'no digest'}, the file has {now}"
            out.add("digest-differs", message, path=build.relative(path))


def _read_documents(build: Build, unreadable: Findings, out: Findings) -> dict[str, DocumentFacts]:
    """The documents of the benchmark's corpus, sorted by id; the corpus rows and the outcomes must agree on them."""
    advice = run_first("extract")
    rows = list(read_numbered(build.documents, CorpusRow, found=unreadable, advice=advice))
    outcomes = [
        (line, row)
        for line, row in read_numbered(build.quality, QUALITY_ROW, found=unreadable, advice=advice)
        if isinstance(row, DocumentQuality)
    ]
    return check_documents(rows, outcomes, build.relative(build.documents), build.relative(build.quality), out)


def _check_inventory(
    context: StageContext, stored: _Stored, out: Findings
) -> tuple[Evidence, dict[str, int], dict[str, str | None]]:
    """Compare the inventory with the pages, and every quote too.

    Returns:
        The P(d, c) that judgments are recomputed from (derived from the pages; in document-level builds the stored
        one), the counts of the report, and the digest of the text of every document (None where no pages were read).
    """
    build = context.build
    folder = build.version(0)
    conditions = [row for _, row in stored.conditions]
    known = {row.condition_id: row for row in conditions}
    conditions_path, evidence_path = (
        build.relative(folder / layout.CONDITIONS),
        build.relative(folder / layout.EVIDENCE),
    )
    check_conditions(stored.conditions, conditions_path, out)
    rows = resolved_evidence(stored.evidence.items(), known, stored.documents, stored.level, evidence_path, out)
    quotes = list(quotes_of(stored.qrels))
    texts: dict[str, str | None] = dict.fromkeys(stored.documents)
    if stored.level == "page":
        recount(build, context.config.extract, read_outcome(build), context.mapper, out)
        derived, checks, n_pages, scanned = _derive(context, stored, quotes, out)
        texts |= scanned
        compare_frequencies(stored.conditions, derived, conditions_path, out)
        compare_evidence(rows, derived, conditions, evidence_path, out)
        evidence = derived.evidence(conditions)
    else:
        table = FormTable(conditions)
        position = {row.condition_id: index for index, row in enumerate(conditions)}
        checks = {
            index: QuoteCheck(
                on_page=False,
                is_block=False,
                has_alias=position.get(item.quote.condition_id) in conditions_in(item.quote.quote, table),
            )
            for index, item in enumerate(quotes)
        }
        n_pages = 0
        evidence = {row.condition_id: {} for row in conditions}
        for row in rows:
            evidence[row.condition_id][row.doc_id] = ()
    report_quotes(quotes, checks, evidence, stored.level, build.relative(build.benchmark / layout.QRELS), out)
    version_path = build.relative(folder / layout.VERSION)
    compare_version(stored.version, context.config.extract.allowed_roles, _version_counts(stored), version_path, out)
    counts = {
        "documents": len(stored.documents),
        "pages": n_pages,
        "conditions": len(conditions),
        "evidence": stored.evidence.n_rows,
        "queries": len(stored.queries),
        "qrels": len(stored.qrels),
        "quotes": len(quotes),
    }
    return evidence, counts, texts


def _version_counts(stored: _Stored) -> dict[str, int]:
    return {
        "conditions": len(stored.conditions),
        "documents": len(stored.documents),
        "evidence": stored.evidence.n_rows,
        "pages": len(stored.evidence.pages),
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
    pages = read_pages(task.page_file)
    return scan_document(task.doc_id, pages, frozenset(task.allowed_roles), table, task.quotes)


def _derive(
    context: StageContext, stored: _Stored, quotes: Sequence[PlacedQuote], out: Findings
) -> tuple[DerivedInventory, dict[int, QuoteCheck], int, dict[str, str]]:
    """Derive P0 from the pages, a document at a time, and look every quote up on the way.

    Returns:
        P0, what is true of each quote, the number of pages, and the digest of each document's text.
    """
    build = context.build
    position: dict[str, int] = {}
    for index, (_, condition) in enumerate(stored.conditions):
        position.setdefault(condition.condition_id, index)
    quotes_of_document: dict[str, list[int]] = {}
    for index, item in enumerate(quotes):
        if item.quote.page is not None and item.quote.condition_id in position:
            quotes_of_document.setdefault(item.doc_id, []).append(index)
    conditions_file = build.version(0) / layout.CONDITIONS
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
    texts: dict[str, str] = {}
    n_pages = 0
    context.progress.start("re-derive pages", len(stored.documents), "documents")
    for doc_id, scan in zip(stored.documents, context.mapper.map(_scan, tasks), strict=True):
        context.progress.advance()
        path = build.relative(build.page_file(doc_id))
        if scan is None:  # which is found where all pages are counted
            continue
        if scan.n_pages != stored.documents[doc_id].n_pages:
            message = f"{scan.n_pages} page rows, {stored.documents[doc_id].n_pages} in {build.quality.name}"
            out.add("page-rows-differ", message, path=path, id=doc_id)
        n_pages += scan.n_pages
        texts[doc_id] = scan.text_sha256
        derived.add(scan)
        checks.update(zip(quotes_of_document.get(doc_id, ()), scan.quotes, strict=True))
    return derived, checks, n_pages, texts


def _check_queries(build: Build, stored: _Stored, judged: Judged, out: Findings) -> None:
    path = build.relative(build.benchmark / layout.QUERIES)
    conditions = {row.condition_id: row for _, row in reversed(stored.conditions)}
    check_query_ids(stored.queries, stored.documents, path, out)
    for line, query in stored.queries:
        check_query_conditions(query, line, conditions, path, out)
        compare_query(query, line, judged[query.query_id], stored.documents, path, out)


def _check_judges(context: StageContext, stored: _Stored, out: Findings) -> None:
    build, kind = context.build, context.config.judge.kind
    check_verdicts(stored.conditions, kind, build.relative(build.version(0) / layout.CONDITIONS), out)
    paths = (build.relative(build.benchmark / layout.META), build.relative(build.benchmark / layout.QRELS))
    check_item_judge(stored.meta, list(quotes_of(stored.qrels)), stored.level, kind, paths, out)


def _check_calls(build: Build, stored: _Stored, out: Findings) -> None:
    folder, benchmark = build.version(0), build.benchmark
    mined, composed = _used(build.inventory / layout.CALLS, out), _used(benchmark / layout.CALLS, out)
    check_verdict_calls(stored.conditions, mined, build.relative(folder / layout.CONDITIONS), out)
    paths = build.relative(benchmark / layout.QRELS), build.relative(benchmark / layout.META)
    check_quote_calls(stored.qrels, stored.meta, composed, paths, out)


def _used(path: Path, out: Findings) -> dict[str, UsedCall]:
    """The calls a stage used, by key; none where no model was asked."""
    return {row.key: row for _, row in read_numbered(path, UsedCall, found=out)} if path.is_file() else {}


def _check_qrels(build: Build, stored: _Stored, judged: Judged, out: Findings) -> None:
    path = build.relative(build.benchmark / layout.QRELS)
    compare_qrels(stored.qrels, judged, stored.documents, path, out)
    check_quote_coverage(stored.qrels, {query.query_id: query for _, query in stored.queries}, stored.level, path, out)
    compare_meta(stored.meta, stored.version, judged, build.relative(build.benchmark / layout.META), out)
