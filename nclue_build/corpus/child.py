r"""The reader process: the only place that reads text with PyMuPDF.

A hang or a crash inside MuPDF's C code can be neither interrupted nor caught, so it happens here,
in a process that :mod:`nclue_build.corpus.supervisor` may kill. It reads one command a line on
stdin (``{"path", "start", "password", "make"}``, where the password may be null) and answers with lines on stdout:

- ``{"ready": true}`` once, after start-up;
- per document ``{"n_pages", "title"}``, or ``{"error": reason, "out_of_memory": bool}``;
- ``{"end": true, "flags": [...], "made": bool}`` after the last page, with what is to be said of the whole document:
  ``repaired``, ``attachments``, ``copy_forbidden``, ``dynamic_form``; or, where there is no use in going on, how a page
  ``failed``;
- where that says that rows will be made, any line once they are.

What it reads goes to the spool (:mod:`nclue_build.corpus.spool`): a line per page from ``start`` on (the
heartbeat), and behind them, where rows are made, the lines of :class:`nclue_build.corpus.read.MadeDocument`.
Rows are made here, where pages are at hand, when the supervisor wants them: to decode pages and make rows
elsewhere would cost a tenth of bare reading. Documents that are long, or have a page that failed, are left to it.

A page line holds ``lines``: ``[block, direction, x0, y0, x1, y1, size, style, text]`` with 1/100 pt
integers; see :mod:`nclue_build.corpus.lines` for the meaning of ``direction`` and ``style``.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import orjson
import pymupdf

from nclue_build.core.collector import collect_rarely
from nclue_build.core.text import clean_raw
from nclue_build.corpus.document import BACKEND, MAX_KEPT_BYTES, DocumentMaker
from nclue_build.corpus.labels import BAD_DATA, label_rules, page_label
from nclue_build.corpus.lines import BOLD, MONOSPACED, STARTS_WITH_MARK, page_of
from nclue_build.corpus.opening import is_lack_of_memory, limit_memory, open_document, quieten, reason_of
from nclue_build.corpus.read import ReadDocument

if TYPE_CHECKING:
    from typing import BinaryIO

    from nclue_build.corpus.lines import RawPage
    from nclue_build.corpus.read import MadeDocument

_mupdf: Any = pymupdf  # it ships no types
FLAGS: Final = (
    pymupdf.TEXT_PRESERVE_LIGATURES | pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
)  # without TEXT_CID_FOR_UNKNOWN_UNICODE, text without a Unicode mapping shows up as U+FFFD
_REFERENCE: Final = re.compile(r"(\d+) \d+ R\b")
_DRAWS: Final = re.compile(rb"/\S+\s+Do\b")
"""Draws a thing of its own, such as a picture or a piece of page."""
_SPAN_SUPERSCRIPT, _SPAN_MONOSPACED, _SPAN_BOLD = 1, 8, 16
_WEIGHTS: Final = tuple(
    (BOLD if flags & _SPAN_BOLD else 0) | (MONOSPACED if flags & _SPAN_MONOSPACED else 0) for flags in range(32)
)
"""Style bits by the flags of a span."""
_DIRECTIONS: Final = {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}
_NOTE_MARKS: Final = frozenset("0123456789,*†‡§")
_MAX_MARK_SIZE: Final = 6.9
"""A footnote's raised number at the start of a line is smaller than this (pt)."""
_MAX_MARK_SHARE: Final = 0.87
"""A raised note mark is smaller than this share of the type before it."""
_MAX_LINES: Final = 50_000
"""No page that somebody reads has more."""
_ALARM_MARGIN_S: Final = 1.0
"""The supervisor goes first: the alarm is for when it is gone."""
_VERSION: Final = version(BACKEND)
_ATTACHMENTS: Final = "attachments"
_NO_TITLE: Final = re.compile("[\ufffd-\uffff\ue000-\uf8ff]")
"""Signs that a title was not decoded as it is meant."""


def main(arguments: list[str]) -> None:
    """Serve documents until stdin ends.

    Args:
        arguments: Page limit in seconds, address space limit in megabytes, descriptor of the spool.
    """
    page_timeout_s, memory_mb = float(arguments[0]), int(arguments[1])
    spool = os.fdopen(int(arguments[2]), "wb", buffering=0)
    # The protocol gets a descriptor of its own: a stray print of a library must not corrupt it.
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    limit_memory(memory_mb)
    quieten()
    # PyMuPDF would stretch the boxes of fonts that say they are less high than their size, character by character: a
    # tenth of the time all of it takes, for boxes that are compared with each other and not shown.
    _mupdf.TOOLS.unset_quad_corrections(on=True)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    collect_rarely()
    _send(output, {"ready": True})
    for line in sys.stdin.buffer:
        command = orjson.loads(line)
        alarm_s = 1.25 * page_timeout_s + _ALARM_MARGIN_S
        _read_document(output, spool, command, alarm_s)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _send(output: BinaryIO, message: dict[str, Any]) -> int:
    return _write(output, orjson.dumps(message) + b"\n")


def _write(output: BinaryIO, data: bytes) -> int:
    left = memoryview(data)
    while left:
        left = left[output.write(left) :]
    return len(data)


def _read_document(output: BinaryIO, spool: BinaryIO, command: dict[str, Any], alarm_s: float) -> None:
    path, start = command["path"], command["start"]
    # An orphan dies even inside a C call: the default action of SIGALRM needs no Python.
    signal.setitimer(signal.ITIMER_REAL, alarm_s)
    try:
        document = open_document(path, command.get("password"))
    except Exception as error:  # noqa: BLE001 - a boundary (docs/decisions/0008): the document is recorded as failed
        _send(output, {"error": reason_of(error, path), "out_of_memory": is_lack_of_memory(error, path)})
        return
    making = _Making() if command.get("make") and start == 0 else None
    with document:
        n_pages = int(document.page_count)
        title = _stated_title(document)
        _send(output, {"n_pages": n_pages, "title": title})
        flags: set[str] = set()
        rules = label_rules(document)
        for index in range(start, n_pages):
            signal.setitimer(signal.ITIMER_REAL, alarm_s)
            try:
                message = _read_page(document, index, page_label(rules, index), flags)
            except Exception as error:  # noqa: BLE001 - a boundary (docs/decisions/0008): the page is recorded as failed
                if is_lack_of_memory(error, path):  # the next pages would lack it, too
                    _send(output, {"failed": "out_of_memory", "reason": "memory limit reached"})
                    return
                message = {"page": index + 1, "failed": "page_error", "reason": reason_of(error, path)}
            n_bytes = _send(spool, message)
            if making is not None and not making.take(message, n_bytes):
                making = None
        # At the end, since MuPDF may come upon damage at any page.
        flags |= _document_flags(document)
    signal.setitimer(signal.ITIMER_REAL, alarm_s)
    _send(output, {"end": True, "flags": sorted(flags), "made": making is not None})
    if making is not None:
        made = making.finish(ReadDocument(n_pages, title, flags=sorted(flags)))
        _write(spool, b"".join(line + b"\n" for line in made.lines()))
        _send(output, {"made": True})


class _Making:
    """The pages of a document, kept to make its rows of."""

    def __init__(self) -> None:
        self._maker = DocumentMaker()
        self._pages: list[RawPage] = []
        self._room = MAX_KEPT_BYTES

    def take(self, message: dict[str, Any], n_bytes: int) -> bool:
        """Keep a page; returns whether rows can still be made here."""
        self._room -= n_bytes
        if "failed" in message or self._room < 0:
            return False
        page = page_of(message)
        self._maker.observe(page)
        self._pages.append(page)
        return True

    def finish(self, read: ReadDocument) -> MadeDocument:
        """Make the rows."""
        return self._maker.make(self._pages, read, _VERSION)


def _stated_title(document: Any) -> str | None:
    """The title in the document's metadata; None where it has none, or one that cannot be decoded."""
    try:
        title = clean_raw((document.metadata or {}).get("title") or "")[0].strip()
    except BAD_DATA:
        return None
    return title if title and not _NO_TITLE.search(title) else None


def _document_flags(document: Any) -> set[str]:
    flags: set[str] = set()
    try:
        if document.is_repaired:
            flags.add("repaired")
        if not document.permissions & _mupdf.PDF_PERM_COPY:
            flags.add("copy_forbidden")
        if document.xref_get_key(document.pdf_catalog(), "NeedsRendering") == ("bool", "true"):
            flags.add("dynamic_form")
        if document.embfile_count():
            flags.add(_ATTACHMENTS)
    except BAD_DATA:  # a broken list of files is no reason to lose the document
        return flags
    return flags


def _read_page(document: Any, index: int, label: str | None, document_flags: set[str]) -> dict[str, Any]:
    page = document.load_page(index)
    if any(kind == _mupdf.PDF_ANNOT_FILE_ATTACHMENT for _, kind, _ in page.annot_xrefs()):
        document_flags.add(_ATTACHMENTS)
    # What page.get_text("dict") makes of it, without the page's boxes, which it looks up each time.
    content = page.get_textpage(flags=FLAGS).extractDICT()
    lines: list[list[Any]] = []
    flags: set[str] = set()
    if sum(len(block["lines"]) for block in content["blocks"]) > _MAX_LINES:
        return {"page": index + 1, "failed": "page_error", "reason": f"has more than {_MAX_LINES:,} lines of text"}
    for number, block in enumerate(content["blocks"]):
        for line in block["lines"]:
            row = _read_line(line, number, flags)
            if row is not None:
                lines.append(row)
    pictures = False if lines else _has_pictures(page)
    if not lines and not pictures and (lost := _lost_content(document, page)) is not None:
        return {"page": index + 1, "failed": "lost_content", "reason": lost}
    # The text is that of the page before its rotation, and so is its size.
    width, height, rotation = round(content["width"] * 100), round(content["height"] * 100), page.rotation
    if rotation:
        if rotation != 180:  # noqa: PLR2004 - degrees
            width, height = height, width
        lines = [_turn(row, rotation, width, height) for row in lines]
    return {
        "page": index + 1,
        "label": label,
        "width": width,
        "height": height,
        "rotation": rotation,
        "flags": sorted(flags),
        "pictures": pictures,
        "lines": lines,
    }


def _turn(row: list[Any], rotation: int, width: int, height: int) -> list[Any]:
    """Put a line where it stands on the page as shown: MuPDF reports lines of the page before its rotation."""
    block, direction, x0, y0, x1, y1, *rest = row
    if rotation == 90:  # noqa: PLR2004 - degrees
        x0, y0, x1, y1 = width - y1, x0, width - y0, x1
    elif rotation == 180:  # noqa: PLR2004 - degrees
        x0, y0, x1, y1 = width - x1, height - y1, width - x0, height - y0
    else:
        x0, y0, x1, y1 = y0, height - x1, y1, height - x0
    return [block, (direction + rotation // 90) % 4, x0, y0, x1, y1, *rest]


def _lost_content(document: Any, page: Any) -> str | None:
    """Why a page that shows nothing is not blank, such as in a PDF that was cut off; None where nothing says so.

    MuPDF takes content that is missing or cannot be decoded for an empty page, with no more than a warning.
    """
    if not document.xref_object(page.xref).startswith("<<"):
        return "it is no page: the file is damaged"
    numbers = _stream_numbers(document, page.xref)
    if numbers is None or not all(map(document.xref_is_stream, numbers)):
        return "its content is missing: the file is damaged or cut off"
    content = b""
    for number in numbers:
        _mupdf.TOOLS.mupdf_warnings()  # takes what is held back of pages before, too: "... repeated 2 times"
        try:
            content += document.xref_stream(number) or b""
            warned = _mupdf.TOOLS.mupdf_warnings()
        except (_mupdf.mupdf.FzErrorBase, RuntimeError, ValueError):
            warned = "error"
        if warned:
            return "its content cannot be decoded: the file is damaged or cut off"
    if _DRAWS.search(content) and (document.is_repaired or _is_complained_of(page)):
        return "what it shows is missing or cannot be decoded: the file is damaged or cut off"
    return None


def _is_complained_of(page: Any) -> bool:
    """Whether MuPDF leaves out what a page draws, such as a picture in a form that it is not."""
    _mupdf.TOOLS.mupdf_warnings()
    page.get_bboxlog()
    return "error" in _mupdf.TOOLS.mupdf_warnings()


def _stream_numbers(document: Any, page_number: int) -> list[int] | None:
    """Numbers of the objects that a page says its content is in; None where it says something that makes no sense."""
    kind, value = document.xref_get_key(page_number, "Contents")
    if kind == "xref" and not document.xref_is_stream(number := int(value.split()[0])):
        value = document.xref_object(number) if number < document.xref_length() else ""
        return [int(found[1]) for found in _REFERENCE.finditer(value)] if value.startswith("[") else [number]
    if kind == "null":
        return []
    return [int(found[1]) for found in _REFERENCE.finditer(value)] if kind in {"xref", "array"} else None


def _has_pictures(page: Any) -> bool:
    """Whether a page without text shows something all the same: then it is not blank."""
    return any(kind != "ignore-text" for kind, _ in page.get_bboxlog())


def _read_line(line: dict[str, Any], block: int, flags: set[str]) -> list[Any] | None:
    spans = line["spans"]
    text, size, style = _single_span(spans[0]) if len(spans) == 1 else _join_spans(spans)
    if not size:
        return None
    if not text.isprintable():
        text, removed = clean_raw(text)
        flags |= removed
        if not text.strip():
            return None
    x0, y0, x1, y1 = line["bbox"]
    direction = 0
    if line["dir"] != (1.0, 0.0):
        dx, dy = line["dir"]
        direction = _DIRECTIONS.get((round(dx), round(dy)), 0)
    return [block, direction, round(x0 * 100), round(y0 * 100), round(x1 * 100), round(y1 * 100), size, style, text]


def _single_span(span: dict[str, Any]) -> tuple[str, int, int]:
    """What :func:`_join_spans` says of one span, as most lines have, in a fraction of the time."""
    text, size = span["text"], span["size"]
    if not text or text.isspace():
        return text, 0, 0
    style = STARTS_WITH_MARK if size < _MAX_MARK_SIZE and text.strip().isdigit() else 0
    return text, round(size * 2) * 50, style | _WEIGHTS[span["flags"]]


def _join_spans(spans: list[dict[str, Any]]) -> tuple[str, int, int]:
    """Text, main size in 1/100 pt (0 for blank lines) and style of the spans of a line."""
    text = ""
    weights: dict[int, int] = {}
    all_flags = _SPAN_BOLD | _SPAN_MONOSPACED
    style = 0
    previous_size = 0.0
    for span in spans:
        piece = span["text"]
        if not piece.isspace():
            size, span_flags = span["size"], span["flags"]
            all_flags &= span_flags
            if not text and size < _MAX_MARK_SIZE and piece.strip().isdigit():
                style = STARTS_WITH_MARK
            elif _is_note_mark(piece, size, previous_size, span_flags) and text and not text[-1].isspace():
                text += " "  # "Congress" and its raised "1" are two words
            else:
                previous_size = size
            rounded = round(size * 2) * 50
            weights[rounded] = weights.get(rounded, 0) + len(piece)
        text += piece
    if not weights:
        return text, 0, 0
    return text, max(weights, key=lambda key: (weights[key], key)), style | _WEIGHTS[all_flags]


def _is_note_mark(piece: str, size: float, previous_size: float, span_flags: int) -> bool:
    is_raised = bool(span_flags & _SPAN_SUPERSCRIPT) and size < _MAX_MARK_SHARE * previous_size
    return is_raised and _NOTE_MARKS.issuperset(piece.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
