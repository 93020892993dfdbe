"""One document on its way: every place that may have it, in turn, until one gives it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.fetch.content import END_WITHIN, MAGIC_WITHIN, content_problem, looks_cut_short
from nclue_build.fetch.hosts import Deadline
from nclue_build.fetch.outcome import Outcome, PlaceError
from nclue_build.fetch.places import WEB_SCHEMES, places, scheme, shown
from nclue_build.fetch.resolvers import RESOLVERS
from nclue_build.store.partial import Origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from nclue_build.fetch.client import Client
    from nclue_build.fetch.outcome import Failure
    from nclue_build.fetch.places import Place
    from nclue_build.fetch.wanted import Wanted
    from nclue_build.records.config import FetchSection
    from nclue_build.store.partial import Partial

_BLOCK: Final = 1 << 20


class Attempt:
    """One document on its way: what was tried so far."""

    def __init__(self, one: Wanted, client: Client, settings: FetchSection) -> None:
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
            where = f"local folder {path.parent.name}"
            try:
                if not await asyncio.to_thread(_may_be_it, path, self._one.sha256):
                    continue
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
        if self._one.listed.path.exists():
            text += f"; {self._one.shown} is there, and is not the listed document"
        return Outcome(self._one.doc_id, status, self._one.shown, message=f"not fetched: {text}")


def _may_be_it(path: Path, sha256: str | None) -> bool:
    """Whether there is such a file; one of another digest must not cost what came of a download by now.

    Raises:
        PlaceError: it has another digest, or cannot be read.
    """
    with _reading(path):
        if not path.is_file():
            return False
        found = sha256 and sha256_file(path)
    if found != sha256:
        raise PlaceError("mismatch", f"{path.name} has SHA-256 {found}")
    return True


def _copy(path: Path, part: Partial, settings: FetchSection) -> None:
    """Copy a file of a local folder into a partial file.

    Raises:
        PlaceError: it is no PDF, too large, or cannot be read.
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
    with _reading(path):
        stream = path.open("rb")
    with stream:
        while True:
            with _reading(path):
                block = stream.read(_BLOCK)
            if not block:
                return
            yield block


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Let a file that cannot be read be a place that does not give the document: others may."""
    try:
        yield
    except OSError as error:
        raise PlaceError("failed", f"{path.name} cannot be read: {(error.strerror or str(error)).lower()}") from None
