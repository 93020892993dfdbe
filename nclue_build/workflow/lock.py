"""One run per build at a time: an advisory lock that dies with its process."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from nclue_build.store.workspace import Build


@contextlib.contextmanager
def build_lock(build: Build) -> Iterator[None]:
    """Hold the build's lock for the length of the block.

    The kernel releases the lock when the process ends in whatever way, so a killed run
    never leaves a build locked. The file itself stays: removing it would let two runs hold
    locks on two files of the same name.

    Raises:
        UsageError: another process holds it.
        OSError: the workspace cannot be written.
    """
    build.lock.parent.mkdir(parents=True, exist_ok=True)
    with build.lock.open("a+", encoding="ascii") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"build {build.name!r} is already being run by process {_holder(stream)}: "
                "wait until it ends, or stop it (a stopped run is resumed by the next one)"
            ) from None
        stream.truncate(0)
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        yield
        stream.truncate(0)


def running_process(build: Build) -> str | None:
    """Id of the process that runs the build right now, ``unknown`` where it cannot be told; None when none does."""
    try:
        stream = build.lock.open(encoding="ascii")
    except OSError:  # never run, or not ours to look into
        return None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(stream)
    return None


def _holder(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read().strip() or "unknown"
