"""Running a program that may do anything: it is ended with all it started, and its output is bounded."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_READ_BYTES: Final = 1 << 16
_KEPT_BYTES: Final = 1 << 16
_STEP_S: Final = 0.2
_GRACE_S: Final = 5.0
"""Seconds a program has to end by itself when it is asked to."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Args:
        code: Its exit code, negative for the signal that ended it; None when it was stopped.
        said: The end of what it wrote to either output.
        timed_out: Whether it was stopped because it took too long.
    """

    code: int | None
    said: str
    timed_out: bool = False


def run_program(
    command: Sequence[str],
    folder: Path,
    timeout_s: float,
    *,
    environment: Mapping[str, str] | None = None,
    stop: threading.Event | None = None,
) -> Ended:
    """Run a program to its end, without input, and end all that it started.

    Args:
        command: The program and its arguments.
        folder: The folder it runs in.
        timeout_s: Seconds it may take.
        environment: Variables beside ours.
        stop: Set by another thread when the program is to be ended.

    Raises:
        UsageError: it cannot be started.
    """
    deadline = time.monotonic() + timeout_s
    try:
        process = subprocess.Popen(  # noqa: S603 - the program the user named or installed
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(environment or {}),
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {(error.strerror or str(error)).lower()}") from None
    said: deque[bytes] = deque()
    try:
        while process.poll() is None:
            if time.monotonic() >= deadline or (stop is not None and stop.is_set()):
                return Ended(None, _text(said), timed_out=stop is None or not stop.is_set())
            _listen(process, said)
        _end_group(process, signal.SIGKILL)  # what it left running holds the pipe open, and the machine
        while _listen(process, said):
            pass
        return Ended(process.returncode, _text(said))
    finally:
        _end(process)
        if process.stdout is not None:
            process.stdout.close()


def _listen(process: subprocess.Popen[bytes], said: deque[bytes]) -> bool:
    """Wait a moment for output and keep the end of it; whether there was any."""
    assert process.stdout is not None  # noqa: S101 - opened as a pipe
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(_STEP_S):
            return False
    block = os.read(process.stdout.fileno(), _READ_BYTES)
    if not block:  # closed, though the program may go on
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STEP_S)
        return False
    said.append(block)
    while sum(map(len, said)) - len(said[0]) > _KEPT_BYTES:
        said.popleft()
    return True


def _text(said: deque[bytes]) -> str:
    return b"".join(said).decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it started: first asked, then not."""
    if process.poll() is None:
        _end_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _end_group(process, signal.SIGKILL)
    process.wait()


def _end_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
