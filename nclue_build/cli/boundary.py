"""The boundary: every error becomes one message and an exit code here, and nowhere else."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Final, NoReturn

import typer

from nclue_build.cli import streams
from nclue_build.cli.app import app
from nclue_build.cli.reply import Reply, envelope
from nclue_build.cli.session import Session
from nclue_build.core.errors import (
    EXIT_BROKEN_PIPE,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    EXIT_USAGE,
    BudgetReached,
    CacheConflict,
    CacheCorrupt,
    CallError,
    DataError,
    Finding,
    FrozenMiss,
    InternalError,
    NclueError,
    OutcomeError,
    PermanentCallError,
    ReleaseError,
    TransientCallError,
    UsageError,
)
from nclue_build.store.atomic import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

RESUMABLE: Final = frozenset({"fetch", "extract", "mine", "compose", "gate", "run"})
"""Verbs that leave something to go on from."""

NO_ROOM_ADVICE: Final = ": make room on that disk, then give the same command again: what is whole is kept"

CODES: Final[dict[type[NclueError], str]] = {
    UsageError: "usage-error",
    DataError: "data-error",
    CallError: "call-error",
    FrozenMiss: "frozen-miss",
    CacheConflict: "call-conflict",
    CacheCorrupt: "call-corrupt",
    TransientCallError: "call-error",
    PermanentCallError: "call-error",
    BudgetReached: "call-error",
    ReleaseError: "release-error",
    OutcomeError: "nothing-to-deliver",
    InternalError: "internal-error",
}
"""Finding code of an error that brings no findings of its own."""


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Args:
        arguments: The words after the program's name; those of this process by default.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    session = Session()
    streams.prepare()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = _answer(words, session)
        streams.flush()
    except BrokenPipeError:
        streams.silence()
        return EXIT_BROKEN_PIPE
    except OSError as error:  # from writing the answer itself: anything else has become an exit code
        with contextlib.suppress(OSError):
            print(f"error: cannot write the answer: {error.strerror or error}", file=sys.stderr, flush=True)
        streams.silence()
        return EXIT_USAGE
    return code


def _answer(words: list[str], session: Session) -> int:
    try:
        command = typer.main.get_command(app)
        outcome = command.main(words or ["--help"], prog_name="nclue-build", standalone_mode=False, obj=session)
    except BrokenPipeError:
        raise
    except SystemExit as error:
        # The parser turns a broken pipe into an exit of its own.
        if isinstance(error.__context__, BrokenPipeError):
            raise BrokenPipeError from None
        raise
    except (KeyboardInterrupt, typer.Abort):
        outcome = EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where any error becomes a message and an exit code
        return _fail(session, words, error)
    if isinstance(outcome, Reply):
        print(outcome.render(as_json=session.json, quiet=session.quiet))
        return outcome.exit_code
    if outcome == EXIT_INTERRUPTED:
        message = _interrupted(words)
        _say(session, words, message, [Finding("interrupted", message)])
    return int(outcome or 0)


def _interrupted(words: list[str]) -> str:
    """What became of an interrupted command, and how it goes on."""
    if RESUMABLE.isdisjoint(words):
        return "interrupted"
    # With --fresh it would start all over again; what was not recomputed yet counts as stale.
    resumed = shlex.join(["nclue-build", *(word for word in words if word != "--fresh")])
    return f"interrupted: what is done is kept. To go on where it stopped: {resumed}"


def _fail(session: Session, words: list[str], error: Exception) -> int:
    if session.verbose:
        traceback.print_exception(error)
    message, code, exit_code = _explain(error)
    findings = list(error.findings) if isinstance(error, NclueError) else []
    _say(session, words, message, findings or [Finding(code, message)])
    return exit_code


def _explain(error: Exception) -> tuple[str, str, int]:
    """Message, finding code and exit code of an error."""
    if isinstance(error, NclueError):
        return error.message, CODES.get(type(error), "error"), error.exit_code
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "nclue-build"
        return f"{error.format_message()} ('{command} --help' shows what there is)", "usage-error", EXIT_USAGE
    if isinstance(error, OSError) and error.strerror:
        advice = NO_ROOM_ADVICE if error.errno in NO_ROOM else ""
        return f"{error.filename or 'input or output'}: {error.strerror.lower()}{advice}", "system-error", EXIT_USAGE
    noted = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
    described = f"{noted}{type(error).__name__}: {error}"
    message = f"internal error: {described}. Please report it with what the same command says with -v"
    return message, "internal-error", EXIT_INTERNAL


def _say(session: Session, words: list[str], message: str, findings: list[Finding]) -> None:
    # An unknown option stops the parser before it has seen the others.
    if session.json or "--json" in words:
        print(envelope(None, findings, ok=False))
    else:
        print("error: " + message.replace("\n", "\n  "), file=sys.stderr)


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    # Unwind, so that workers and temporary files go too.
    raise SystemExit(EXIT_TERMINATED)
