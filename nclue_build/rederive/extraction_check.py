"""Rates of extraction, derived again from the page files and compared with ``documents_quality.jsonl``.

The rate of a source is (pages with text + pages that are legitimately empty) / pages. It is counted here from the page
rows alone, so that a quality file which was edited, or made by other code, cannot pass itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.records.corpus import QUALITY_ROW, DocumentQuality, SourceQuality
from nclue_build.store import layout
from nclue_build.store.jsonl import read_numbered, run_first
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.store.stage import Mapper

_PICTURES_PER_DOCUMENT: Final = 5
"""Pictures without text count as empty pages while they are at most one page in so many of their document."""


@dataclass(frozen=True, slots=True)
class SourceRate:
    """What could be read of one source, in documents and pages."""

    source: str
    n_documents: int
    n_in_benchmark: int
    n_pages: int
    pages_passed: int
    passed: bool

    @property
    def percent(self) -> str:
        """The rate in per cent, rounded down to two digits, so that 98.00 is never less than 98."""
        hundredths = self.pages_passed * 10_000 // self.n_pages
        return f"{hundredths // 100}.{hundredths % 100:02d}"


class PageCounts(NamedTuple):
    """Pages of a document by what became of them; ``pages_passed`` as the rate counts them."""

    n_pages: int
    pages_ok: int
    pages_empty: int
    pages_failed: int
    pages_passed: int


class _Task(NamedTuple):
    path: Path
    doc_id: str


def check_extraction(
    quality: Path, pages: Path, min_rate: float, mapper: Mapper
) -> tuple[list[SourceRate], list[Finding]]:
    """Count every page of every document again, and rate the sources.

    Args:
        quality: ``documents_quality.jsonl``.
        pages: The folder of page files.
        min_rate: The share of a source's pages that must have been read.
        mapper: Runs one task per document.

    Returns:
        A rate per source, by name; and every difference from what is written, with absolute paths.

    Raises:
        DataError: the quality file is missing or has bad rows.
    """
    bad = Findings()
    rows = list(read_numbered(quality, QUALITY_ROW, found=bad, advice=run_first("extract")))
    bad.raise_any()
    documents = [(line, row) for line, row in rows if isinstance(row, DocumentQuality)]
    found = Findings()
    counts: dict[str, PageCounts] = {}
    tasks = [_Task(pages / f"{row.doc_id}.jsonl", row.doc_id) for _, row in documents]
    for (line, row), (counted, wrong) in zip(documents, mapper.map(count_pages, tasks), strict=True):
        found.extend(wrong)
        if counted is None:
            continue
        counts[row.doc_id] = counted
        told = (row.n_pages, row.pages_ok, row.pages_empty, row.pages_failed)
        if counted[:4] != told:
            message = f"{row.doc_id}: pages, ok, empty, failed are {counted[:4]} in its page file, here {told}"
            found.add("quality-counts-differ", message, path=str(quality), line=line, id=row.doc_id)
    rates = _rates([row for _, row in documents], counts, Fraction(str(min_rate)))
    _compare_sources(rates, rows, quality, found)
    _check_removals(rates, documents, quality, found)
    return rates, found.kept


def count_pages(task: _Task) -> tuple[PageCounts | None, list[Finding]]:
    """Count the pages of one document (a worker's task); None, and why, where its file cannot be read."""
    statuses: Counter[str] = Counter()
    n_pictures = 0
    try:
        for page in read_pages(task.path):
            statuses[page.status] += 1
            n_pictures += page.status == "empty" and "no_text_layer" in page.flags
    except DataError as error:
        return None, list(error.findings)
    n_pages = statuses.total()
    passed = statuses["ok"] + statuses["empty"]
    if n_pictures * _PICTURES_PER_DOCUMENT > n_pages:
        passed -= n_pictures
    return PageCounts(n_pages, statuses["ok"], statuses["empty"], statuses["failed"], passed), []


def _rates(documents: Iterable[DocumentQuality], counts: dict[str, PageCounts], needed: Fraction) -> list[SourceRate]:
    sums: dict[str, tuple[int, int, int, int]] = {}
    for row in documents:
        n_documents, n_in_benchmark, n_pages, passed = sums.get(row.source, (0, 0, 0, 0))
        counted = counts.get(row.doc_id)
        sums[row.source] = (
            n_documents + 1,
            n_in_benchmark + row.in_benchmark,
            n_pages + ((counted.n_pages if counted else 0) or 1),  # what cannot be opened counts as one page
            passed + (counted.pages_passed if counted else 0),
        )
    return [
        SourceRate(source, n_documents, n_in_benchmark, n_pages, passed, Fraction(passed, n_pages) >= needed)
        for source, (n_documents, n_in_benchmark, n_pages, passed) in sorted(sums.items())
    ]


def _compare_sources(
    rates: Sequence[SourceRate],
    rows: Iterable[tuple[int, DocumentQuality | SourceQuality]],
    quality: Path,
    found: Findings,
) -> None:
    """Every source has one row, and that says what was counted."""
    written = {row.source: (line, row) for line, row in rows if isinstance(row, SourceQuality)}
    for rate in rates:
        line, row = written.pop(rate.source, (None, None))
        counted = (rate.n_documents, rate.n_pages, rate.pages_passed, rate.passed)
        told = None if row is None else (row.n_documents, row.n_pages, row.pages_passed, row.passed)
        if told != counted:
            said = "has no row" if told is None else f"has {told} here"
            message = f"source {rate.source!r}: documents, pages, passed, verdict are {counted}; it {said}"
            found.add("quality-counts-differ", message, path=str(quality), line=line)
    for source, (line, _) in written.items():
        message = f"source {source!r} has a row, and no document"
        found.add("quality-counts-differ", message, path=str(quality), line=line)


def _check_removals(
    rates: Sequence[SourceRate], documents: Iterable[tuple[int, DocumentQuality]], quality: Path, found: Findings
) -> None:
    """A failing source has no document in the benchmark, unless it is the only one; no other source lost any so."""
    failing = {rate.source for rate in rates if not rate.passed} if len(rates) > 1 else set()
    for line, row in documents:
        if row.source in failing and row.in_benchmark:
            message = (
                f"{row.doc_id}: its source {row.source!r} is below the rate, and it is in {layout.QUALITY} to stay"
            )
        elif row.removed == "source_below_rate" and row.source not in failing:
            message = f"{row.doc_id}: removed for its source {row.source!r}, which is not below the rate"
        else:
            continue
        found.add("removal-differs", message, path=str(quality), line=line, id=row.doc_id)
