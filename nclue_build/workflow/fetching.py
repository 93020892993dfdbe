"""Fetching for a build: under its lock, on demand or before a run that misses documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.core.phrases import counted
from nclue_build.core.progress import NullProgress
from nclue_build.corpus.sources import is_missing
from nclue_build.store.config_file import load_config
from nclue_build.store.corpus_file import load_corpus_file
from nclue_build.store.workspace import find_build
from nclue_build.workflow.lock import build_lock

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.fetch.outcome import FetchReport
    from nclue_build.records.config import BuildConfig, CorpusSection
    from nclue_build.store.workspace import Build, Workspace


def fetch_build(
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    sample: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
) -> FetchReport:
    """Download the documents of a build's corpus file that are not there yet, and check all of them by digest.

    What was interrupted goes on where it stopped. The corpus file itself is never rewritten.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        sample: Only so many documents, always the same ones; None means all.
        record: Write digests that nobody has recorded yet into ``documents.jsonl``; later fetching checks by them.
        progress: Listener for progress.

    Returns:
        What became of every document. A document that cannot be had is no error.

    Raises:
        UsageError: bad workspace or configuration, a corpus that is a folder, or another run going on.
        DataError: the corpus file has bad rows; nothing is downloaded then.
    """
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        return _fetch(chosen, config, progress or NullProgress(), sample=sample, record=record)


def missing_documents(build: Build, section: CorpusSection, fetch_folder: str) -> list[str]:
    """Ids of documents that a run would have to fetch: their file is not there, and a row says where to get it.

    Raises:
        UsageError: there is no such corpus file.
    """
    if section.file is None:
        return []
    corpus = load_corpus_file(build, section.file, fetch_folder)
    if corpus.found:  # the stage that reads the corpus reports them, with all else
        return []
    return [one.row.doc_id for one in corpus.listed if one.can_be_fetched and is_missing(one.path)]


def fetch_missing(build: Build, config: BuildConfig, progress: Progress) -> None:
    """Fetch what a run misses.

    Raises:
        UsageError: another run is going on.
        DataError: documents that cannot be had: a run needs all that are listed.
    """
    missing = missing_documents(build, config.corpus, config.fetch.folder)
    if not missing:
        return
    progress.note(f"fetch: {counted(len(missing), 'document')} not there yet")
    report = _fetch(build, config, progress, doc_ids=missing)
    if lost := {outcome.doc_id for outcome in report.outcomes if not outcome.is_there}:
        error = DataError.from_findings(finding for finding in report.findings if finding.id in lost)
        advice = "give another pdf_url or an archive_url, or take these rows out of the corpus file"
        raise DataError(f"{error.message}\n{advice}", error.findings)
    for finding in report.findings:
        progress.warn(finding.message)


def _fetch(
    build: Build,
    config: BuildConfig,
    progress: Progress,
    *,
    sample: int | None = None,
    record: bool = False,
    doc_ids: Collection[str] | None = None,
) -> FetchReport:
    from nclue_build.fetch.run import run  # noqa: PLC0415 - the HTTP library is slow to import

    with build_lock(build):
        return run(build, config, progress, sample_size=sample, record=record, doc_ids=doc_ids)
