"""Tesseract's table of words (TSV), read strictly: what is not one is a failure, never a page without text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

COLUMNS: Final = [
    "level", "page_num", "block_num", "par_num", "line_num", "word_num",
    "left", "top", "width", "height", "conf", "text",
]  # fmt: skip
_PAGE, _WORD = 1, 5
_LEVELS: Final = range(_PAGE, _WORD + 1)
_FIRST: Final = 2


class TableError(Exception):
    """A table that is not Tesseract's, and what is wrong with it."""


class Word(NamedTuple):
    """A word: its box in pixels (x0, y0, x1, y1), how sure Tesseract is of it (0 to 100), and what it reads."""

    x0: int
    y0: int
    x1: int
    y1: int
    confidence: int
    text: str


@dataclass(frozen=True, slots=True)
class TextLine:
    """The words of a line, in the order they are read; ``block`` is the number of the block it is in."""

    block: int
    words: tuple[Word, ...]


def parse_table(data: bytes, width: int, height: int) -> list[TextLine]:
    """The lines of a page, in Tesseract's order.

    Words that are blank are left out: Tesseract reports rules and the edges of pictures as such.

    Args:
        data: What Tesseract wrote.
        width: Of the picture it was given, in pixels.
        height: The same.

    Raises:
        TableError: it is not a table of this picture, or cut off.
    """
    rows = _rows(data)
    if not rows or (rows[0].level, rows[0].box) != (_PAGE, (0, 0, width, height)):
        raise TableError("is not about the picture that was given")
    lines: list[TextLine] = []
    for place, group in groupby(rows[1:], key=lambda row: row.place):
        if words := tuple(row.word(width, height) for row in group if row.level == _WORD and row.text):
            lines.append(TextLine(place[0], words))
    return lines


def _rows(data: bytes) -> list[_Row]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise TableError("is not UTF-8") from None
    header, *rows = text.split("\n")  # nothing else ends a row: words may hold odd separators
    if header.rstrip("\r").split("\t") != COLUMNS:
        raise TableError("does not start with the names of its columns")
    if not rows or rows.pop():
        raise TableError("is cut off")
    return [_parse_row(row.rstrip("\r"), number) for number, row in enumerate(rows, 2)]


class _Row(NamedTuple):
    """A row of the table; ``place`` are the numbers of its block, paragraph and line."""

    number: int
    level: int
    place: tuple[int, int, int]
    box: tuple[int, int, int, int]
    confidence: int
    text: str

    def word(self, width: int, height: int) -> Word:
        """The word it is, of a picture of that size."""
        x0, y0, x1, y1 = self.box
        if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
            raise TableError(f"line {self.number}: a word that stands outside the picture")
        return Word(x0, y0, x1, y1, self.confidence, self.text)


def _parse_row(row: str, number: int) -> _Row:
    cells = row.split("\t")
    if len(cells) != len(COLUMNS):
        raise TableError(f"line {number}: has {len(cells)} columns, not {len(COLUMNS)}")
    try:
        level, page, block, paragraph, line, _, left, top, width, height = map(int, cells[:10])
        confidence = float(cells[10])
    except ValueError:
        raise TableError(f"line {number}: has text where a number belongs") from None
    if level not in _LEVELS or page != 1 or (level == _PAGE) != (number == _FIRST) or not math.isfinite(confidence):
        raise TableError(f"line {number}: has a number that cannot be")
    box = (left, top, left + width, top + height)
    place = (block, paragraph, line)
    return _Row(number, level, place, box, min(max(int(confidence), 0), 100), cells[11].strip())
