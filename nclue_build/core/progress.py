"""The progress protocol: stages report, the command line (or nobody) listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """What a stage may tell whoever watches it."""

    def start(self, task: str, total: int | None, unit: str) -> None:
        """Begin a task of ``total`` units (None when unknown); ends any task before it."""

    def advance(self, amount: int = 1) -> None:
        """Report ``amount`` more units of the current task as done."""

    def note(self, message: str) -> None:
        """Report something worth knowing that is no problem."""

    def warn(self, message: str) -> None:
        """Report a shortfall: it is counted elsewhere, and said here."""


class NullProgress:
    """Listens to nothing: the default of the library API."""

    def start(self, task: str, total: int | None, unit: str) -> None:
        """Ignore."""

    def advance(self, amount: int = 1) -> None:
        """Ignore."""

    def note(self, message: str) -> None:
        """Ignore."""

    def warn(self, message: str) -> None:
        """Ignore."""
