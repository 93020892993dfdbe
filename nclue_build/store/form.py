"""Whether a file is, byte for byte, what its writer would write.

Every file has one form: the fields of a row in declared order, no white space between them, LF line ends. What reads
the same and looks different is no accident of ours: an editor, a merge or a hand was at it. Some of it is read
differently elsewhere, a key that stands twice most of all, of which every parser keeps the one it likes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from nclue_build.core.json_names import repeated_name

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.findings import Findings

_SHOWN: Final = 40
ADVICE: Final = "restore the file, or let its stage write it again ('nclue-build run')"


class FormCheck:
    """The lines of one file against those its writer would write.

    It gives one finding a file, on the first line that differs, and counts the others: an editor changes all of them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first: tuple[int | None, str] | None = None
        self._count = 0

    def is_blank(self, line: int, text: bytes) -> bool:
        """Whether a line has only white space; such a line has no place in a file."""
        if text.strip():
            return False
        self._differ(line, "a blank line")
        return True

    def compare(self, line: int, text: bytes, expected: bytes) -> None:
        """Compare a line, without its LF, with what its record is written as."""
        if text != expected:
            self._differ(line, explain_difference(text, expected))

    def report(self, out: Findings) -> None:
        """Say what was found of the whole file, its last line end included."""
        if not ends_with_newline(self._path):
            self._differ(None, "the last line has no line end")
        if self._first is not None:
            line, what = self._first
            more = f" (and {self._count - 1} lines more)" if self._count > 1 else ""
            out.add("not-canonical", f"{what}{more}: {ADVICE}", path=str(self._path), line=line)

    def _differ(self, line: int | None, what: str) -> None:
        self._count += 1
        self._first = self._first or (line, what)


def ends_with_newline(path: Path) -> bool:
    """Whether the last line of a file is whole; an empty file has none."""
    with path.open("rb") as stream:
        if not stream.seek(0, os.SEEK_END):
            return True
        stream.seek(-1, os.SEEK_END)
        return stream.read() == b"\n"


def explain_difference(text: bytes, expected: bytes) -> str:
    """What is unusual about a text that reads like another one, in words."""
    if b"\r" in text and text.replace(b"\r", b"") == expected:
        return "a line end of another system (CR LF)"
    if (key := repeated_key(text)) is not None:
        return f"the key {key!r} stands twice in an object"
    place = next(
        (index for index, (a, b) in enumerate(zip(text, expected, strict=False)) if a != b),
        min(len(text), len(expected)),
    )
    begin = max(0, place - 10)
    found, wanted = (part[begin : begin + _SHOWN].decode("utf-8", "replace") for part in (text, expected))
    return f"spacing, order of keys or escapes are not ours: {found!r} at byte {begin + 1}, expected {wanted!r}"


def repeated_key(text: bytes) -> str | None:
    """The first key that stands twice in an object of a JSON text; readers take the last without a word.

    Raises:
        ValueError, RecursionError: it is no JSON.
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        if (name := repeated_name(pairs)) is not None:
            repeated.append(name)

    json.loads(text, object_pairs_hook=note)
    return repeated[0] if repeated else None
