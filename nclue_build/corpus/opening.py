"""What every process that lets MuPDF open a file has to do: bound its memory, name what is wrong with the file."""

from __future__ import annotations

import os
import re
import resource
import sys
from typing import Any, Final

import pymupdf

from nclue_build.core.text import clean_raw

_mupdf: Any = pymupdf  # it ships no types
_CODE: Final = re.compile(r"^code=\d+: ")
_MEGABYTE: Final = 1 << 20


class UnreadableError(Exception):
    """A document nothing can be read of, and why."""


def limit_memory(memory_mb: int) -> None:
    """Bound the address space of this process, and of the program it turns into."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * _MEGABYTE, memory_mb * _MEGABYTE))
    except (ValueError, OSError) as error:  # some systems refuse; the time limits still hold
        sys.stderr.write(f"no memory limit here: {error}\n")


def quieten() -> None:
    """Keep MuPDF's messages to itself: what matters of them is raised."""
    _mupdf.TOOLS.mupdf_display_errors(on=False)
    _mupdf.TOOLS.mupdf_display_warnings(on=False)


def open_document(path: str, password: str | None) -> Any:
    """Open a document that has pages.

    Raises:
        UnreadableError: it has none, or needs a password, or another one.
        Exception: anything, out of MuPDF.
    """
    document = _mupdf.open(path, filetype="pdf")
    if not document.is_pdf:  # MuPDF goes by the content, and reads web pages and pictures, too
        raise UnreadableError("not a PDF, but a file of another kind with the name of one")
    if document.needs_pass:
        if password is None:
            raise UnreadableError("encrypted: needs a password (extract.passwords_file)")
        if not document.authenticate(password):
            raise UnreadableError("encrypted: the password in extract.passwords_file is not the right one")
    try:
        n_pages = document.page_count
    except _mupdf.mupdf.FzErrorBase as error:
        raise UnreadableError(f"page tree: {reason_of(error, path)}") from None
    if n_pages < 1:
        raise UnreadableError("no pages: its page tree is empty or lost")
    return document


def reason_of(error: BaseException, path: str) -> str:
    """One line for people, without the folder a file happens to be in."""
    text = _first_line(error, path)
    if text.startswith("Cannot open empty file"):
        return "not a PDF: the file is empty"
    if text.startswith("Failed to open"):  # what is behind it, PyMuPDF keeps to itself
        cause = _first_line(error.__cause__, path) if error.__cause__ is not None else ""
        if "encryption" in cause:
            return f"encrypted in a way that cannot be read: {cause}"
        return "not a PDF, or damaged beyond repair"
    return "nested too deeply to be read" if text.startswith("exception stack overflow") else text


def is_lack_of_memory(error: BaseException, path: str) -> bool:
    """Whether the memory limit is behind what was raised."""
    if isinstance(error, MemoryError):
        return True
    said = [str(one).replace(path, "") for one in (error, error.__cause__) if one is not None]
    return any("alloc" in text or "memory" in text for text in said)


def _first_line(error: BaseException, path: str) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = _CODE.sub("", lines[0]).replace(path, os.path.basename(path))  # noqa: PTH119 - the path is a string here
    return clean_raw(text)[0][:200]
