r"""Lines to segments: the pieces of a page that one role fits.

MuPDF's blocks merge a heading with the paragraph below, table cells of a row, and list items with
each other. Here they are cut on style, size, gaps, baselines and list marks; a line is never cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.lines import BOLD, MONOSPACED, STARTS_WITH_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nclue_build.corpus.lines import Line
    from nclue_build.records.corpus import Role

_MARKS: Final = (
    "\u2022\u2023\u2043\u25aa\u25ab\u25cf\u25cb\u25e6\u25a0\u25a1\u25ba\u25b8"
    "\u27a2\u2756\u2794\u2713\u2714\uf0b7\uf0a7\uf0d8\u00b7"
)
_MARKS_BEFORE_SPACE: Final = "-\u2013\u2014o*\u00a7"
BULLET: Final = re.compile(rf"(?:[{_MARKS}]|[{_MARKS_BEFORE_SPACE}](?=\s|$))\s*")
_BULLET_STARTS: Final = frozenset(_MARKS + _MARKS_BEFORE_SPACE)
ENUMERATOR: Final = re.compile(r"(?:\(?(?:\d{1,2}|[A-Za-z]|[ivx]{1,5})[.)]|\[\d{1,3}\])(?:\s|$)")
_MIN_FULL_LINE: Final = 45
"""Characters from which a line counts as running text that may go on in another block."""
_MIN_FIRST_LINE: Final = 20
"""Characters from which an indented or outdented first line may go on in another block."""
_NEIGHBOURS: Final = 15
"""Lines before and after that show how far the lines of a column reach."""
_ENDS_SENTENCE: Final = (".", "?", "!", ":", ";", '."', ".\u201d", "?\u201d", ".)", ".\u2019")
_ENDS_HEADING: Final = (".", ":", "?", "!")


@dataclass(slots=True, eq=False)
class Segment:
    r"""Lines that belong together, with the box around them in reading coordinates (1/100 pt).

    Args:
        text: The lines joined with ``\n``, so that words broken at a line end can be read both ways.
        n_chars: Characters of all lines.
        row_cells: Other segments that stand on the same baseline, side by side.
        column: Segments of different columns of a page never stand in one row.
    """

    lines: list[Line]
    x0: int
    y0: int
    x1: int
    y1: int
    size: int
    text: str
    n_chars: int
    role: Role = "text"
    level: int | None = None
    row_cells: int = 0
    column: int = 0

    @classmethod
    def of(cls, lines: list[Line]) -> Segment:
        """Make a segment of lines; its size is that of its first line."""
        first = lines[0]
        if len(lines) == 1:
            text = first.text
            return cls(lines, first.x0, first.y0, first.x1, first.y1, first.size, text, len(text))
        text = "\n".join([line.text for line in lines])
        return cls(
            lines,
            min([line.x0 for line in lines]),
            min([line.y0 for line in lines]),
            max([line.x1 for line in lines]),
            max([line.y1 for line in lines]),
            first.size,
            text,
            len(text) - len(lines) + 1,
        )

    @property
    def bold(self) -> bool:
        """Whether every line is bold throughout."""
        return bool(self.lines[0].style & BOLD) and all(line.style & BOLD for line in self.lines)

    @property
    def monospaced(self) -> bool:
        """Whether every line is monospaced throughout."""
        return bool(self.lines[0].style & MONOSPACED) and all(line.style & MONOSPACED for line in self.lines)

    @property
    def bbox(self) -> tuple[int, int, int, int]:
        """The box on the page as shown."""
        if len(self.lines) == 1:
            return self.lines[0].bbox
        lefts, tops, rights, bottoms = zip(*[line.bbox for line in self.lines], strict=True)
        return (min(lefts), min(tops), max(rights), max(bottoms))


def split_segments(lines: Iterable[Line]) -> list[Segment]:
    """Cut the lines of a page, in the order of the content stream, into segments.

    Returns:
        Segments in the order of their first lines.
    """
    rows = _join_rows(lines)
    segments: list[Segment] = []
    current: list[Line] = []
    left = right = 0
    measure = _Measure(rows, 0)
    for index, line in enumerate(rows):
        measure.index = index
        if current and _belongs(current, line, left, right, measure):
            current.append(line)
            left, right = min(left, line.x0), max(right, line.x1)
        else:
            if current:
                segments.append(Segment.of(current))
            current = [line]
            left, right = line.x0, line.x1
    if current:
        segments.append(Segment.of(current))
    return segments


@dataclass(slots=True)
class _Measure:
    """How far the lines around the one at ``index`` reach: tells a line that is full from one that just ends."""

    rows: list[Line]
    index: int

    def room(self) -> int:
        """How much room was left, behind the line before this one, once the first word of this one is set there.

        Negative when the word does not fit, as where a paragraph goes on.
        """
        line, last = self.rows[self.index], self.rows[self.index - 1]
        low, high = last.x0 - 6 * last.size, last.x0 + 6 * last.size
        reach = max(other.x1 for other in self._column() if low <= other.x0 <= high)
        word = len(line.text.split(None, 1)[0]) * (line.x1 - line.x0) // len(line.text)
        return reach - last.x1 - word - last.size // 4

    def runs_on_at(self, x0: int) -> bool:
        """Whether this line is full and the next one starts at ``x0``."""
        if self.index + 1 == len(self.rows):
            return False
        line, following = self.rows[self.index], self.rows[self.index + 1]
        return (
            10 * abs(following.x0 - x0) <= 3 * line.size
            and following.block == line.block
            and _Measure(self.rows, self.index + 1).room() <= 2 * line.size
        )

    def is_centred(self) -> bool:
        """Whether this line and the one before it are centred: then no other line starts where they do."""
        line, last = self.rows[self.index], self.rows[self.index - 1]
        if abs(line.x0 + line.x1 - last.x0 - last.x1) > line.size:
            return False
        return not any(
            other is not line and other is not last and 10 * abs(other.x0 - start) <= 3 * line.size
            for other in self._column()
            for start in (line.x0, last.x0)
        )

    def _column(self) -> list[Line]:
        """Lines near by in the same type."""
        last = self.rows[self.index - 1]
        return [
            other
            for other in self.rows[max(0, self.index - _NEIGHBOURS) : self.index + _NEIGHBOURS]
            if other.direction == last.direction and other.size == last.size
        ]


def same_row(a: Line | Segment, b: Line | Segment) -> bool:
    """Whether two boxes overlap vertically by at least half of the lower one."""
    if a.y0 > b.y0:
        a, b = b, a
    a_bottom, b_top, b_bottom = a.y1, b.y0, b.y1
    twice = 2 * ((a_bottom if a_bottom < b_bottom else b_bottom) - b_top)  # noqa: FURB136 - asked of every two lines
    return twice >= a_bottom - a.y0 or twice >= b_bottom - b_top


def starts_with_bullet(text: str) -> bool:
    """Whether a text starts like an item of a list without numbers; nearly all are told by their first character."""
    return text[:1] in _BULLET_STARTS and BULLET.match(text) is not None


def _join_rows(lines: Iterable[Line]) -> list[Line]:
    """Put together what MuPDF cut on one baseline: list marks, and words of loosely set text."""
    joined: list[Line] = []
    previous: Line | None = None
    for line in lines:
        if previous is not None and previous.direction == line.direction and same_row(previous, line):
            gap = line.x0 - previous.x1
            is_mark = len(previous.text) <= 6 and (  # noqa: PLR2004 - "(viii)" is the longest mark
                BULLET.fullmatch(previous.text) or ENUMERATOR.fullmatch(previous.text)
            )
            is_close = -line.size * 3 <= 10 * gap <= line.size * 12
            is_note = bool((previous.style | line.style) & STARTS_WITH_MARK)
            if (is_mark and 0 <= gap < 5 * line.size) or (
                is_close
                and (
                    is_note
                    or (previous.block == line.block and (previous.size, previous.style) == (line.size, line.style))
                )
            ):
                _join(previous, line)
                continue
        joined.append(line)
        previous = line
    return joined


def _join(left: Line, right: Line) -> None:
    if len(right.text) > len(left.text):  # the longer part says what the line is like
        left.size = right.size
        left.style = right.style & ~STARTS_WITH_MARK | left.style & STARTS_WITH_MARK
        left.y0, left.y1 = right.y0, right.y1  # a raised mark must not change the distance to the next line
    left.text = f"{left.text} {right.text}"
    left.x1 = max(left.x1, right.x1)
    a, b = left.bbox, right.bbox
    left.bbox = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))


def _belongs(current: list[Line], line: Line, left: int, right: int, measure: _Measure) -> bool:
    """Whether a line goes on with the segment so far, which reaches from ``left`` to ``right``."""
    # Asked of every two lines: what is quick to tell comes first, and what is rare is asked only where it may be so.
    first, last = current[0], current[-1]
    size, x0 = line.size, line.x0
    if line.direction != last.direction or line.y0 < last.y0 or x0 >= right or line.x1 <= left:
        return False
    if size != last.size and abs(last.size - size) * 100 > 8 * max(last.size, size):
        return False
    if _is_gap(current, line) or same_row(last, line):
        return False
    if line.block != last.block and not _runs_on(current, line, measure):
        return False
    ends_short = (last.x1 - left) * 100 < 85 * (max(right, line.x1) - left)
    is_indented = 80 * size <= 100 * (x0 - last.x0) <= 500 * size
    is_hanging = len(current) > 1 and 6 * size <= 10 * (current[1].x0 - first.x0)
    return not (
        ((last.style ^ line.style) & BOLD and _changes_weight(last, ends_short=ends_short))
        or _starts_item(current, line, ends_short=ends_short)
        or (is_indented and _starts_paragraph(current, left, measure))
        or (is_hanging and _returns_to_margin(current, line))
    )


def _is_gap(current: list[Line], line: Line) -> bool:
    """Whether the line stands further below than lines of one paragraph do."""
    size = max(current[-1].size, line.size)
    pitch = line.y0 - current[-1].y0
    if len(current) > 1:
        known = current[-1].y0 - current[-2].y0
        return pitch * 100 > 135 * known and pitch * 10 > 12 * size
    return pitch * 10 > 21 * size


def _changes_weight(last: Line, *, ends_short: bool) -> bool:
    """Whether a bold heading ends or begins where weights differ, rather than a stretch of bold text in a paragraph."""
    return ends_short or last.text.endswith(_ENDS_HEADING if last.style & BOLD else _ENDS_SENTENCE)


def _starts_item(current: list[Line], line: Line, *, ends_short: bool) -> bool:
    if starts_with_bullet(line.text):
        return True
    first, last = current[0], current[-1]
    return bool(ENUMERATOR.match(line.text)) and (
        line.x0 <= first.x0 + line.size
        and (ends_short or last.text.endswith(_ENDS_SENTENCE) or bool(ENUMERATOR.match(first.text)))
    )


def _starts_paragraph(current: list[Line], left: int, measure: _Measure) -> bool:
    """Whether a line that is indented is the first one of a paragraph."""
    last = current[-1]
    if last.x0 != left or not last.text.endswith(_ENDS_SENTENCE) or starts_with_bullet(current[0].text):
        return False
    # Behind a single line this may as well be the second line of a hanging entry, unless it runs on at the margin.
    return len(current) > 1 or (not ENUMERATOR.match(last.text) and measure.runs_on_at(last.x0))


def _returns_to_margin(current: list[Line], line: Line) -> bool:
    """Whether an entry with a hanging indent is complete: the line is back where the entry's first one starts."""
    first = current[0]
    if abs(line.x0 - first.x0) * 10 > 3 * line.size:
        return False
    if not all(6 * line.size <= 10 * (one.x0 - first.x0) <= 80 * line.size for one in current[1:]):
        return False
    is_centred = all(abs(one.x0 + one.x1 - first.x0 - first.x1) <= line.size for one in current[1:])
    return not is_centred


def _runs_on(current: list[Line], line: Line, measure: _Measure) -> bool:
    """Whether a line of another block continues a paragraph: note marks and indents make MuPDF cut there."""
    last = current[-1]
    size = last.size
    if len(line.text) < 2 or size != line.size or last.style & ~STARTS_WITH_MARK != line.style:  # noqa: PLR2004 - a lone character is a mark
        return False
    if not 8 * size <= 10 * (line.y0 - last.y0) <= 14 * size:
        return False
    step = line.x0 - last.x0
    if abs(step) <= size:
        return len(last.text) >= _MIN_FULL_LINE and not last.text.endswith(_ENDS_SENTENCE)
    # The second line of a paragraph whose first one is indented, or of an entry with a hanging indent.
    is_second = len(current) == 1 or (step > 0 and not last.text.endswith(_ENDS_SENTENCE))
    return (
        is_second
        and -6 * size <= step <= 7 * size
        and len(last.text) >= _MIN_FIRST_LINE
        and measure.room() <= 2 * size
        and not measure.is_centred()
    )
