"""One run of the gate, with all that it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings, shown
from nclue_build.records.benchmark import Quote
from nclue_build.records.calls import UsedCall
from nclue_build.records.gate import GateReport
from nclue_build.rederive import beir_check, trec_check
from nclue_build.rederive.calls_check import check_quote_calls, check_verdict_calls
from nclue_build.rederive.decisions_check import View, check_later, decided_quotes
from nclue_build.rederive.documents import QuoteCheck
from nclue_build.rederive.extraction_check import read_outcome, recount
from nclue_build.rederive.inventory_check import (
    check_conditions,
    compare_evidence,
    compare_frequencies,
    resolved_evidence,
)
from nclue_build.rederive.judge_check import check_item_judge, check_verdicts
from nclue_build.rederive.matching import Evidence, judge_query
from nclue_build.rederive.qrels_check import (
    DecidedPlace,
    Judged,
    PlacedQuote,
    check_quote_coverage,
    compare_qrels,
    quotes_of,
    report_quotes,
)
from nclue_build.rederive.query_check import (
    check_left_out,
    check_query_conditions,
    check_query_ids,
    compare_query,
)
from nclue_build.rederive.scanning import derive
from nclue_build.rederive.stored import Stored, read_stored
from nclue_build.rederive.version_check import compare_meta, compare_version
from nclue_build.rederive.windows import FormTable, conditions_in
from nclue_build.store import layout
from nclue_build.store.form import ends_with_newline
from nclue_build.store.jsonl import iter_lines, read_numbered, write_json
from nclue_build.store.stage import StageContext, StageResult
from nclue_build.store.trec import read_numbered_qrels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
    stored = read_stored(build, out)
    evidence, view, counts, texts = _check_inventory(context, stored, out)
    composed, judged = (_judge(stored, seen_by) for seen_by in (lambda _: evidence, view.of))
    _check_queries(build, stored, judged, out)
    judged = {query.query_id: judged[query.query_id] for _, query in stored.queries}
    # Only a repair makes golds out of documents that the item judge was not shown.
    _check_qrels(build, stored, composed if stored.later else {}, judged, out)
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


def _judge(stored: Stored, seen_by: Callable[[str], Evidence]) -> Judged:
    """Judge every query, those that a repair removed included."""
    queries = {query.query_id: query for query in (*stored.composed, *(query for _, query in stored.queries))}
    return {
        query_id: judge_query([c.condition_id for c in query.conditions], seen_by(query_id), stored.level)
        for query_id, query in queries.items()
    }


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


def _check_inventory(
    context: StageContext, stored: Stored, out: Findings
) -> tuple[Evidence, View, dict[str, int], dict[str, str | None]]:
    """Compare the inventory with the pages, and every quote too.

    Returns:
        P0 (derived from the pages; in document-level builds the stored one); the P(d, c) that judgments are recomputed
        from, which is P0 with all decisions; the counts of the report; and the digest of the text of every document
        (None where no pages were read).
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
    decided, people = decided_quotes(build, stored.later), _by_people(build, stored)
    view: View | None = None
    texts: dict[str, str | None] = dict.fromkeys(stored.documents)
    if stored.level == "page":
        recount(build, context.config.extract, read_outcome(build), context.mapper, out)
        # Both kinds are looked up in one pass over the pages; those of decisions come last.
        asked = [
            *quotes,
            *(
                PlacedQuote(
                    quote.line,
                    quote.decision_id,
                    quote.doc_id,
                    Quote(condition_id=quote.condition_id, page=quote.page, quote=quote.text),
                )
                for quote in decided
            ),
        ]
        derived, checks, n_pages, scanned = derive(context, stored, asked, people, out)
        texts |= scanned
        compare_frequencies(stored.conditions, derived, conditions_path, out)
        compare_evidence(rows, derived, conditions, evidence_path, out)
        evidence = derived.evidence(conditions)
        if stored.later:
            mined = (stored.version, conditions, derived)
            view = check_later(build, stored.later, mined, stored.documents, out)
        for index, quote in enumerate(decided, start=len(quotes)):
            if index not in checks or not checks[index].on_page:
                message = f"document {quote.doc_id}, page {quote.page}: {shown(repr(quote.text))}"
                out.add("quote-not-on-page", message, path=quote.path, line=quote.line, id=quote.decision_id)
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
    view = view or View(evidence, {})
    qrels_path = build.relative(build.benchmark / layout.QRELS)
    report_quotes(quotes, checks, view.of, stored.level, qrels_path, out, decided=people)
    version_path = build.relative(folder / layout.VERSION)
    compare_version(stored.version, context.config.extract.allowed_roles, _version_counts(stored), version_path, out)
    counts = {
        "documents": len(stored.documents),
        "pages": n_pages,
        "conditions": len(conditions),
        "evidence": stored.n_evidence,
        "queries": len(stored.queries),
        "qrels": len(stored.qrels),
        "quotes": len(quotes),
    }
    return evidence, view, counts, texts


def _by_people(build: Build, stored: Stored) -> set[DecidedPlace]:
    """The quotes that decisions rest on."""
    return {(quote.condition_id, quote.doc_id, quote.page, quote.text) for quote in decided_quotes(build, stored.later)}


def _version_counts(stored: Stored) -> dict[str, int]:
    return {
        "conditions": len(stored.conditions),
        "documents": len(stored.documents),
        "evidence": stored.evidence.n_rows,
        "pages": len(stored.evidence.pages),
    }


def _check_queries(build: Build, stored: Stored, judged: Judged, out: Findings) -> None:
    path = build.relative(build.benchmark / layout.QUERIES)
    conditions = {row.condition_id: row for _, row in reversed(stored.conditions)}
    check_query_ids(stored.queries, stored.documents, path, out)
    for line, query in stored.queries:
        check_query_conditions(query, line, conditions, path, out)
        compare_query(query, line, judged[query.query_id], stored.documents, path, out)
    if stored.later:
        check_left_out(stored.queries, stored.composed, judged, stored.documents, path, out)


def _check_judges(context: StageContext, stored: Stored, out: Findings) -> None:
    build, kind = context.build, context.config.judge.kind
    check_verdicts(stored.conditions, kind, build.relative(build.version(0) / layout.CONDITIONS), out)
    paths = (build.relative(build.benchmark / layout.META), build.relative(build.benchmark / layout.QRELS))
    check_item_judge(stored.meta, list(quotes_of(stored.qrels)), stored.level, kind, paths, out)


def _check_calls(build: Build, stored: Stored, out: Findings) -> None:
    folder, benchmark = build.version(0), build.benchmark
    mined, composed = _used(build.inventory / layout.CALLS, out), _used(build.composed / layout.CALLS, out)
    check_verdict_calls(stored.conditions, mined, build.relative(folder / layout.CONDITIONS), out)
    paths = build.relative(benchmark / layout.QRELS), build.relative(benchmark / layout.META)
    check_quote_calls(stored.qrels, stored.meta, composed, paths, out, people=_by_people(build, stored))


def _used(path: Path, out: Findings) -> dict[str, UsedCall]:
    """The calls a stage used, by key; none where no model was asked."""
    return {row.key: row for _, row in read_numbered(path, UsedCall, found=out)} if path.is_file() else {}


def _check_qrels(build: Build, stored: Stored, composed: Judged, judged: Judged, out: Findings) -> None:
    path = build.relative(build.benchmark / layout.QRELS)
    compare_qrels(stored.qrels, judged, stored.documents, path, out)
    queries = {query.query_id: query for _, query in stored.queries}
    check_quote_coverage(stored.qrels, queries, composed, stored.level, path, out)
    compare_meta(stored.meta, stored.newest, judged, build.relative(build.benchmark / layout.META), out)
