"""The error tree and the exit codes it maps to.

::

    NclueError
     ├── UsageError      2   bad config, workspace, prompt or option
     ├── DataError       3   bad record, dangling id, digest mismatch, missing listed file
     ├── CallError       4   a model call that has no usable recorded reply
     │    ├── FrozenMiss            replies are missing, and none may be asked for
     │    ├── CacheConflict         two different replies to one request
     │    ├── CacheCorrupt          a record is not as it was written
     │    ├── TransientCallError    a call failed for a while: it may be tried again
     │    ├── PermanentCallError    a call failed for good: credentials, spending, a refused request
     │    └── BudgetReached         what a run may spend is spent: it can go on in another run
     ├── ReleaseError    5   a release that cannot be built or verified
     ├── OutcomeError    1   ran to the end, but there is nothing to deliver
     └── InternalError  70   our bug

A command that a signal ended has 128 plus its number, as shells have it: 130 interrupted (SIGINT), 141 whoever read the
output has gone (SIGPIPE), 143 terminated (SIGTERM).

A message says what is wrong, where, and what to do next, on one line. Many bad
rows are reported together: :class:`DataError` carries a tuple of findings.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_DATA = 3
EXIT_CALL = 4
EXIT_RELEASE = 5
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
EXIT_TERMINATED = 143

_FINDINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, in the shape of the ``--json`` envelope.

    Args:
        code: Stable, documented code (:mod:`nclue_build.core.findings` has them all).
        message: One line: what is wrong and what to do.
        path: File it was found in, relative to the workspace where possible.
        line: 1-based line in that file.
        id: Id of the record concerned.
    """

    code: str
    message: str
    path: str | None = None
    line: int | None = None
    id: str | None = None

    def __str__(self) -> str:
        """Render as ``path:line: message [code]``."""
        where = self.path or ""
        if self.line is not None:
            where += f":{self.line}"
        return f"{where}: {self.message} [{self.code}]" if where else f"{self.message} [{self.code}]"


class NclueError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = EXIT_INTERNAL

    def __init__(self, message: str, findings: Iterable[Finding] = ()) -> None:
        """Keep the one-line message and the findings behind it."""
        super().__init__(message)
        self.message = message
        self.findings: tuple[Finding, ...] = tuple(findings)


class UsageError(NclueError):
    """The caller asked for something that cannot be done as asked."""

    exit_code = EXIT_USAGE


class DataError(NclueError):
    """A file does not hold what its format promises."""

    exit_code = EXIT_DATA

    @classmethod
    def from_findings(cls, findings: Iterable[Finding], *, total: int | None = None) -> DataError:
        """Report many bad rows as one error whose message lists the first ones.

        Args:
            findings: What was found.
            total: How many there were, where not all were kept.
        """
        rows = tuple(findings)
        lines = [str(row) for row in rows[:_FINDINGS_SHOWN]]
        if (more := (total or len(rows)) - len(lines)) > 0:
            lines.append(f"... and {more} more")
        return cls("\n".join(lines), rows)


class CallError(NclueError):
    """A model call has no usable recorded reply."""

    exit_code = EXIT_CALL


class FrozenMiss(CallError):  # noqa: N818 - the name of the contract
    """Replies are missing, and the mode allows no question: all of them are listed."""


class CacheConflict(CallError):  # noqa: N818 - the name of the contract
    """Two different replies are recorded for one request: somebody has to choose."""


class CacheCorrupt(CallError):  # noqa: N818 - the name of the contract
    """A recorded reply is not as it was written."""


class TransientCallError(CallError):
    """A call failed for a while: it may be tried again."""


class PermanentCallError(CallError):
    """A call failed for good: credentials, spending, or a request that is refused."""


class BudgetReached(CallError):  # noqa: N818 - no error of anybody: what was allowed is used up
    """A run has spent what it may: everything that was answered is kept, and another run goes on from there."""


class ReleaseError(NclueError):
    """A release cannot be built or does not verify."""

    exit_code = EXIT_RELEASE


class OutcomeError(NclueError):
    """The run ended properly and has nothing to deliver: says which constraint binds."""

    exit_code = EXIT_FINDINGS


class InternalError(NclueError):
    """An invariant of our own is broken."""

    exit_code = EXIT_INTERNAL


@contextmanager
def about(what: str) -> Iterator[None]:
    """Note on whatever is raised in here what it was about: an error nobody expected does not say so itself.

    The note goes with the error from a worker process to the command line, which shows it.

    Args:
        what: One line, such as ``document a``.
    """
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise
