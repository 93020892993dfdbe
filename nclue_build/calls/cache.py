"""The recorded calls of one generation, looked up by request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.calls.line import CallRecord, decode_line
from nclue_build.calls.scan import Index, corrupt_error, scan_file
from nclue_build.core.errors import Finding
from nclue_build.core.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def find(self, prompt_id: str, key: str, known: CallRequest | None = None) -> CallRecord | None:
        """The record of a key, or None.

        Args:
            prompt_id: Of its request.
            key: Of its request.
            known: The request itself, where it is at hand: it need not be read again.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        place = self._index(prompt_id).places.get(key.encode("ascii"))
        return None if place is None else self._read(place, known)

    def records(self, prompt_id: str) -> Iterator[tuple[Place, CallRecord]]:
        """Every record of a prompt, by key.

        Raises:
            CacheCorrupt: a line is damaged.
            CacheConflict: a call of the prompt has different replies.
        """
        for _, place in sorted(self._index(prompt_id).places.items()):
            yield place, self._read(place)

    def __len__(self) -> int:
        """Number of records of the prompts indexed so far."""
        return sum(len(index.places) for index in self._indexed.values())

    def _index(self, prompt_id: str) -> Index:
        known = self._indexed.get(prompt_id)
        if known is not None:
            return known
        found, index = Findings(), Index()
        for path in self.places.shards(prompt_id):
            for line in scan_file(path, found, whole=False):
                index.add(line)
        damaged = [row for row in found.kept if row.code != "call-torn"]
        if damaged:
            raise corrupt_error(damaged)
        index.raise_conflicts()
        self.torn += [row for row in found.kept if row.code == "call-torn"]
        self._indexed[prompt_id] = index
        return index

    @staticmethod
    def _read(place: Place, known: CallRequest | None = None) -> CallRecord:
        with place.path.open("rb") as stream:
            stream.seek(place.offset)
            line = stream.read(place.length)
        try:
            return decode_line(line, known)
        except ValueError as error:
            raise corrupt_error([Finding("call-corrupt", str(error), str(place.path), place.line)]) from None
