"""The recorded calls of one generation, looked up by request."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from nclue_build.calls.line import CallRecord, decode_line, decode_reply, head_of
from nclue_build.calls.scan import Index, corrupt_error, scan_file
from nclue_build.core.errors import CacheCorrupt, Finding
from nclue_build.core.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.scan import Place
    from nclue_build.records.calls import CallRequest

_MOVED: Final = "is no longer the record that stood here"


class CallCache:
    """Sealed records. Files of a prompt are indexed when it is first asked about; every record is verified when read.

    Args:
        places: Of the generation.
    """

    def __init__(self, places: CallPlaces) -> None:
        self.places = places
        self.torn: list[Finding] = []
        """Torn last lines met so far."""
        self._said: set[Finding] = set()
        self._indexed: dict[str, Index] = {}

    def open(self, prompt_id: str) -> None:
        """Index the records of a prompt, as the first look-up does.

        Raises:
            CacheCorrupt: a line is no record.
            CacheConflict: a call of the prompt has different replies.
        """
        self._index(prompt_id)

    def find(self, prompt_id: str, key: str) -> CallRecord | None:
        """The record of a key, or None.

        Args:
            prompt_id: Of its request.
            key: Of its request.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        found = self._read(prompt_id, key.encode("ascii"), decode_line)
        return None if found is None else found[1]

    def find_reply(self, request: CallRequest, canonical: bytes, key: str) -> CallRecord | None:
        """The record of a request that is at hand, or None.

        Args:
            request: What was asked.
            canonical: The same as bytes.
            key: Of both.

        Raises:
            CacheCorrupt: as :meth:`find`.
            CacheConflict: as there.
        """
        found = self._read(request.prompt_id, key.encode("ascii"), lambda line: decode_reply(line, request, canonical))
        return None if found is None else found[1]

    def records(self, prompt_id: str) -> Iterator[tuple[Place, CallRecord]]:
        """Every record of a prompt, by key.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        for key in sorted(self._index(prompt_id).places):
            if (found := self._read(prompt_id, key, decode_line)) is not None:
                yield found

    def _read(
        self, prompt_id: str, key: bytes, decode: Callable[[bytes], CallRecord]
    ) -> tuple[Place, CallRecord] | None:
        """A verified record and its place.

        Somebody may have sealed or pruned since the files were indexed: what is not as it was is looked for once more,
        and is damaged when it still stands where it stood.
        """
        place = self._index(prompt_id).places.get(key)
        while place is not None:
            try:
                return place, _verified(place, decode)
            except (CacheCorrupt, FileNotFoundError):
                self._indexed.pop(prompt_id, None)
                again = self._index(prompt_id).places.get(key)
                if again == place:
                    raise
                place = again
        return None

    def _index(self, prompt_id: str) -> Index:
        known = self._indexed.get(prompt_id)
        if known is not None:
            return known
        found, index = Findings(), Index()
        for path in self.places.shards(prompt_id):
            with contextlib.suppress(FileNotFoundError):  # pruned between listing and reading
                for place in scan_file(path, found):
                    index.add(place)
        damaged = [row for row in found.kept if row.code != "call-torn"]
        if damaged:
            raise corrupt_error(damaged)
        index.raise_conflicts()
        torn = [row for row in found.kept if row.code == "call-torn" and row not in self._said]
        self.torn += torn
        self._said.update(torn)
        self._indexed[prompt_id] = index
        return index


def _verified(place: Place, decode: Callable[[bytes], CallRecord]) -> CallRecord:
    descriptor = os.open(place.path, os.O_RDONLY)
    try:
        line = os.pread(descriptor, place.length, place.offset)
    finally:
        os.close(descriptor)
    try:
        # Where files changed, another record may stand here, and be as long.
        if head_of(line) != (place.key, place.rec):
            raise ValueError(_MOVED)  # noqa: TRY301 - one place turns it into a finding
        return decode(line)
    except ValueError as error:
        raise corrupt_error([Finding("call-corrupt", str(error), str(place.path), place.line)]) from None
