"""Names and titles that can stand in a message, a table and a UTF-8 file: one line, no undecodable bytes."""

from __future__ import annotations

import re
from typing import Final

_SPACE_CONTROLS: Final = re.compile("[\t-\r\x85\u2028\u2029]+")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNDECODABLE: Final = re.compile("[\ud800-\udfff]")
_UNDECODED_BYTES: Final = frozenset(map(chr, range(0xDC80, 0xDD00)))
"""What Python makes of the bytes of a file name that are not UTF-8."""


def is_utf8(text: str) -> bool:
    """Whether a text can be encoded.

    File systems take any bytes as a name; Python keeps those that are not UTF-8 as lone surrogates, which
    no file, terminal or JSON text takes.
    """
    return _UNDECODABLE.search(text) is None


def printable_problem(text: str) -> str | None:
    """Say what keeps a text from being written on one line, or None."""
    if not is_utf8(text):
        return "is not UTF-8"
    return "has control characters" if _CONTROLS.search(text) else None


def escaped(text: str) -> str:
    r"""A text with all that :func:`printable_problem` refuses as escapes: ``caf\xe9.pdf``."""
    known = _UNDECODABLE.sub(lambda found: found[0] if found[0] in _UNDECODED_BYTES else _escape(found), text)
    whole = known.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return _CONTROLS.sub(_escape, whole)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def without_controls(text: str) -> str:
    """A text on one line: line ends and tabs as spaces, other control characters removed."""
    return _CONTROLS.sub("", _SPACE_CONTROLS.sub(" ", text)).strip()
