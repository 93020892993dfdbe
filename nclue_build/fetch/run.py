"""One run of fetching, with all that it reads and writes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import DataError, UsageError
from nclue_build.fetch.attempt import Attempt
from nclue_build.fetch.client import Client
from nclue_build.fetch.outcome import FetchReport, Outcome
from nclue_build.fetch.places import sample
from nclue_build.fetch.recorded import read_recorded, write_recorded
from nclue_build.fetch.standing import already_there
from nclue_build.fetch.wanted import wanted_documents
from nclue_build.store.atomic import NO_ROOM, remove_leftovers
from nclue_build.store.corpus_file import fetched_folder, load_corpus_file
from nclue_build.store.partial import Partial, PartialBlockedError, PartialBusyError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nclue_build.core.progress import Progress
    from nclue_build.fetch.wanted import Wanted
    from nclue_build.records.config import BuildConfig, FetchSection
    from nclue_build.store.workspace import Build

_LEFTOVER_S: Final = 24 * 3600.0
"""A temporary file as old is nobody's any more; builds may share the folder of fetched documents."""


def run(
    build: Build,
    config: BuildConfig,
    progress: Progress,
    *,
    sample_size: int | None = None,
    record: bool = False,
    doc_ids: Collection[str] | None = None,
) -> FetchReport:
    """Fetch what is not there yet.

    Args:
        build: The build.
        config: Its configuration.
        progress: Listener for progress.
        sample_size: Fetch only so many documents, always the same ones.
        record: Write digests and sizes that nobody has recorded yet into ``documents.jsonl``.
        doc_ids: Fetch only these documents.

    Raises:
        UsageError: the corpus is a folder of PDFs, or the corpus file is missing or lists nothing.
        DataError: the corpus file has bad rows; nothing is fetched then.
        OSError: the disk is full, or the folder cannot be written.
    """
    if config.corpus.file is None:
        raise UsageError("the corpus is a folder of PDFs: only documents of a corpus file are fetched (corpus.file)")
    corpus = load_corpus_file(build, config.corpus.file, config.fetch.folder)
    if corpus.found:
        raise DataError.from_findings(sorted(corpus.found, key=lambda finding: finding.line or 0))
    if not corpus.listed:
        raise UsageError(f"{corpus.shown}: the corpus file lists no document")
    with contextlib.suppress(OSError):  # nothing may be missing in a folder that cannot be written
        remove_leftovers(fetched_folder(build, config.fetch.folder), older_than_s=_LEFTOVER_S)
    recorded = read_recorded(build, progress, strict=record)
    chosen = {one.row.doc_id for one in corpus.listed} if doc_ids is None else set(doc_ids)
    if sample_size is not None:
        chosen = set(sample(sorted(chosen), sample_size))
    wanted = wanted_documents(build, corpus, chosen, recorded, config.fetch)
    progress.start("fetching", len(wanted), "documents")
    outcomes = _in_a_loop(wanted, config.fetch, progress)
    by_id = {outcome.doc_id: outcome for outcome in outcomes}
    findings = tuple(
        finding
        for one in corpus.listed
        if (outcome := by_id.get(one.row.doc_id)) and (finding := outcome.finding(corpus.shown, one.line))
    )
    n_recorded = write_recorded(build, wanted, outcomes, recorded) if record else None
    return FetchReport(build, tuple(outcomes), findings, len(corpus.listed), n_recorded)


def _in_a_loop(wanted: Sequence[Wanted], settings: FetchSection, progress: Progress) -> list[Outcome]:
    """Fetch in an event loop of this thread, or of another where this one has one already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_fetch_all(wanted, settings, progress))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _fetch_all(wanted, settings, progress)).result()


async def _fetch_all(wanted: Sequence[Wanted], settings: FetchSection, progress: Progress) -> list[Outcome]:
    """Fetch ``concurrency`` documents at a time; the outcomes are in the order of the documents."""
    slots = asyncio.Semaphore(settings.concurrency)

    async def one_of_them(one: Wanted, client: Client) -> Outcome:
        async with slots:
            outcome = await _fetch(one, client, settings)
        progress.advance()
        return outcome

    async with Client(settings) as client:
        tasks = {one.doc_id: asyncio.ensure_future(one_of_them(one, client)) for one in _hosts_in_turn(wanted)}
        await asyncio.gather(*tasks.values())
        return [tasks[one.doc_id].result() for one in wanted]


def _hosts_in_turn(wanted: Sequence[Wanted]) -> list[Wanted]:
    """The documents in an order that goes round the hosts, so that a slow one does not hold up the others."""
    by_host: defaultdict[str, list[Wanted]] = defaultdict(list)
    for one in wanted:
        by_host[(one.listed.row.pdf_url or "").partition("://")[2].partition("/")[0].lower()].append(one)
    rounds = itertools.zip_longest(*by_host.values())
    return [one for documents in rounds for one in documents if one is not None]


async def _fetch(one: Wanted, client: Client, settings: FetchSection) -> Outcome:
    """Fetch one document from the first place that has it."""
    there = await asyncio.to_thread(already_there, one)
    if there is not None:
        return there
    if one.rows:
        message = f"{one.rows} name one file, {one.shown}: give each document a file_name of its own, or leave one row"
        return Outcome(one.doc_id, "failed", one.shown, message=f"not fetched: {message}")
    try:
        with Partial(one.listed.path) as part:
            # Another build may have put it there since; now it is this one's turn.
            there = await asyncio.to_thread(already_there, one)
            return there or await Attempt(one, client, settings).fetch(part)
    except PartialBusyError:
        message = "another process is fetching the same document"
    except PartialBlockedError as blocked:
        message = str(blocked)
    except OSError as error:
        # What is wrong with the folder of fetched documents or with the disk is no matter of this document.
        if one.listed.row.file_name is None or error.errno in NO_ROOM or not error.strerror:
            raise
        message = f"not fetched: {one.shown} cannot be written: {error.strerror.lower()}"
    return Outcome(one.doc_id, "failed", one.shown, message=message)
