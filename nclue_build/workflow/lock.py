"""One run per build at a time: an advisory lock that dies with its process."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import UsageError
from nclue_build.store.atomic import naming, remove_leftovers
from nclue_build.workflow.switching import recover

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from nclue_build.store.workspace import Build

_SHARED_LEFTOVER_S: Final = 24 * 3600.0
"""Other builds may be running and writing to the page cache; no file takes them a day."""


@contextlib.contextmanager
def build_lock(build: Build) -> Iterator[None]:
    """Hold the build's lock for the length of the block.

    The kernel releases the lock when the process ends in whatever way, so a killed run
    never leaves a build locked. The file itself stays: removing it would let two runs hold
    locks on two files of the same name. What killed runs were writing is removed first, and a repair that was killed
    in the middle is finished or taken back.

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
        with naming(build.lock):
            stream.write(f"{os.getpid()}\n")
            stream.flush()
        recover(build)
        _remove_leftovers(build)
        yield
        stream.truncate(0)


def _remove_leftovers(build: Build) -> None:
    """Remove all that is half written of this build, and from the page cache, which others share, what is old."""
    for folder in (build.inventory, build.benchmark, build.receipts):
        remove_leftovers(folder)
    remove_leftovers(build.workspace.state / "pages", older_than_s=_SHARED_LEFTOVER_S)


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
