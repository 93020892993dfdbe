"""The standard streams, made safe: closed, full, broken or unable to show a character."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def prepare() -> None:
    """Give closed streams somewhere to write, and let no character be an error.

    A process started with ``>&-`` has no ``sys.stdout`` at all.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def shows_unicode() -> bool:
    """Whether stdout can take any character as it is."""
    return (getattr(sys.stdout, "encoding", None) or "ascii").lower().startswith("utf")


def flush() -> None:
    """Write out what is buffered.

    Raises:
        OSError: the reader has gone, or the disk behind a redirection is full.
    """
    sys.stdout.flush()
    sys.stderr.flush()


def silence() -> None:
    """Point both streams to nowhere, so that the interpreter does not complain when it closes them."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device, not a path of ours
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere.fileno(), stream.fileno())
