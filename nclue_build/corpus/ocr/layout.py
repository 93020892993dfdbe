"""From recognised words to lines as the reader process has them, so that all that follows is the same for both.

Tesseract tells neither the size of the type nor the direction of a line; both show in the boxes of its words. All of it
is integer arithmetic: the same table gives the same lines on every processor.
"""

from __future__ import annotations

import re
from statistics import median_low
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nclue_build.core.text import clean_raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.corpus.ocr.skew import Straightening
    from nclue_build.corpus.ocr.tsv import TextLine, Word

Box = tuple[int, int, int, int]

_SURE: Final = 60
"""Of 100: Tesseract is sure of a word."""
_LOW_CONFIDENCE: Final = 75
"""Of 100: a page of a lower mean, over its characters, is flagged."""
_CELL_GAP_PERCENT: Final = 150
"""Of the type size: words further apart are cells of a table, or label and value, not one line."""
_SAME_TYPE_PERCENT: Final = 18
"""Estimated sizes of the lines of one block that differ less are one size."""

# Parts of the type size, in hundredths, that printed faces share closely enough.
_ASCENDER, _X_HEIGHT, _DESCENDER = 70, 48, 21
_LINE_ABOVE, _LINE_BELOW = 80, 22
_TALL: Final = re.compile("[A-Z0-9bdfhiklt()\\[\\]{}/|!?&%$\u00a3\u00a7\u00df\u00c0-\u00de\u00e0-\u00f6\u00f8-\u00ff]")
_DEEP: Final = re.compile(r"[gjpqyQ()\[\]{}/|,;\u00e7\u00c7]")
_LETTER: Final = re.compile(r"[^\W_]")
_SENSIBLE: Final = re.compile(r"[^\W_]{2}")


class PageLines(NamedTuple):
    """The lines of a page as page payloads have them, as if it were straight; where each stands on it; and flags."""

    lines: list[list[Any]]
    boxes: list[Box]
    flags: list[str]


class _Measured(NamedTuple):
    """A piece of a line: its words in reading coordinates (1/100 pt), and the size of its type."""

    block: int
    direction: int
    boxes: list[Box]
    words: Sequence[Word]
    size: int


def page_lines(table: Sequence[TextLine], pixels: tuple[int, int], drawn: Straightening) -> PageLines:
    """Lines out of the words that Tesseract recognised.

    Args:
        table: Its lines.
        pixels: Width and height of the picture.
        drawn: Width and height of the page as shown, in 1/100 pt, and how it was turned for the picture.

    Returns:
        Lines as in the payload of the reader process; none, when Tesseract is not sure of a single word. Flags are
        some of ``ocr_no_text``, ``ocr_low_confidence`` and those of removed characters.
    """
    words = [word for line in table for word in line.words]
    if not any(word.confidence >= _SURE and _SENSIBLE.search(word.text) for word in words):
        return PageLines([], [], ["ocr_no_text"])
    flags: set[str] = set()
    weight = sum(len(word.text) for word in words)
    if sum(word.confidence * len(word.text) for word in words) < _LOW_CONFIDENCE * weight:
        flags.add("ocr_low_confidence")
    lines = [piece for line in table for piece in _measure(line, _direction(line, table), pixels, drawn)]
    rows: list[list[Any]] = []
    boxes: list[Box] = []
    for line, size in zip(lines, _settled_sizes(lines), strict=True):
        text, removed = clean_raw(" ".join(word.text for word in line.words))
        flags |= removed
        if text.strip():
            box = _turned_back(_line_box(line, size), line.direction, drawn.page)
            rows.append([line.block, line.direction, *box, size, 0, text])
            boxes.append(drawn.on_page(box))
    return PageLines(rows, boxes, sorted(flags))


def _direction(line: TextLine, table: Sequence[TextLine]) -> int:
    """Where a line runs to, by the way from word to word; a lone word runs as its block does."""
    for lines in ([line], [other for other in table if other.block == line.block], table):
        dx = dy = 0
        for one in lines:
            first, last = one.words[0], one.words[-1]
            dx += last.x0 + last.x1 - first.x0 - first.x1
            dy += last.y0 + last.y1 - first.y0 - first.y1
        if dx or dy:
            if abs(dx) >= abs(dy):
                return 0 if dx > 0 else 2
            return 1 if dy > 0 else 3
    return 0


def _measure(line: TextLine, direction: int, pixels: tuple[int, int], drawn: Straightening) -> Iterable[_Measured]:
    """The pieces of a line, cut where cells of a table stand side by side."""
    boxes = [
        _turned(drawn.on_straight_page(_on_sheet(word, pixels, drawn.sheet)), direction, drawn.page)
        for word in line.words
    ]
    size = _type_size(line.words, boxes)
    widest = (size or max(y1 - y0 for _, y0, _, y1 in boxes)) * _CELL_GAP_PERCENT // 100
    start = 0
    for index in range(1, len(boxes) + 1):
        if index == len(boxes) or boxes[index][0] - boxes[index - 1][2] > widest:
            yield _Measured(line.block, direction, boxes[start:index], line.words[start:index], size)
            start = index


def _type_size(words: Sequence[Word], boxes: Sequence[Box]) -> int:
    """The size of type in which letters such as these are as high as their boxes, in 1/100 pt; 0 when they do not tell.

    Where Tesseract does not find the edges of a word, its box is as high as the line's, skew and all. That shows in
    words of the same box whose letters are not equally high.
    """
    known: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for word, (_, y0, _, y1) in zip(words, boxes, strict=True):
        if _LETTER.search(word.text):
            parts = (_ASCENDER if _TALL.search(word.text) else _X_HEIGHT) + (_DESCENDER if _is_deep(word) else 0)
            known.setdefault((y0, y1), []).append((parts, len(word.text)))
    sizes: list[int] = []
    for (y0, y1), found in known.items():
        if len({parts for parts, _ in found}) == 1:
            sizes += [(y1 - y0) * 100 // found[0][0]] * sum(length for _, length in found)
    return median_low(sizes) if sizes else 0


def _is_deep(word: Word) -> bool:
    return bool(_DEEP.search(word.text))


def _settled_sizes(lines: Sequence[_Measured]) -> list[int]:
    """Sizes to half a point; lines of a block that differ by no more than an estimate may have the same one."""
    by_block: dict[int, list[int]] = {}
    for line in lines:
        if line.size:
            by_block.setdefault(line.block, []).extend([line.size] * sum(len(word.text) for word in line.words))
    usual = {block: median_low(sizes) for block, sizes in by_block.items()}
    settled = []
    for line in lines:
        size = usual.get(line.block) or _height(line)
        if line.size and abs(line.size - size) * 100 > _SAME_TYPE_PERCENT * size:
            size = line.size
        settled.append(max((size + 25) // 50 * 50, 50))
    return settled


def _height(line: _Measured) -> int:
    """How high the words of a line are: better than nothing where they do not tell the size of their type."""
    return median_low([y1 - y0 for _, y0, _, y1 in line.boxes])


def _line_box(line: _Measured, size: int) -> Box:
    """The box of a line as if it were set straight: the words of a skewed scan climb or fall along it."""
    total = weight = 0
    for word, (_, _, _, y1) in zip(line.words, line.boxes, strict=True):
        length = len(word.text)
        total += (y1 - (_DESCENDER * size // 100 if _is_deep(word) else 0)) * length
        weight += length
    baseline = total // weight
    left, right = min(box[0] for box in line.boxes), max(box[2] for box in line.boxes)
    return (left, baseline - _LINE_ABOVE * size // 100, right, baseline + _LINE_BELOW * size // 100)


def _on_sheet(word: Word, pixels: tuple[int, int], sheet: tuple[int, int]) -> Box:
    (columns, rows), (width, height) = pixels, sheet
    return (word.x0 * width // columns, word.y0 * height // rows, word.x1 * width // columns, word.y1 * height // rows)


def _turned(box: Box, direction: int, page: tuple[int, int]) -> Box:
    """A box of the page as shown in the coordinates of somebody who turns it to read."""
    x0, y0, x1, y1 = box
    width, height = page
    if direction == 1:
        return (y0, width - x1, y1, width - x0)
    if direction == 2:  # noqa: PLR2004 - the directions of Line
        return (width - x1, height - y1, width - x0, height - y0)
    if direction == 3:  # noqa: PLR2004 - the directions of Line
        return (height - y1, x0, height - y0, x1)
    return box


def _turned_back(box: Box, direction: int, page: tuple[int, int]) -> Box:
    """The opposite of :func:`_turned`: turned on by what is missing to a whole turn."""
    width, height = page
    turned = (height, width) if direction % 2 else page
    return _turned(box, -direction % 4, turned)
