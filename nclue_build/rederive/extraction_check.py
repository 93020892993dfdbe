"""Extraction, judged again: from the corpus, ``documents.jsonl`` and the page files, whatever its other files say.

The rate of a source is (pages with text + pages that are legitimately empty) / pages. Which documents there are comes
from the corpus, what could be read from the page rows, so that a quality file which was edited, cut short, or made by
other code cannot pass itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from nclue_build.core.findings import Findings
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality, DuplicateGroup
from nclue_build.rederive.corpus_check import check_corpus
from nclue_build.rederive.outcome_check import WrittenOutcome, check_outcomes
from nclue_build.rederive.tally import PageTask, Tally, tally_pages
from nclue_build.rederive.version_check import check_documents
from nclue_build.store import layout
from nclue_build.store.jsonl import read_numbered, run_first

if TYPE_CHECKING:
    from nclue_build.records.config import BuildConfig, ExtractSection
    from nclue_build.rederive.outcome_check import SourceRate
    from nclue_build.store.stage import Mapper
    from nclue_build.store.workspace import Build


def check_extraction(build: Build, config: BuildConfig, mapper: Mapper, out: Findings) -> list[SourceRate]:
    """Count every page of every document again, decide what becomes of each, and rate the sources.

    Args:
        build: The build.
        config: Its configuration.
        mapper: Runs one task per document.
        out: Takes every difference from what is written.

    Returns:
        A rate per source, by name.

    Raises:
        DataError: a file that extraction writes is missing or has bad rows.
    """
    written = read_outcome(build)
    outcomes = [(line, row) for line, row in written.quality if isinstance(row, DocumentQuality)]
    check_documents(written.rows, outcomes, build.relative(build.documents), written.quality_path, out)
    check_corpus(build, config, written.rows, mapper, out)
    for path in sorted(build.pages.glob("*.jsonl")):
        if path.stem not in written.by_id:
            message = f"{build.relative(build.documents)} does not have it"
            out.add("unknown-document", message, path=build.relative(path), id=path.stem)
    return recount(build, config.extract, written, mapper, out)


def read_outcome(build: Build) -> WrittenOutcome:
    """What extraction wrote beside the pages.

    Raises:
        DataError: a file is missing or has bad rows; all in one report.
    """
    bad, advice = Findings(), run_first("extract")
    groups = build.inventory / layout.DUPLICATES
    written = WrittenOutcome(
        list(read_numbered(build.documents, CorpusRow, found=bad, advice=advice)),
        list(read_numbered(build.quality, QUALITY_ROW, found=bad, advice=advice)),
        list(read_numbered(groups, DuplicateGroup, found=bad, advice=advice)),
        build.relative(build.quality),
        build.relative(groups),
    )
    bad.raise_any()
    return written


def recount(
    build: Build, settings: ExtractSection, written: WrittenOutcome, mapper: Mapper, out: Findings
) -> list[SourceRate]:
    """Count the pages of every document of documents.jsonl, and compare what follows from them.

    Returns:
        A rate per source, by name.
    """
    compared = {doc_id for _, group in written.groups if group.kind == "near" for doc_id in group.doc_ids}
    doc_ids = sorted(written.by_id)
    tasks = [PageTask(build.page_file(doc_id), doc_id, doc_id in compared) for doc_id in doc_ids]
    tallies: dict[str, Tally] = {}
    for doc_id, (tally, wrong) in zip(doc_ids, mapper.map(tally_pages, tasks), strict=True):
        out.extend(map(build.workspace.relative_finding, wrong))
        if tally is not None:
            tallies[doc_id] = tally
    needed = Fraction(str(settings.min_extraction_rate))
    return check_outcomes(written, tallies, needed, remove=settings.duplicates == "remove", out=out)
