"""What becomes of each document: extraction gate, duplicates, fitness as a gold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.corpus.duplicates import Candidate, find_duplicates
from nclue_build.records.corpus import CorpusRow, DocumentQuality, DuplicateGroup, SourceQuality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.corpus.summary import Summary
    from nclue_build.records.config import ExtractSection

Removal = Literal["unreadable", "no_text", "source_below_rate", "duplicate"]

_MOSTLY: Final = 2
"""One page in so many makes "mostly"."""


@dataclass(frozen=True, slots=True)
class Screening:
    """The decided corpus."""

    documents: tuple[DocumentQuality, ...]
    sources: tuple[SourceQuality, ...]
    groups: tuple[DuplicateGroup, ...]


def screen(rows: Sequence[CorpusRow], summaries: Mapping[str, Summary], settings: ExtractSection) -> Screening:
    """Decide which documents stay in the benchmark's corpus.

    Unreadable documents go first, and those whose pages are all blank (which is no failure), then sources below the
    extraction rate (a lone source is only reported), then duplicates among what is left.

    Args:
        rows: The corpus, sorted by doc_id.
        summaries: What was read, by doc_id.
        settings: ``min_extraction_rate`` and ``duplicates``.
    """
    removed: dict[str, Removal] = {
        row.doc_id: "no_text" if _is_blank(known) else "unreadable"
        for row in rows
        if not (known := summaries[row.doc_id]).ok
    }
    sources = _rate_sources(rows, summaries, settings.min_extraction_rate)
    failing = {source.source for source in sources if not source.passed} if len(sources) > 1 else set()
    for row in rows:
        if row.source in failing:
            removed.setdefault(row.doc_id, "source_below_rate")
    groups = find_duplicates(
        (
            Candidate(row.doc_id, row.sha256 or "", known.text_sha256, known.n_text_chars, known.signature)
            for row in rows
            if row.doc_id not in removed and (known := summaries[row.doc_id])
        ),
        remove=settings.duplicates == "remove",
    )
    for group in groups:
        for doc_id in group.removed:
            removed[doc_id] = "duplicate"
    documents = tuple(_quality(row, summaries[row.doc_id], removed.get(row.doc_id)) for row in rows)
    return Screening(documents, tuple(sources), tuple(groups))


def _rate_sources(rows: Sequence[CorpusRow], summaries: Mapping[str, Summary], min_rate: float) -> list[SourceQuality]:
    """Extraction rate per source; a document that cannot be opened counts as one page, whatever is listed."""
    needed = Fraction(str(min_rate))
    totals: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        known = summaries[row.doc_id]
        documents, pages, passed = totals.get(row.source, (0, 0, 0))
        n_pages = known.n_pages or 1
        totals[row.source] = (documents + 1, pages + n_pages, passed + known.passed)
    return [
        SourceQuality(
            source=source,
            n_documents=documents,
            n_pages=pages,
            pages_passed=passed,
            passed=Fraction(passed, pages) >= needed,
        )
        for source, (documents, pages, passed) in sorted(totals.items())
    ]


def _quality(row: CorpusRow, known: Summary, removed: Removal | None) -> DocumentQuality:
    status: Literal["ok", "partial", "failed"] = "ok" if known.passed == known.n_pages else "partial"
    message = known.error
    if _is_blank(known):
        message = "every page is blank"
    elif not known.ok:
        status = "failed"
        message = message or _why_unreadable(known)
    elif known.problems:
        page, _, reason = known.problems[0]
        more = f" and {len(known.problems) - 1} more" if len(known.problems) > 1 else ""
        message = f"page {page}{more} failed: {reason}"
    flags = set(known.flags)
    placeholder = _is_mostly(known.placeholder_pages, known)
    if placeholder:
        flags.add("placeholder_text")
    if known.ok and known.language is None and not _is_mostly(known.non_english_pages, known):
        flags.add("language_unknown")
    elif known.ok and known.language != "en":
        flags.add("non_english")
    return DocumentQuality(
        doc_id=row.doc_id,
        source=row.source,
        status=status,
        n_pages=known.n_pages,
        pages_ok=known.ok,
        pages_empty=known.empty,
        pages_failed=known.failed,
        n_words=known.n_words,
        language=known.language,
        flags=tuple(sorted(flags)),
        in_benchmark=removed is None,
        gold_eligible=removed is None and known.language == "en" and not placeholder,
        removed=removed,
        message=message,
    )


def _is_blank(known: Summary) -> bool:
    """Whether a document was read well and has no text on any page."""
    return known.n_pages > 0 and not known.ok and known.passed == known.n_pages


def _is_mostly(n_pages: int, known: Summary) -> bool:
    return n_pages * _MOSTLY >= max(known.ok, 1)


def _why_unreadable(known: Summary) -> str:
    if known.problems:
        return f"no page could be read: {known.problems[0][2]}"
    if "no_text_layer" in known.flags:
        tried = "no text was recognised on any page" if "ocr" in known.flags else "needs OCR"
        return f"no text layer: {tried}"
    return "no text on any page"
