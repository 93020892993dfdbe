"""Recognising one page in a process that may be killed, and what becomes of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from nclue_build.core.text import clean_raw
from nclue_build.corpus.lines import FailedPage
from nclue_build.corpus.ocr.layout import page_lines
from nclue_build.corpus.ocr.skew import Straightening
from nclue_build.corpus.ocr.tsv import TableError, parse_table

if TYPE_CHECKING:
    from nclue_build.corpus.ocr.settings import OcrSettings

REDUCED: Final = "render_reduced"
STRAIGHTENED: Final = "ocr_straightened"
DAMAGED: Final = "render_damaged"
_MEGAPIXEL: Final = 1_000_000
_MAX_REASON: Final = 200


def recognise(settings: OcrSettings, pdf: Path, password: str | None, page: int, size: tuple[int, int]) -> bytes:
    """The lines and flags of a page, as JSON.

    Args:
        settings: How.
        pdf: The PDF.
        password: What it is encrypted with; it goes through a pipe, where nobody sees it.
        page: 1-based.
        size: Width and height of the page as shown, in 1/100 pt.

    Raises:
        RecognitionError: nothing came of it.
    """
    command = {
        "path": str(pdf),
        "page": page - 1,
        "password": password,
        "dpi": settings.dpi,
        "max_pixels": settings.max_megapixels * _MEGAPIXEL,
        "languages": settings.languages,
        "program": settings.program,
    }
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = _start(settings, output.fileno(), errors.fileno())
        try:
            assert process.stdin is not None  # noqa: S101 - opened as a pipe
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(orjson.dumps(command))
            code = process.wait(settings.page_timeout_s)
        except subprocess.TimeoutExpired:
            raise RecognitionError(page, "ocr_timeout", _too_long(settings)) from None
        finally:
            _kill(process)
        output.seek(0)
        errors.seek(0)
        head, _, table = output.read().partition(b"\n")
        said = errors.read().decode("utf-8", "replace")
    try:
        drawn = orjson.loads(head) if head else {}
    except orjson.JSONDecodeError:
        drawn = {}
    if "failed" in drawn:
        raise RecognitionError(page, drawn["failed"], drawn["reason"])
    if code or not drawn:
        raise _explained(page, code, said, settings, drawn=bool(drawn))
    pixels = (drawn["width"], drawn["height"])
    try:
        found = page_lines(parse_table(table, *pixels), pixels, Straightening(size, drawn["lean"]))
    except TableError as error:
        raise RecognitionError(page, "ocr_failed", f"Tesseract's answer cannot be read: {error}") from None
    if drawn["damage"] and not found.lines:
        raise RecognitionError(page, "ocr_failed", f"what it shows is damaged: {drawn['damage']}"[:_MAX_REASON])
    flags = ["ocr", *found.flags, *(f"ocr_language_{code}" for code in settings.languages)]
    facts = ((REDUCED, drawn["reduced"]), (STRAIGHTENED, drawn["lean"]), (DAMAGED, drawn["damage"]))
    flags += [flag for flag, is_so in facts if is_so]
    boxes = {"boxes": found.boxes} if drawn["lean"] else {}
    return orjson.dumps({"lines": found.lines, **boxes, "flags": sorted(flags)})


class RecognitionError(Exception):
    """A page whose text could not be recognised; ``failure`` says why."""

    def __init__(self, page: int, flag: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = FailedPage(page, flag, reason)


def _start(settings: OcrSettings, output: int, errors: int) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    arguments = [f"{settings.page_timeout_s:g}", str(settings.memory_mb)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", "nclue_build.corpus.ocr.page_process", *arguments],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,  # what Tesseract may start goes with it
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _too_long(settings: OcrSettings) -> str:
    return f"took longer than extract.ocr_page_timeout_s = {settings.page_timeout_s:g} s"


def _explained(page: int, code: int, said: str, settings: OcrSettings, *, drawn: bool) -> RecognitionError:
    """Why there is no answer, from how the process ended and what it complained of."""
    who = "Tesseract" if drawn else "drawing the page"
    if code == -signal.SIGALRM:
        return RecognitionError(page, "ocr_timeout", _too_long(settings))
    if "MemoryError" in said or "bad_alloc" in said:
        return RecognitionError(page, "out_of_memory", f"memory limit reached by {who}")
    if code < 0:
        return RecognitionError(page, "ocr_failed", f"{who} crashed ({signal.Signals(-code).name})")
    lines = [clean_raw(line)[0].strip() for line in said.splitlines() if line.strip()]
    why = f": {lines[-1]}" if lines else ""
    return RecognitionError(page, "ocr_failed", f"{who} failed (exit {code}){why}"[:_MAX_REASON])
