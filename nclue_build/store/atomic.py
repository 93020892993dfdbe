"""Atomic writes: a kill at any point leaves the old file or the new one, never half."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPORARY_SUFFIX: Final = ".nclue-tmp"
"""Ends the name of a file that is being written; such a name also starts with a dot."""
NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says when a file cannot get larger."""


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place when the block ends well.

    The parent folder is made when missing. On any exception the temporary file goes and the
    old file stays untouched.

    Raises:
        OSError: the disk is full, or the folder cannot be written; its ``filename`` is ``path``.
    """
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=TEMPORARY_SUFFIX)
    try:
        with naming(path), os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of writing name the file that was to be written: the system names none, or the temporary one."""
    try:
        yield
    except OSError as error:
        if (error.filename is None and error.errno in NO_ROOM) or str(error.filename).endswith(TEMPORARY_SUFFIX):
            error.filename = str(path)
        raise


def remove_leftovers(folder: Path, *, older_than_s: float = 0.0) -> None:
    """Remove temporary files and folders of processes that were killed, in a folder and those below.

    Args:
        folder: Where nobody else is writing now.
        older_than_s: Where somebody may be: seconds after which a temporary file is nobody's any more.
    """
    oldest = time.time() - older_than_s
    for path in sorted(folder.rglob(f".*{TEMPORARY_SUFFIX}")):
        with contextlib.suppress(FileNotFoundError):
            if path.lstat().st_mtime > oldest:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names of a folder durable, such as one that a file has just taken."""
    # Only POSIX lets a folder be opened; elsewhere the rename alone has to do.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file atomically."""
    with atomic_writer(path) as stream:
        stream.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a whole UTF-8 file atomically, LF line ends as given."""
    write_bytes(path, text.encode("utf-8"))
