"""One run of fetching, with all that it reads and writes."""

from __future__ import annotations

import asyncio
import itertools
import os
import stat
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.core.errors import DataError, UsageError
from nclue_build.fetch.client import Client
from nclue_build.fetch.content import END_WITHIN, MAGIC_WITHIN, content_problem, looks_cut_short
from nclue_build.fetch.hosts import Deadline
from nclue_build.fetch.outcome import FetchReport, Outcome, PlaceError
from nclue_build.fetch.places import WEB_SCHEMES, places, sample, scheme, shown
from nclue_build.fetch.resolvers import RESOLVERS
from nclue_build.store.corpus_file import fetched_folder, load_corpus_file
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.pages import read_documents
from nclue_build.store.partial import Origin, Partial, PartialBlockedError, PartialBusyError, forget_origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.fetch.outcome import Failure
    from nclue_build.fetch.places import Place
    from nclue_build.records.config import BuildConfig, FetchSection
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.corpus_file import CorpusFile, Listed
    from nclue_build.store.workspace import Build

_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A document to fetch.

    Args:
        listed: Its row and its place.
        shown: The place as messages name it.
        sha256: Digest it must have: as listed, else as recorded earlier; None when neither is known.
        local: Files that may be it.
        allowed: Whether the place is one that may be written to.
        rows: The rows that name this place, where there are several.
    """

    listed: Listed
    shown: str
    sha256: str | None
    local: tuple[Path, ...]
    allowed: bool
    rows: str = ""

    @property
    def doc_id(self) -> str:
        return self.listed.row.doc_id


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
    recorded = _recorded(build, progress, strict=record)
    chosen = {one.row.doc_id for one in corpus.listed} if doc_ids is None else set(doc_ids)
    if sample_size is not None:
        chosen = set(sample(sorted(chosen), sample_size))
    asked = sorted((one for one in corpus.listed if one.row.doc_id in chosen), key=lambda one: one.row.doc_id)
    of_several = _rows_of_one_file(corpus.listed)
    wanted = [
        replace(
            _wanted(build, corpus, one, recorded.get(one.row.doc_id), config.fetch), rows=of_several.get(one.path, "")
        )
        for one in asked
    ]
    progress.start("fetching", len(wanted), "documents")
    outcomes = _in_a_loop(wanted, config.fetch, progress)
    by_id = {outcome.doc_id: outcome for outcome in outcomes}
    findings = tuple(
        finding
        for one in corpus.listed
        if (outcome := by_id.get(one.row.doc_id)) and (finding := outcome.finding(corpus.shown, one.line))
    )
    n_recorded = _record(build, asked, by_id, recorded) if record else None
    return FetchReport(build, tuple(outcomes), findings, len(corpus.listed), n_recorded)


def _rows_of_one_file(listed: Sequence[Listed]) -> dict[Path, str]:
    """The rows of every file that several of them name."""
    by_path: defaultdict[Path, list[Listed]] = defaultdict(list)
    for one in listed:
        by_path[one.path].append(one)
    return {
        path: " and ".join(f"line {one.line} ({one.row.doc_id})" for one in rows)
        for path, rows in by_path.items()
        if len(rows) > 1
    }


def _recorded(build: Build, progress: Progress, *, strict: bool) -> dict[str, CorpusRow]:
    """The rows of ``documents.jsonl`` by id; none when there is no such file."""
    if not build.documents.exists():
        return {}
    try:
        return {row.doc_id: row for row in read_documents(build.documents)}
    except DataError as error:
        if strict:
            raise
        progress.warn(f"digests recorded earlier are not compared: {error.message}")
        return {}


def _wanted(
    build: Build, corpus: CorpusFile, one: Listed, recorded: CorpusRow | None, settings: FetchSection
) -> _Wanted:
    row = one.row
    sha256 = row.sha256
    if sha256 is None and recorded is not None and recorded.pdf_url == row.pdf_url:
        sha256 = recorded.sha256
    folders = [(build.workspace.root / name).resolve() for name in settings.local_folders]
    names = [f"{row.doc_id}.pdf"] if sha256 is None else [f"{sha256}.pdf", f"{row.doc_id}.pdf"]
    local = tuple(folder / name for folder in folders for name in names)
    # A list that somebody else made must not decide where on this machine files are written.
    homes = (corpus.path.parent, build.workspace.root, fetched_folder(build, settings.folder))
    allowed = any(one.path.parent.resolve().is_relative_to(home) for home in homes)
    return _Wanted(one, build.relative(one.path), sha256, local, allowed)


def _in_a_loop(wanted: Sequence[_Wanted], settings: FetchSection, progress: Progress) -> list[Outcome]:
    """Fetch in an event loop of this thread, or of another where this one has one already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_fetch_all(wanted, settings, progress))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _fetch_all(wanted, settings, progress)).result()


async def _fetch_all(wanted: Sequence[_Wanted], settings: FetchSection, progress: Progress) -> list[Outcome]:
    """Fetch ``concurrency`` documents at a time; the outcomes are in the order of the documents."""
    slots = asyncio.Semaphore(settings.concurrency)

    async def one_of_them(one: _Wanted, client: Client) -> Outcome:
        async with slots:
            outcome = await _fetch(one, client, settings)
        progress.advance()
        return outcome

    async with Client(settings) as client:
        tasks = {one.doc_id: asyncio.ensure_future(one_of_them(one, client)) for one in _hosts_in_turn(wanted)}
        await asyncio.gather(*tasks.values())
        return [tasks[one.doc_id].result() for one in wanted]


def _hosts_in_turn(wanted: Sequence[_Wanted]) -> list[_Wanted]:
    """The documents in an order that goes round the hosts, so that a slow one does not hold up the others."""
    by_host: defaultdict[str, list[_Wanted]] = defaultdict(list)
    for one in wanted:
        by_host[(one.listed.row.pdf_url or "").partition("://")[2].partition("/")[0].lower()].append(one)
    rounds = itertools.zip_longest(*by_host.values())
    return [one for documents in rounds for one in documents if one is not None]


async def _fetch(one: _Wanted, client: Client, settings: FetchSection) -> Outcome:
    """Fetch one document from the first place that has it."""
    there = await asyncio.to_thread(_already_there, one)
    if there is not None:
        return there
    if one.rows:
        message = f"{one.rows} name one file, {one.shown}: give each document a file_name of its own, or leave one row"
        return Outcome(one.doc_id, "failed", one.shown, message=f"not fetched: {message}")
    attempt = _Attempt(one, client, settings)
    try:
        with Partial(one.listed.path) as part:
            return await attempt.fetch(part)
    except PartialBusyError:
        return Outcome(one.doc_id, "failed", one.shown, message="another process is fetching the same document")
    except PartialBlockedError as blocked:
        return Outcome(one.doc_id, "failed", one.shown, message=str(blocked))


class _Attempt:
    """One document on its way: what was tried so far."""

    def __init__(self, one: _Wanted, client: Client, settings: FetchSection) -> None:
        self._one = one
        self._client = client
        self._settings = settings
        self._deadline = Deadline(settings.document_timeout_s)
        self._failures: list[tuple[str, PlaceError]] = []
        """Addresses that did not give it, in the order they were tried."""
        self._local_failures: list[tuple[str, PlaceError]] = []

    async def fetch(self, part: Partial) -> Outcome:
        """Try every place in turn, all of them within the time a document may take."""
        self._part = part
        try:
            async with self._deadline:
                outcome = await self._first_success()
        except TimeoutError:
            message = f"not there within document_timeout_s = {self._settings.document_timeout_s}; run again to go on"
            outcome = self._failed("failed", message)
        return replace(outcome, n_received=part.n_written)

    async def _first_success(self) -> Outcome:
        row, sha256 = self._one.listed.row, self._one.sha256
        if sha256 is not None and (found := await self._copied()) is not None:
            return found
        for place in places(row, self._settings.mirrors, sha256):
            try:
                async for url in self._addresses(place):
                    try:
                        return await self._downloaded(url)
                    except PlaceError as error:
                        self._failures.append((f"{place.kind} {shown(url)}", error))
            except PlaceError as error:
                self._failures.append((f"{place.kind} {shown(place.address)}", error))
        if sha256 is None and (found := await self._copied()) is not None:
            return found
        failures = [*self._failures, *self._local_failures]
        if not failures:
            return self._failed("failed", "there is no pdf_url to fetch it from")
        return self._failed(failures[0][1].status)

    async def _downloaded(self, url: str) -> Outcome:
        known = self._one.sha256 is not None
        if await self._client.download(url, self._part, verifiable=known, deadline=self._deadline):
            try:
                return await self._checked(shown(url))
            except PlaceError:  # maybe two states of the document were put together: once more, in one go
                self._part.discard()
                await self._client.download(url, self._part, verifiable=False, deadline=self._deadline)
        return await self._checked(shown(url))

    async def _addresses(self, place: Place) -> AsyncIterator[str]:
        kind = scheme(place.address)
        if kind in WEB_SCHEMES:
            yield place.address.strip()
        elif kind in RESOLVERS:
            resolver = RESOLVERS[kind](self._settings)
            read = partial(self._client.read, deadline=self._deadline)
            async for url in resolver.addresses(place.address.partition(":")[2], read):
                yield url
        else:
            known = ", ".join([*WEB_SCHEMES, *RESOLVERS])
            raise PlaceError("failed", f"not an address that can be fetched: it starts with none of {known}")

    async def _copied(self) -> Outcome | None:
        """Take the document out of a local folder that has it."""
        for path in self._one.local:
            if not await asyncio.to_thread(path.is_file):
                continue
            where = f"local folder {path.parent.name}"
            try:
                if self._one.sha256 not in (None, found := await asyncio.to_thread(sha256_file, path)):
                    raise PlaceError("mismatch", f"{path.name} has SHA-256 {found}")  # noqa: TRY301 - as from anywhere
                await asyncio.to_thread(_copy, path, self._part, self._settings)
                return await self._checked(where)
            except PlaceError as error:
                self._local_failures.append((where, error))
        return None

    async def _checked(self, place: str) -> Outcome:
        """Check what came, and give it its place.

        Raises:
            PlaceError: it is another document than was listed; it is not kept.
        """
        one, part = self._one, self._part
        row = one.listed.row
        sha256 = await asyncio.to_thread(sha256_file, part.flushed())
        if one.sha256 is not None and sha256 != one.sha256:
            part.discard()
            source = "listed" if row.sha256 is not None else "recorded in documents.jsonl"
            raise PlaceError("mismatch", f"has SHA-256 {sha256}, not {one.sha256} as {source}")
        size = part.size
        if row.bytes is not None and row.bytes != size:
            part.discard()
            raise PlaceError("mismatch", f"has {size} bytes, not {row.bytes} as listed")
        cut = one.sha256 is None and looks_cut_short(part.tail(END_WITHIN))
        part.finish()
        return Outcome(
            one.doc_id,
            "ok" if one.sha256 is not None else "recorded",
            one.shown,
            sha256=sha256,
            n_bytes=size,
            place=place,
            message="has no mark of its end (%%EOF) and may be cut short; no SHA-256 is listed for it" if cut else None,
        )

    def _failed(self, status: Failure, message: str | None = None) -> Outcome:
        """The outcome of a document that no place has: all that was tried."""
        tried = [f"{where}: {error.reason}" for where, error in (*self._failures, *self._local_failures)]
        text = "; ".join([*([message] if message else []), *tried])
        return Outcome(self._one.doc_id, status, self._one.shown, message=f"not fetched: {text}")


def _already_there(one: _Wanted) -> Outcome | None:
    """What to say of a document without fetching it; None when it is to be fetched.

    A file that the corpus file names is the user's own and never replaced; neither is one that only differs from a
    digest recorded earlier. One in the folder of fetched documents gives way to the listed document.
    """
    path, row = one.listed.path, one.listed.row
    is_there, problem = _state(one)
    if problem is not None:
        return Outcome(one.doc_id, "failed", one.shown, message=f"not fetched: {problem}")
    if not is_there:
        return None
    sha256, n_bytes = sha256_file(path), path.stat().st_size
    if one.sha256 in (None, sha256) and row.bytes in (None, n_bytes):
        forget_origin(path)
        return Outcome(one.doc_id, "already-there", one.shown, sha256, n_bytes)
    if row.file_name is None and row.sha256 is not None:
        return None
    listed = f"SHA-256 {one.sha256}" if one.sha256 not in (None, sha256) else f"{row.bytes} bytes"
    message = (
        f"{one.shown} is there with SHA-256 {sha256} and {n_bytes} bytes, not with {listed}: remove it to fetch it"
    )
    return Outcome(one.doc_id, "mismatch", one.shown, sha256, n_bytes, message=message)


def _state(one: _Wanted) -> tuple[bool, str | None]:
    """Whether a file is there, and what keeps one from being put there."""
    try:
        kind = one.listed.path.stat().st_mode
    except FileNotFoundError:
        outside = "its file_name leads out of the workspace and the corpus file's folder"
        return False, None if one.allowed else outside
    except OSError as error:  # such as a name that is too long; what is in the way of all documents ends the run later
        return False, None if one.listed.row.file_name is None else (error.strerror or str(error)).lower()
    return True, None if stat.S_ISREG(kind) else f"{one.shown} is in the way: no regular file"


def _copy(path: Path, part: Partial, settings: FetchSection) -> None:
    """Copy a file of a local folder into a partial file.

    Raises:
        PlaceError: it is no PDF, or too large.
    """
    limit = settings.max_document_mb << 20
    part.begin(Origin(address_sha256=sha256_bytes(os.fsencode(path))))
    for block in _blocks(path):
        if part.size + len(block) > limit:
            part.discard()
            raise PlaceError("too-large", f"has more than max_document_mb = {settings.max_document_mb}")
        part.write(block)
    if (problem := content_problem(part.head(MAGIC_WITHIN), None)) is not None:
        part.discard()
        raise PlaceError("not-pdf", problem)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            yield block


def _record(
    build: Build, asked: Sequence[Listed], outcomes: Mapping[str, Outcome], recorded: Mapping[str, CorpusRow]
) -> int:
    """Write what is known now and was not into ``documents.jsonl``; returns how many rows got a digest by it."""
    rows = dict(recorded)
    n_recorded = 0
    for one in asked:
        outcome = outcomes[one.row.doc_id]
        row = rows.get(one.row.doc_id, one.row)
        if outcome.is_there and (row.sha256 is None or one.row.doc_id not in rows):
            n_recorded += row.sha256 is None
            known = {"sha256": outcome.sha256, "bytes": outcome.n_bytes, "file_name": one.file_name}
            rows[one.row.doc_id] = row.model_copy(update=known)
    if rows != recorded:
        write_jsonl(build.documents, [rows[doc_id] for doc_id in sorted(rows)])
    return n_recorded
