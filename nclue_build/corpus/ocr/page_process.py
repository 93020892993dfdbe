"""The process that recognises one page: it renders the page, then turns into Tesseract.

One process per page, since both halves meet bombs: a picture of a gigapixel in 11 kB, a page of 500 inches. Its
memory limit and its alarm stay in force when it turns into Tesseract, so that neither half can outlive them, whoever
asked for it.

It reads one JSON object on stdin (``path``, ``page`` from 0, ``password``, ``dpi``, ``max_pixels``, ``languages``,
``program``) and writes one line on stdout: ``{"width", "height", "reduced", "lean", "damage"}``, or ``{"failed",
"reason"}``. Width and height are in pixels, the lean is as in :mod:`nclue_build.corpus.ocr.skew`, the damage is what
MuPDF could not decode, one line or none. Behind the first of these stands Tesseract's table (TSV).
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import re
import resource
import signal
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Final

import orjson
import pymupdf

from nclue_build.core.text import clean_raw
from nclue_build.corpus.ocr.skew import MAX_ROWS, N_STRIPS, WHOLE, Straightening, Strips, lean_of
from nclue_build.corpus.opening import is_lack_of_memory, limit_memory, open_document, quieten, reason_of

if TYPE_CHECKING:
    from typing import BinaryIO

_mupdf: Any = pymupdf  # it ships no types
_POINTS_PER_INCH: Final = 72
_MAX_SIDE: Final = 32_000
"""Tesseract takes no more pixels on a side than 32,767."""
_MIN_SIDE: Final = 16
"""Fewer pixels on a side show no letter."""
_ALARM_MARGIN_S: Final = 1.0
_MAX_OUTPUT_BYTES: Final = 64 << 20
_PR_SET_PDEATHSIG: Final = 1
_DPI_RANGE: Final = (70, 2400)
"""Tesseract takes any other number for a mistake."""
_LAYOUT: Final = "1"
"""Tesseract's page segmentation: automatic, and scans that lie on their side or their head are told by the script."""


_DAMAGE: Final = re.compile(r"error|truncated|premature end")
"""What MuPDF says of a picture that it draws in part, or not at all."""


class _TooLargeError(Exception):
    """A page that no picture within the limits shows, and why."""


def main(arguments: list[str]) -> None:
    """Recognise a page.

    Args:
        arguments: Limit in seconds, address space limit in megabytes.
    """
    timeout_s, memory_mb = float(arguments[0]), int(arguments[1])
    _follow_parent()
    limit_memory(memory_mb)
    quieten()
    # Whoever asked for this kills it in time; the alarm is for when that is gone. It survives turning into Tesseract.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 1.25 * timeout_s + _ALARM_MARGIN_S)
    command = orjson.loads(sys.stdin.buffer.read())
    picture = tempfile.TemporaryFile()  # noqa: SIM115 - it has no name, and goes with the process
    head = _render(command, picture)
    sys.stdout.buffer.write(orjson.dumps(head) + b"\n")
    sys.stdout.flush()
    if "failed" not in head:
        _become_tesseract(command, picture)


def _follow_parent() -> None:
    """End when whoever started this ends, where the system can (Linux); the alarm has to do elsewhere."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _render(command: dict[str, Any], picture: BinaryIO) -> dict[str, Any]:
    path = command["path"]
    try:
        with open_document(path, command["password"]) as document:
            page = document.load_page(command["page"])
            zoom = fitting_zoom(page.rect.width, page.rect.height, command["dpi"], command["max_pixels"])
            pixmap = _draw(page, zoom, 0)
            if lean := lean_of(_strips(pixmap, sideways=False), _strips(pixmap, sideways=True)):
                pixmap = None  # the memory of one picture must do
                size = (round(page.rect.width * 100), round(page.rect.height * 100))
                width, height = Straightening(size, lean).sheet
                zoom = fitting_zoom(width / 100, height / 100, command["dpi"], command["max_pixels"])
                pixmap = _draw(page, zoom, lean)
            damage = _damage()
        picture.write(b"P5\n%d %d\n255\n" % (pixmap.width, pixmap.height))
        picture.write(pixmap.samples_mv)
        picture.flush()
    except _TooLargeError as error:
        return {"failed": "render_too_large", "reason": str(error)}
    except Exception as error:  # noqa: BLE001 - a boundary (docs/decisions/0008): the page is recorded as failed
        if is_lack_of_memory(error, path):
            return {"failed": "out_of_memory", "reason": "memory limit reached by drawing the page"}
        return {"failed": "ocr_failed", "reason": f"cannot be drawn: {reason_of(error, path)}"}
    command["dpi_used"] = round(zoom * _POINTS_PER_INCH)
    is_reduced = command["dpi_used"] < command["dpi"]
    return {"width": pixmap.width, "height": pixmap.height, "reduced": is_reduced, "lean": lean, "damage": damage}


def _damage() -> str:
    said = (line for line in _mupdf.TOOLS.mupdf_warnings().splitlines() if _DAMAGE.search(line))
    return clean_raw(next(said, ""))[0].strip()[:200]


def _draw(page: Any, zoom: float, lean: int) -> Any:
    turn = zoom * lean / WHOLE
    matrix = _mupdf.Matrix(zoom, -turn, turn, zoom, 0, 0)
    return page.get_pixmap(matrix=matrix, colorspace=_mupdf.csGRAY, alpha=False)


def _strips(pixmap: Any, *, sideways: bool) -> Strips:
    along, across = (pixmap.height, pixmap.width) if sideways else (pixmap.width, pixmap.height)
    n_rows = min(across, MAX_ROWS)
    scaled = _mupdf.Pixmap(pixmap, *((n_rows, N_STRIPS) if sideways else (N_STRIPS, n_rows)), None)
    samples, stride = bytes(scaled.samples_mv), scaled.stride
    if sideways:
        ink = [samples[strip * stride : strip * stride + n_rows] for strip in range(N_STRIPS)]
    else:
        ink = [samples[strip : stride * n_rows : stride] for strip in range(N_STRIPS)]
    return Strips(ink, along * n_rows // across)


def fitting_zoom(width: float, height: float, dpi: int, max_pixels: int) -> float:
    """Pixels per point at which a page has at most so many pixels, and at most ``dpi`` dots per inch.

    Args:
        width: Of the page in points.
        height: The same.
        dpi: Dots per inch wanted.
        max_pixels: Most pixels of the picture.

    Raises:
        _TooLargeError: at no such zoom can a letter be seen.
    """
    zoom = min(dpi / _POINTS_PER_INCH, _MAX_SIDE / max(width, height))
    # A row or column more than the page has, since edges are rounded outwards.
    while (n_pixels := (math.ceil(width * zoom) + 1) * (math.ceil(height * zoom) + 1)) > max_pixels:
        zoom *= min(math.sqrt(max_pixels / n_pixels), 0.999)
    if min(width, height) * zoom < _MIN_SIDE:
        raise _TooLargeError(
            f"{width:.0f} x {height:.0f} pt: a picture of it within extract.ocr_max_megapixels shows no letter"
        )
    return zoom


def _become_tesseract(command: dict[str, Any], picture: BinaryIO) -> None:
    picture.seek(0)
    os.dup2(picture.fileno(), 0)
    # What goes wrong from here on must not fill the disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_OUTPUT_BYTES, _MAX_OUTPUT_BYTES))
    dpi = min(max(command["dpi_used"], _DPI_RANGE[0]), _DPI_RANGE[1])
    program = command["program"]
    # The table is asked for by its variable: the file of settings called "tsv" is not everywhere.
    arguments = ["stdin", "stdout", "-l", "+".join(command["languages"]), "--dpi", str(dpi), "--psm", _LAYOUT]
    arguments += ["-c", "tessedit_create_tsv=1"]
    try:
        # One thread: processes are what runs in parallel here, and the result must not depend on it.
        os.execve(program, [program, *arguments], os.environ | {"OMP_THREAD_LIMIT": "1"})  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot be started: {error.strerror}\n")
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
