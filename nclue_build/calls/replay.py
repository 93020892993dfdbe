"""Replaying where the work is: workers look recorded replies up by themselves, and send back what they come to.

A prompt with the pages of a document is large and what its reply comes to is small. So whoever renders the prompt also
computes its key, reads and verifies its record, and checks the reply.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from nclue_build.calls.cache import CallCache
from nclue_build.calls.key import key_of, request_bytes
from nclue_build.calls.outcomes import read_record, used_call
from nclue_build.core.canonical import sha256_json

if TYPE_CHECKING:
    import os

    from nclue_build.calls.outcomes import Outcome, ReplyT
    from nclue_build.calls.places import CallPlaces
    from nclue_build.records.calls import CallRequest, UsedCall


@dataclass(frozen=True, slots=True)
class Replay:
    """The recorded calls to one prompt, for workers: it is small to send.

    Args:
        places: Of the generation.
        state: Changes when the files do (:func:`state_of`), so that a worker that serves several runs looks again.
    """

    places: CallPlaces
    state: str

    def find(self, request: CallRequest, kind: type[ReplyT]) -> tuple[Outcome[ReplyT], UsedCall] | None:
        """What a call came to, and that it was used; None where no reply is recorded.

        Args:
            request: What is asked.
            kind: The reply that its schema has.

        Raises:
            CacheCorrupt: a record is damaged, or was stored under other rules.
            CacheConflict: a call has different replies.
        """
        canonical = request_bytes(request)
        record = _open(self.places, self.state).find_reply(request, canonical, key_of(canonical))
        return None if record is None else (read_record(record, kind, self.places), used_call(record))


def state_of(places: CallPlaces, prompt_id: str) -> str:
    """A digest of names, sizes and times of the sealed files of a prompt."""
    files: list[tuple[str, os.stat_result]] = []
    for path in places.shards(prompt_id):
        with contextlib.suppress(FileNotFoundError):  # removed since it was listed: nothing in it is of use
            files.append((path.name, path.stat()))
    return sha256_json([(name, found.st_ino, found.st_size, found.st_mtime_ns) for name, found in files])


@lru_cache(maxsize=1)
def _open(places: CallPlaces, state: str) -> CallCache:
    """An index, once per worker and state of the files."""
    del state
    return CallCache(places)
