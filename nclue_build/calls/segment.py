"""Recording: each process appends to a segment of its own, and every record is on the disk before the next call."""

from __future__ import annotations

import fcntl
import os
import secrets
from typing import TYPE_CHECKING

from nclue_build.calls.guard import secret_in
from nclue_build.calls.line import encode_line, head_of
from nclue_build.core.errors import Finding, InternalError, PermanentCallError
from nclue_build.store.atomic import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from nclue_build.calls.places import CallPlaces
    from nclue_build.records.calls import CallRequest, Provenance, Status


class Segment:
    """A file in the inbox that one process appends to.

    The process holds a lock on it as long as it lives, so that nobody takes it away while it may still grow.

    Args:
        places: Of the generation that is recorded.
        secret_variables: Environment variables whose values must never be written.
        durable: Whether every record is on the disk before :meth:`append` returns. What comes from a file that is
            there anyway need not be: it is on the disk when it is sealed.
    """

    def __init__(self, places: CallPlaces, secret_variables: Iterable[str] = (), *, durable: bool = True) -> None:
        self._secrets, self._durable = tuple(secret_variables), durable
        places.inbox.mkdir(parents=True, exist_ok=True)
        self._path, self._file = self._create(places)
        sync_folder(places.inbox)

    @staticmethod
    def _create(places: CallPlaces) -> tuple[str, int]:
        while True:
            path = places.inbox / f"{os.getpid()}-{secrets.token_hex(8)}.jsonl"
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            fcntl.flock(file, fcntl.LOCK_EX)
            # Between creation and lock somebody may have sealed the empty file away.
            if path.exists() and os.fstat(file).st_ino == path.stat().st_ino:
                return str(path), file
            os.close(file)

    def append(self, request: CallRequest, status: Status, response: bytes, provenance: Provenance) -> bytes:
        """Write a record; it is on the disk when this returns, unless the segment is not durable.

        Returns:
            The line.

        Raises:
            PermanentCallError: it holds something that looks like a credential.
            OSError: the disk is full.
        """
        line = encode_line(request, status, response, provenance)
        if (kind := secret_in(line, self._secrets)) is not None:
            head = head_of(line)
            key = head[0].decode("ascii") if head else None
            message = f"the record of a call to prompt {request.prompt_id!r} holds {kind}: it is not written"
            raise PermanentCallError(message, [Finding("call-secret", message, id=key)])
        data = line + b"\n"
        if os.write(self._file, data) != len(data):
            raise InternalError(f"{self._path}: a record was written in part")
        if self._durable:
            os.fsync(self._file)
        return line

    def close(self) -> None:
        """Let the file go, so that it can be sealed."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
