"""Progress on stderr: live bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from nclue_build.core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import IO, Self

    from rich.progress import Progress as RichBars
    from rich.progress import TaskID

_PLAIN_INTERVAL_S = 10.0
"""Seconds between the plain lines of a long task."""


class Display:
    """A progress listener that has to be opened and closed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""

    def start(self, task: str, total: int | None, unit: str) -> None:
        """Begin a task; ends any task before it."""

    def advance(self, amount: int = 1) -> None:
        """Count units of the current task as done."""

    def note(self, message: str) -> None:
        """Say something that is no problem."""

    def warn(self, message: str) -> None:
        """Say what fell short."""


class QuietDisplay(Display):
    """Says warnings only."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def warn(self, message: str) -> None:
        """Say what fell short."""
        print(f"warning: {message}", file=self._stream, flush=True)


class PlainDisplay(QuietDisplay):
    """Lines for logs: notes, warnings, and now and then how far a long task is."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock = clock
        self._task, self._unit = "", ""
        self._total: int | None = None
        self._done = 0
        self._said_at = 0.0

    def start(self, task: str, total: int | None, unit: str) -> None:
        """Begin a task; ends any task before it."""
        self._task, self._total, self._unit, self._done = task, total, unit, 0
        self._said_at = self._clock()
        size = "" if total is None else f" ({counted(total, unit.removesuffix('s'))})"
        print(f"  {task}{size}", file=self._stream, flush=True)

    def advance(self, amount: int = 1) -> None:
        """Count units of the current task as done."""
        self._done += amount
        now = self._clock()
        if now - self._said_at >= _PLAIN_INTERVAL_S:
            self._said_at = now
            of = "" if self._total is None else f" of {self._total}"
            print(f"  {self._task}: {self._done}{of} {self._unit}", file=self._stream, flush=True)

    def note(self, message: str) -> None:
        """Say something that is no problem."""
        print(message, file=self._stream, flush=True)


class LiveDisplay(Display):
    """Bars of the rich library, on a terminal."""

    def __init__(self, stream: IO[str]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._bars: RichBars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeElapsedColumn(),
            console=Console(file=stream, stderr=True, highlight=False),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bars away, whatever happened."""
        self._end()
        self._bars.stop()

    def start(self, task: str, total: int | None, unit: str) -> None:
        """Begin a task; ends any task before it."""
        self._end()
        self._task = self._bars.add_task(task, total=total, unit=unit)

    def advance(self, amount: int = 1) -> None:
        """Count units of the current task as done."""
        if self._task is not None:
            self._bars.advance(self._task, amount)

    def note(self, message: str) -> None:
        """Say something that is no problem."""
        self._end()
        self._bars.console.print(message, markup=False, style="dim")

    def warn(self, message: str) -> None:
        """Say what fell short."""
        self._bars.console.print(f"warning: {message}", markup=False, style="yellow")

    def _end(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None


def make_display(*, quiet: bool) -> Display:
    """The display that fits the options and the terminal."""
    if quiet:
        return QuietDisplay(sys.stderr)
    return LiveDisplay(sys.stderr) if sys.stderr.isatty() else PlainDisplay(sys.stderr)
