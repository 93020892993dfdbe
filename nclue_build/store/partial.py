"""Downloads in progress: a ``.part`` file beside the place it is for, and what is needed to go on with it.

The file takes its name only when it is whole and checked, so a kill at any point leaves what was there before, and
beside it as much as had come. A small JSON file next to it says where the bytes come from, so that nothing is ever
appended to bytes of another origin.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from typing import IO, TYPE_CHECKING, Self

from nclue_build.core.errors import DataError
from nclue_build.records.base import Record, Sha256
from nclue_build.store.atomic import naming, sync_folder
from nclue_build.store.jsonl import read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class PartialBusyError(Exception):
    """Another process is filling the same partial file."""


class PartialBlockedError(Exception):
    """What stands at the place of the partial file is not one of ours, and stays as it is."""


class Origin(Record):
    """Where the bytes of a partial file come from.

    The address itself is not kept, as it may hold a password. ``validator`` is what the server called this state of
    the document (a strong ``ETag``, else ``Last-Modified``); null when it said nothing of the kind.
    """

    address_sha256: Sha256
    validator: str | None = None


class Partial:
    """A file that is being filled, held by this process alone while the block lasts.

    Args:
        target: The place it is for; its folder is made when missing.

    Raises:
        PartialBusyError: on entering, when another process holds it.
        PartialBlockedError: on entering, when somebody else's file, a link, a folder or a pipe is in its place.
        OSError: the disk is full, or the folder cannot be written.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(f"{target.name}.part")
        self._origin_path = target.with_name(f"{target.name}.part.json")
        self._stream: IO[bytes]
        self.size = 0
        """Bytes that are there."""
        self.n_written = 0
        """Bytes that were written by now, those that were discarded included."""
        self.origin: Origin | None = None

    def __enter__(self) -> Self:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = self._open()
        self._stream = os.fdopen(descriptor, "r+b")
        if not self._hold(descriptor):
            self._stream.close()
            raise PartialBusyError
        self.size = self._stream.seek(0, os.SEEK_END)
        try:
            self.origin = self._known_origin()
        except PartialBlockedError:
            self._stream.close()
            raise
        return self

    def _open(self) -> int:
        """Open a regular file in its place: what a link leads to is nobody's business here, a pipe would not end."""
        _is_there(self._path)
        _is_there(self._origin_path)  # a name without room for this suffix is an error while nothing is there yet
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.open(self._path, flags, 0o644)

    def _known_origin(self) -> Origin | None:
        """What is known of the bytes that are there; bytes without that, or notes of another kind, are not ours."""
        if _is_there(self._origin_path):
            try:
                return read_json(self._origin_path, Origin)
            except DataError:
                raise _blocked(self._origin_path) from None
        if self.size:
            raise _blocked(self._path)
        return None

    def _hold(self, descriptor: int) -> bool:
        """Take the file for this process; False where another has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it a moment ago may have given the file its final name.
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except (BlockingIOError, FileNotFoundError):
            return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream.closed:
            return
        try:
            self._stream.flush()
        finally:
            if not self.size:
                self._path.unlink(missing_ok=True)
                self._origin_path.unlink(missing_ok=True)
            # A second flush of what did not fit on the disk would only hide the first error.
            with contextlib.suppress(OSError):
                self._stream.close()

    def begin(self, origin: Origin) -> None:
        """Forget what is there and start with bytes of ``origin``."""
        self.discard()
        write_json(self._origin_path, origin)
        self.origin = origin

    def discard(self) -> None:
        """Forget what is there."""
        self._stream.seek(0)
        self._stream.truncate()
        self.size, self.origin = 0, None
        self._origin_path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append."""
        with naming(self._target):
            self._stream.write(data)
        self.size += len(data)
        self.n_written += len(data)

    def head(self, length: int) -> bytes:
        """The first bytes, at most ``length`` of them."""
        return self._read(0, length)

    def tail(self, length: int) -> bytes:
        """The last bytes, at most ``length`` of them."""
        return self._read(max(0, self.size - length), length)

    def _read(self, start: int, length: int) -> bytes:
        self._stream.seek(start)
        data = self._stream.read(length)
        self._stream.seek(0, os.SEEK_END)
        return data

    def flushed(self) -> Path:
        """The partial file with all that was written in it, for whoever computes its digest."""
        with naming(self._target):
            self._stream.flush()
        return self._path

    def finish(self) -> None:
        """Give the file its place, replacing what is there: durable when this returns."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._path.replace(self._target)
        self._stream.close()
        self._origin_path.unlink(missing_ok=True)
        sync_folder(self._target.parent)


def forget_origin(target: Path) -> None:
    """Remove what a kill may leave beside a file that has just got its place: the note of where its bytes came from."""
    origin = target.with_name(f"{target.name}.part.json")
    if target.with_name(f"{target.name}.part").exists():
        return
    with contextlib.suppress(DataError, PartialBlockedError, OSError):
        if _is_there(origin):
            read_json(origin, Origin)
            origin.unlink()


def _is_there(path: Path) -> bool:
    """Whether there is a regular file.

    Raises:
        PartialBlockedError: there is something else.
        OSError: such a name cannot be, or its folder cannot be read.
    """
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(kind):
        raise _blocked(path)
    return True


def _blocked(path: Path) -> PartialBlockedError:
    return PartialBlockedError(f"{path.name} is no file of ours: move it away")
