"""Supervising the reader process: deadlines, memory, restarts, and what they cost a document."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from nclue_build.core.errors import InternalError
from nclue_build.corpus.lines import FailedPage
from nclue_build.corpus.read import MadeDocument, ReadDocument
from nclue_build.corpus.spool import Spool
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_START_TIMEOUT_S: Final = 60.0
_READ_BYTES: Final = 1 << 16
_MEGABYTE: Final = 1 << 20
_MAX_PAGE_BYTES: Final = 8 << 20
"""To make rows of a page takes thirty times its size, and here nothing bounds it."""
_TEXT_SHARE: Final = 8
"""One in so many bytes of a document's memory may be its text: it is kept, and so are the rows made of it."""
_GLANCE_S: Final = 0.05
"""How often to see whether pages have come."""
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""numpy sets address space aside for every thread that it could start, and the reader's is bounded."""
_FAILED_MARK: Final = b'"failed":'


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What a document may take: seconds for a page, seconds and megabytes for the whole."""

    page_timeout_s: float
    document_timeout_s: float
    memory_mb: int


class _ReaderGoneError(Exception):
    """The reader process is of no more use.

    ``flag`` says how it ended, ``final`` that the document does, too, ``killed`` that somebody else ended it: no page
    makes a process kill itself.
    """

    def __init__(self, flag: str, reason: str, *, final: bool = False, killed: bool = False) -> None:
        super().__init__(reason)
        self.flag = flag
        self.reason = reason
        self.final = final
        self.killed = killed


def reader_command(limits: ReadLimits) -> list[str]:
    """The command line of the reader process."""
    return [
        sys.executable,
        "-m",
        "nclue_build.corpus.child",
        f"{limits.page_timeout_s:g}",
        str(limits.memory_mb),
    ]


class Supervisor:
    """Owns one reader process and reuses it over documents.

    A process that hangs, crashes or reaches its memory limit is killed; the page it was at is
    recorded as failed and reading goes on behind it in a new process. After a crash or a lack of
    memory the page gets a second chance in a fresh process, so that what earlier documents left
    behind never decides about a page; so it does when the process was killed from outside.
    """

    def __init__(self, limits: ReadLimits, command: Sequence[str] | None = None) -> None:
        """Start nothing yet.

        Args:
            limits: See :class:`ReadLimits`.
            command: The reader's command line, by default our own reader; the number of the spool's descriptor follows.
        """
        self.limits = limits
        self._command = list(command or reader_command(limits))
        self._process: subprocess.Popen[bytes] | None = None
        self._spool = Spool()
        self._buffer = bytearray()
        self._fresh = True

    def read(self, path: Path, password: str | None = None, *, make: bool = False) -> ReadDocument:
        """Read all pages of a PDF, whatever it does.

        Args:
            path: The PDF.
            password: What it is encrypted with; the reader gets it through a pipe, where nobody sees it.
            make: Whether the reader is to make the page rows, too. It does so for documents that are not too long and
                whose pages could all be read at the first attempt; of others there are the payloads alone.
        """
        result = ReadDocument()
        command = {"path": str(path), "password": password, "make": make}
        deadline = time.monotonic() + self.limits.document_timeout_s
        retried = -1
        while True:
            began = time.monotonic()
            process = self._started()
            deadline += time.monotonic() - began  # starting a reader is no time the document takes
            try:
                self._read_rest(process, command, result, deadline)
            except _ReaderGoneError as gone:
                self._kill()
                self._take_pages(self._spool.lines()[: result.n_pages - len(result.payloads)], result)
                was_fresh = self._fresh
                result.hit_limit = True
                position = len(result.payloads)
                again = gone.flag != "page_timeout" and (gone.killed or not was_fresh) and retried != position
                if again and not gone.final:
                    retried = position
                    continue
                if result.n_pages == 0:
                    result.error = gone.reason
                    return result
                last = result.n_pages if gone.final else position + 1
                result.payloads += [FailedPage(page, gone.flag, gone.reason) for page in range(position + 1, last + 1)]
                if last == result.n_pages:
                    return result
            else:
                return result

    def close(self) -> None:
        """End the reader process."""
        self._kill()
        self._spool.close()

    def _read_rest(
        self,
        process: subprocess.Popen[bytes],
        command: dict[str, Any],
        result: ReadDocument,
        deadline: float,
    ) -> None:
        self._spool.clear()
        self._send(process, orjson.dumps(command | {"start": len(result.payloads)}) + b"\n")
        head = orjson.loads(self._receive(deadline))
        if "error" in head:
            if result.n_pages:  # opened before, not now: the process is at fault
                raise _ReaderGoneError("reader_crashed", head["error"])
            if head.get("out_of_memory"):
                raise _ReaderGoneError("out_of_memory", "memory limit reached by opening it")
            result.error = head["error"]
            self._fresh = False
            return
        if head["n_pages"] > MAX_PAGES:  # a made-up number would have a row written for each
            raise _ReaderGoneError("page_error", f"says it has more than {MAX_PAGES:,} pages", final=True)
        result.n_pages = head["n_pages"]
        result.title = head["title"]
        n_before = sum(len(part) for part in result.payloads if isinstance(part, bytes))
        end = orjson.loads(self._receive(deadline, self.limits.memory_mb * _MEGABYTE // _TEXT_SHARE - n_before))
        if "failed" in end:
            raise _ReaderGoneError(end["failed"], end["reason"])
        is_made = end.get("made", False) and self._is_made(deadline)
        lines = self._spool.lines()
        n_left = result.n_pages - len(result.payloads)
        if len(lines) < n_left:
            raise _ReaderGoneError("reader_crashed", "reader lost pages")
        self._take_pages(lines[:n_left], result)
        result.flags = end.get("flags", [])
        if is_made:
            result.made = MadeDocument.of_lines(lines[n_left:])

    def _is_made(self, deadline: float) -> bool:
        """Whether the reader makes the rows, as it set out to; if it comes to grief, the pages are all there."""
        try:
            self._receive(deadline)
        except _ReaderGoneError:
            self._kill()
            return False
        return True

    def _take_pages(self, lines: Iterable[bytes], result: ReadDocument) -> None:
        for line in lines:
            self._fresh = False
            if len(line) > _MAX_PAGE_BYTES:
                failure = FailedPage(len(result.payloads) + 1, "out_of_memory", "more text on a page than can be read")
                result.payloads.append(failure)
            elif _FAILED_MARK in line[:64]:
                said = orjson.loads(line)
                result.payloads.append(FailedPage(said["page"], said["failed"], said["reason"]))
            else:
                result.payloads.append(line)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        for is_last in (False, True):
            try:
                return self._start()
            except _ReaderGoneError as gone:
                self._errors.seek(0)
                said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
                self._kill()
                if is_last or not gone.killed:
                    reason = said[-1] if said else gone.reason
                    raise InternalError(f"the reader process does not start: {reason}") from None
        raise AssertionError

    def _start(self) -> subprocess.Popen[bytes]:
        self._kill()
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*self._command, str(self._spool.descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | {"PYTHONPATH": path, **_ONE_THREAD},
            bufsize=0,
            pass_fds=[self._spool.descriptor],
        )
        self._fresh = True
        self._buffer.clear()
        self._selector = selectors.DefaultSelector()
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        self._stdout = self._process.stdout.fileno()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._receive(time.monotonic() + _START_TIMEOUT_S, timeout_s=_START_TIMEOUT_S)
        return self._process

    def _send(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None  # noqa: S101 - opened as a pipe
        try:
            process.stdin.write(data)
        except BrokenPipeError:
            raise _ReaderGoneError("reader_crashed", "reader crashed between documents") from None

    def _receive(self, deadline: float, room: int | None = None, timeout_s: float | None = None) -> bytes:
        """The next line of the reader, without its end; pages that come meanwhile are signs of life.

        Args:
            deadline: When the document has to be done, on the monotonic clock.
            room: Bytes that may come; without end when None.
            timeout_s: What a page may take, where that is not what the limits say.
        """
        timeout_s = timeout_s or self.limits.page_timeout_s
        page_deadline = time.monotonic() + timeout_s
        n_seen = self._spool.size()
        while (end := self._buffer.find(b"\n")) < 0:
            now = time.monotonic()
            if (n_bytes := self._spool.size()) > n_seen:
                n_seen, page_deadline = n_bytes, now + timeout_s
                if room is not None and n_bytes > room:
                    raise _ReaderGoneError("out_of_memory", "memory limit reached by the text alone", final=True)
            if now >= deadline:
                limit = f"{self.limits.document_timeout_s:g}"
                raise _ReaderGoneError("document_timeout", f"document took longer than {limit} s", final=True)
            if now >= page_deadline:
                raise _ReaderGoneError("page_timeout", f"page took longer than {timeout_s:g} s")
            if self._selector.select(min(deadline - now, page_deadline - now, _GLANCE_S)):
                chunk = os.read(self._stdout, _READ_BYTES)
                if not chunk:
                    raise self._explain_end()
                self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _explain_end(self) -> _ReaderGoneError:
        process = self._process
        assert process is not None  # noqa: S101 - only called while it is there
        process.wait()
        self._errors.seek(0)
        if b"MemoryError" in self._errors.read():
            return _ReaderGoneError("out_of_memory", "memory limit reached")
        code = process.returncode
        if code == -signal.SIGALRM:
            return _ReaderGoneError("page_timeout", f"page took longer than {self.limits.page_timeout_s:g} s")
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return _ReaderGoneError("reader_crashed", f"reader crashed ({how})", killed=code == -signal.SIGKILL)

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        self._selector.close()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
