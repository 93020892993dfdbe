"""The recorded calls of one generation, looked up by request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nclue_build.calls.line import CallRecord, decode_line, decode_reply
from nclue_build.calls.scan import Index, corrupt_error, scan_file
from nclue_build.core.errors import Finding
from nclue_build.core.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.scan import Place
    from nclue_build.records.calls import CallRequest


class CallCache:
    """Sealed records. Files of a prompt are indexed when it is first asked about; every record is verified when read.

    Args:
        places: Of the generation.
    """

    def __init__(self, places: CallPlaces) -> None:
        self.places = places
        self.torn: list[Finding] = []
        """Torn last lines met so far."""
        self._indexed: dict[str, Index] = {}

    def find(self, prompt_id: str, key: str) -> CallRecord | None:
        """The record of a key, or None.

        Args:
            prompt_id: Of its request.
            key: Of its request.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        place = self._index(prompt_id).places.get(key.encode("ascii"))
        return None if place is None else _verified(place, decode_line)

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
        place = self._index(request.prompt_id).places.get(key.encode("ascii"))
        return None if place is None else _verified(place, lambda line: decode_reply(line, request, canonical))

    def records(self, prompt_id: str) -> Iterator[tuple[Place, CallRecord]]:
        """Every record of a prompt, by key.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        for _, place in sorted(self._index(prompt_id).places.items()):
            yield place, _verified(place, decode_line)

    def __len__(self) -> int:
        """Number of records of the prompts indexed so far."""
        return sum(len(index.places) for index in self._indexed.values())

    def _index(self, prompt_id: str) -> Index:
        known = self._indexed.get(prompt_id)
        if known is not None:
            return known
        found, index = Findings(), Index()
        for path in self.places.shards(prompt_id):
            for place in scan_file(path, found):
                index.add(place)
        damaged = [row for row in found.kept if row.code != "call-torn"]
        if damaged:
            raise corrupt_error(damaged)
        index.raise_conflicts()
        self.torn += [row for row in found.kept if row.code == "call-torn"]
        self._indexed[prompt_id] = index
        return index


def _verified(place: Place, decode: Callable[[bytes], CallRecord]) -> CallRecord:
    descriptor = os.open(place.path, os.O_RDONLY)
    try:
        line = os.pread(descriptor, place.length, place.offset)
    finally:
        os.close(descriptor)
    try:
        return decode(line)
    except ValueError as error:
        raise corrupt_error([Finding("call-corrupt", str(error), str(place.path), place.line)]) from None
