"""Roles of segments by shape: titles, lists, tables, captions, footnotes, code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.lines import BOLD, MONOSPACED, STARTS_WITH_MARK
from nclue_build.corpus.segments import ENUMERATOR, Segment, same_row, starts_with_bullet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.corpus.lines import RawPage
    from nclue_build.records.corpus import Role

_TITLE_PERCENT: Final = 114
"""Type of at least this share of the body size makes a title."""
_MAX_TITLE_CHARS: Final = 220
_MAX_TITLE_LINES: Final = 5
_MAX_DISPLAY_LINES: Final = 12
_MAX_BOLD_TITLE_CHARS: Final = 110
_WIDE_LINE: Final = 70
"""Characters of a line too wide for a heading that goes on below it."""
_MAX_WIDE_TITLE_LINES: Final = 2
_DISPLAY_PERCENT: Final = 180
"""Type of at least this share of the body size is never running text."""
_MAX_BOLD_SHARE_PERCENT: Final = 25
"""Where more of the body type than this is bold, bold says nothing."""
_MAX_ROW: Final = 500
"""Neighbours that a cell is compared with: where thousands lie upon one another, there is no row."""
_MAX_CELL_CHARS: Final = 70
_FOOTNOTE_PERCENT: Final = 93
_MAX_BOLD_TITLE_LINES: Final = 2
_MAX_CAPTION_CHARS: Final = 400
_MIN_VISIBLE_SIZE: Final = 300
"""Type smaller than 3 pt is there for machines: anchors, identifiers."""
_MIN_FIGURE_WORDS: Final = 4
_MAX_FIGURE_WORDS: Final = 400
_LEVELS: Final = 6

_LABELS: Final = (
    "Figure", "Fig.", "Table", "Chart", "Exhibit", "Box", "Map", "Plate", "Photo", "Graph", "Diagram",
    "Listing", "FIGURE", "FIG.", "TABLE", "CHART", "EXHIBIT", "BOX", "MAP",
)  # fmt: skip
_CAPTION: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, _LABELS))})"
    r"\s+(?:[A-Z]{0,2}[-.]?\d{1,3}(?:[-.]\d{1,3})*[a-z]?|[IVXL]{1,6}|[A-Z])"
    r"(?:\s*[:.|\u2013\u2014-](?:\s|$)|\s+(?=[A-Z0-9\u201c\"(])|$)"
)
_CAPTION_STARTS: Final = frozenset(label[0] for label in _LABELS)
_FOOTNOTE: Final = re.compile(r"(?:\d{1,3}|[*\u2020\u2021\u00a7]{1,3}|[a-z](?=[A-Z\s]))[.)]?\s*\S")
_THREE_LETTERS: Final = re.compile(r"(?:[^\W\d_][\W\d_]*){3}")
_FIGURE: Final = re.compile(r"(?<!\S)[^\s\d]*\d\S*")
_ENDS_TEXT: Final = (".", ",", ";")
_TOP_LEFT: Final = attrgetter("y0", "x0")
_SECTION_NUMBER: Final = re.compile(r"(?:\d{1,2}\.){0,4}\d{1,2}\.?\s+[A-Z]|[IVX]{1,5}\.\s+[A-Z]|[A-Z]\.\s+[A-Z]")


@dataclass(slots=True)
class TypeScale:
    """The type of a document: the body's size, and which sizes are for headings.

    A size (bold and plain apart) is for headings when it is clearly larger than the body's and seldom
    carries long paragraphs: forms and slides have narrative text in larger type than their labels.
    """

    body_size: int = 0
    bold_is_common: bool = False
    mono_is_common: bool = False
    _chars: Counter[tuple[int, int]] = field(default_factory=Counter)
    _long_chars: Counter[tuple[int, int]] = field(default_factory=Counter)
    _mono_chars: int = 0
    _levels: dict[tuple[int, int], int] = field(default_factory=dict)

    def observe(self, page: RawPage) -> None:
        """Count the characters of a page by size and weight."""
        run = n_chars = 0
        block = -1
        kind = (0, 0)
        for line in page.lines:
            length, size, style = len(line.text), line.size, line.style
            # Many lines on end in one block are paragraphs, whatever their size.
            if size != kind[0] or style & BOLD != kind[1]:
                if n_chars:
                    self._chars[kind] += n_chars
                run, block, kind, n_chars = 1, line.block, (size, style & BOLD), 0
            elif line.block == block:
                run += 1
            else:
                run, block = 1, line.block
            n_chars += length
            if style & MONOSPACED:
                self._mono_chars += length
            if run > _MAX_TITLE_LINES or (length > _WIDE_LINE and run > _MAX_WIDE_TITLE_LINES):
                self._long_chars[kind] += length
        if n_chars:
            self._chars[kind] += n_chars

    def settle(self) -> None:
        """Decide the body size and the heading levels once all pages have been seen."""
        if not self._chars:
            return
        by_size: Counter[int] = Counter()
        for (size, _), count in self._chars.items():
            by_size[size] += count
        total = by_size.total()
        self.body_size = max(by_size, key=lambda size: (by_size[size], -size))
        n_bold = sum(count for (_, bold), count in self._chars.items() if bold)
        self.bold_is_common = n_bold * 100 > _MAX_BOLD_SHARE_PERCENT * total
        self.mono_is_common = 2 * self._mono_chars > total
        kinds = [
            kind
            for kind, count in self._chars.items()
            if kind[0] * 100 >= _TITLE_PERCENT * self.body_size
            and (self._long_chars[kind] * 5 < count or kind[0] * 100 >= _DISPLAY_PERCENT * self.body_size)
        ]
        level, previous = 0, 0
        for kind in sorted(kinds, reverse=True):
            if not previous or kind[0] * 100 < 92 * previous:
                level, previous = min(level + 1, _LEVELS - 1), kind[0]
            self._levels[kind] = level

    def level(self, segment: Segment) -> int | None:
        """Heading level of a segment's type, None for type that is not for headings."""
        return self._levels.get((segment.size, segment.lines[0].style & BOLD))

    def is_display(self, segment: Segment) -> bool:
        """Whether the type is so large that even many lines of it are a title."""
        return segment.size * 100 >= _DISPLAY_PERCENT * self.body_size

    @property
    def bold_level(self) -> int:
        """Level of headings that only differ from the text by being bold."""
        return min(max(self._levels.values(), default=0) + 1, _LEVELS)


def assign_roles(segments: Sequence[Segment], page: RawPage, scale: TypeScale) -> None:
    """Give every segment that is still plain text the role its shape suggests.

    Args:
        segments: Segments of a page in reading order, furniture left out.
        page: The page they stand on.
        scale: The document's sizes of type.
    """
    _count_row_cells(segments)
    for index, segment in enumerate(segments):
        if segment.role != "text":
            continue
        following = segments[index + 1] if index + 1 < len(segments) else None
        segment.role, segment.level = _role(segment, following, scale)
    _mark_footnotes(segments, page, scale)


def _count_row_cells(segments: Sequence[Segment]) -> None:
    cells = [s for s in segments if s.n_chars <= _MAX_CELL_CHARS * 2 and len(s.lines) <= 4]  # noqa: PLR2004 - a cell is small
    cells.sort(key=_TOP_LEFT)
    for index, left in enumerate(cells, 1):
        bottom = left.y1
        for place in range(index, min(index + _MAX_ROW, len(cells))):
            right = cells[place]
            if right.y0 >= bottom:
                break
            if (
                (right.x0 >= left.x1 or left.x0 >= right.x1)
                and left.column == right.column
                and (same_row(left.lines[0], right.lines[0]) or (same_row(left, right) and right.y1 <= left.y1))
            ):
                left.row_cells += 1
                right.row_cells += 1


def _role(segment: Segment, following: Segment | None, scale: TypeScale) -> tuple[Role, int | None]:
    text = segment.text
    is_cell = segment.row_cells > 0 and segment.n_chars <= _MAX_CELL_CHARS * 2
    role: Role = "text"
    level: int | None = None
    style = segment.lines[0].style  # tells nearly all segments that are not bold or monospaced throughout
    if segment.size < _MIN_VISIBLE_SIZE:
        role = "other"
    elif text[:1] in _CAPTION_STARTS and segment.n_chars <= _MAX_CAPTION_CHARS and _CAPTION.match(text):
        role = "caption"
    elif style & MONOSPACED and len(segment.lines) > 1 and segment.monospaced and not scale.mono_is_common:
        role = "code"
    elif starts_with_bullet(text) and any(map(str.isalpha, text[:_MAX_TITLE_CHARS])):
        role = "list"
    elif (
        scale.level(segment) is not None
        and _is_large_title(segment, scale, is_cell=is_cell)
        and _THREE_LETTERS.search(text, 0, _MAX_TITLE_CHARS)
    ):
        role, level = "title", scale.level(segment)
    elif (
        style & BOLD and _is_bold_title(segment, following, scale) and _THREE_LETTERS.search(text, 0, _MAX_TITLE_CHARS)
    ):
        role, level = "title", scale.bold_level
    elif is_cell or _is_mostly_figures(text):
        role = "table"
    elif (mark := ENUMERATOR.match(text)) and mark.end() < len(text):
        role = "list"
    elif style & MONOSPACED and segment.monospaced and not scale.mono_is_common:
        role = "code"
    return role, level


def _is_large_title(segment: Segment, scale: TypeScale, *, is_cell: bool) -> bool:
    if is_cell and segment.row_cells > 1:
        return False
    if scale.is_display(segment):
        return len(segment.lines) <= _MAX_DISPLAY_LINES
    return segment.n_chars <= _MAX_TITLE_CHARS and len(segment.lines) <= _MAX_TITLE_LINES


def _is_bold_title(segment: Segment, following: Segment | None, scale: TypeScale) -> bool:
    if not segment.bold or (scale.bold_is_common and not _SECTION_NUMBER.match(segment.text)):
        return False
    if segment.n_chars > _MAX_BOLD_TITLE_CHARS or len(segment.lines) > _MAX_BOLD_TITLE_LINES:
        return False
    if segment.size * 100 < 95 * scale.body_size or segment.text.endswith(_ENDS_TEXT):
        return False
    return (
        following is not None
        and not following.bold
        and following.n_chars > segment.n_chars
        and following.row_cells == 0
        and following.y0 >= segment.y0
        and following.y0 - segment.y1 < 4 * segment.size
        and following.x0 < segment.x1
    )


def _is_mostly_figures(text: str) -> bool:
    words = text.split()
    n_words = len(words)
    if not _MIN_FIGURE_WORDS <= n_words <= _MAX_FIGURE_WORDS:
        return False
    if (n_words - sum(map(str.isalpha, words))) * 10 < 6 * n_words:  # the plain test first: many times faster
        return False
    return len(_FIGURE.findall(text)) * 10 >= 6 * n_words


def _mark_footnotes(segments: Sequence[Segment], page: RawPage, scale: TypeScale) -> None:
    """Small type at the bottom of a column, from the first note mark on."""
    notes = False
    previous: Segment | None = None
    max_size, top = _FOOTNOTE_PERCENT * scale.body_size, 40 * page.height
    for segment in segments:
        if (
            segment.size * 100 > max_size
            or segment.lines[0].bbox[1] * 100 < top
            or segment.role not in {"text", "list", "table"}
            or segment.row_cells
        ):
            notes = False
        elif segment.lines[0].style & STARTS_WITH_MARK or _FOOTNOTE.match(segment.text):
            notes = True
            segment.role = "footnote"
        elif notes and previous is not None and segment.y0 >= previous.y0 and segment.x0 < previous.x1:
            segment.role = "footnote"
        previous = segment
