"""What a run of extracting came to: counts, findings and shortfalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import Finding, OutcomeError
from nclue_build.core.phrases import counted
from nclue_build.corpus.imported import RANGE_UNKNOWN
from nclue_build.store.stage import StageResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nclue_build.corpus.screening import Screening
    from nclue_build.corpus.summary import Summary
    from nclue_build.records.config import ExtractSection
    from nclue_build.records.corpus import CorpusRow


_RANGE_MESSAGE: Final = (
    "MinerU's content list ends before the PDF does, and no text layer says whether it begins at page 1: should it be "
    "of a range of pages (-s, -e), its text stands on wrong pages; give the middle file or content_list_v2.json"
)


def result_of(
    screening: Screening,
    summaries: Mapping[str, Summary],
    rows: Iterable[CorpusRow],
    settings: ExtractSection,
    notes: Iterable[str],
) -> StageResult:
    """What there is to say of a run.

    Args:
        screening: What was decided of documents and sources.
        summaries: What was read of each document, by doc_id.
        rows: The corpus as listed.
        settings: The configuration.
        notes: What there is to say of the passwords given.
    """
    findings = [Finding("password-unused", note) for note in notes]
    for document in screening.documents:
        if document.status == "failed":
            findings.append(Finding("document-failed", f"{document.doc_id}: {document.message}", id=document.doc_id))
            continue
        findings += [
            Finding("page-failed", f"{document.doc_id}: page {page}: {reason} ({flag})", id=document.doc_id)
            for page, flag, reason in summaries[document.doc_id].problems
        ]
    findings += [
        Finding(
            "page-count-differs", f"{row.doc_id}: has {known.n_pages} pages, not {row.n_pages} as listed", id=row.doc_id
        )
        for row in rows
        if (known := summaries[row.doc_id]).n_pages and row.n_pages not in {None, known.n_pages}
    ]
    if unknown := sorted({kind for known in summaries.values() for kind in known.unknown_types}):
        n_with = sum(bool(known.unknown_types) for known in summaries.values())
        message = f"{', '.join(unknown)}: blocks of unknown type in {counted(n_with, 'document')}; their text is kept"
        findings.append(Finding("unknown-item-type", message))
    findings += [
        Finding("page-range-unknown", f"{doc_id}: {_RANGE_MESSAGE}", id=doc_id)
        for doc_id, known in sorted(summaries.items())
        if RANGE_UNKNOWN in known.flags
    ]
    findings += [
        Finding(
            "text-only-in-pdf",
            f"{doc_id}: {known.lost_pages} of {known.n_pages} pages have text in the PDF, and none from MinerU",
            id=doc_id,
        )
        for doc_id, known in sorted(summaries.items())
        if known.lost_pages
    ]
    shortfalls = [
        f"source {source.source}: only {source.pages_passed} of {source.n_pages} pages could be read, "
        f"less than min_extraction_rate = {settings.min_extraction_rate}: "
        + ("its documents are removed" if len(screening.sources) > 1 else "kept, because it is the only source")
        for source in screening.sources
        if not source.passed
    ]
    counts = {
        "documents": len(screening.documents),
        "documents_in_benchmark": sum(d.in_benchmark for d in screening.documents),
        "documents_failed": sum(d.status == "failed" for d in screening.documents),
        "pages": sum(d.n_pages for d in screening.documents),
        "pages_ok": sum(d.pages_ok for d in screening.documents),
        "pages_empty": sum(d.pages_empty for d in screening.documents),
        "pages_failed": sum(d.pages_failed for d in screening.documents),
        "duplicate_groups": len(screening.groups),
    }
    for reason in ("unreadable", "no_text", "source_below_rate", "duplicate"):
        counts[f"removed_{reason}"] = sum(d.removed == reason for d in screening.documents)
    return StageResult(counts, tuple(findings), tuple(shortfalls))


def nothing_left(screening: Screening, result: StageResult) -> OutcomeError:
    """What to say of a corpus of which no document is left: the first reason for people, all of them as findings."""
    if any(document.pages_ok for document in screening.documents):
        # A document with text goes because of its source or as a copy, and of copies one stays.
        n_documents = counted(len(screening.documents), "document")
        message = f"of {n_documents} none is left in the benchmark; {'; '.join(result.shortfalls)}"
    else:
        first = next((d for d in screening.documents if d.message), None)
        why = f"; {first.doc_id}: {first.message}" if first else ""
        message = f"no page of {counted(len(screening.documents), 'document')} can be read{why}"
    return OutcomeError(message, (Finding("nothing-to-deliver", message), *result.findings))
