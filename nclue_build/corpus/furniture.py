"""Running headers, footers and page numbers: lines that repeat at the same place.

A line is furniture when its text, figures aside, stands at the same height of many pages. Chapter-wise
heads repeat on a few pages only; they count where other heads have shown the place to be one for heads.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nclue_build.corpus.lines import Line, RawPage
    from nclue_build.records.corpus import Role

_ZONE_PERCENT: Final = 13
"""Share of the page height, at the top and at the bottom, where furniture may stand."""
_SIDE_PERCENT: Final = 7
_BAND: Final = 300
"""Heights within 3 pt are the same height."""
_WINDOW: Final = 12
_SHORT_DOCUMENT: Final = 5
_BIG_TYPE_PERCENT: Final = 125
_MAX_LENGTH: Final = 160
_MIN_TELLING_TEXT: Final = 8
_MIN_SLOT_PAGES: Final = 3
_MIN_REPEATS: Final = 3

_FIGURES: Final = re.compile(r"\d+")
_ROMAN: Final = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE | re.ASCII)  # the Turkish i without a dot is no i
_PAGE_NUMBER: Final = re.compile(
    r"[-\u2013\u2014|\s]*(?:(?:page|p\.)\s*)?(?P<value>\d{1,4}|[ivxlc]{1,7}|[A-Z]{1,2}[-.]\d{1,3}|\d{1,2}-\d{1,3})"
    r"(?:\s*(?:of|/)\s*\d{1,4})?[-\u2013\u2014|.\s]*",
    re.IGNORECASE,
)
_NAMED_PAGE: Final = re.compile(r"\W*(?:page|p\.)\s*\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)

Key = tuple[str, bool, int, int]
"""Text without figures, whether at the top, height band, direction."""
Slot = tuple[bool, int, int, int, int]
"""Whether at the top, height band, size, style, direction."""


def _outer_lines(page: RawPage) -> list[tuple[int, Line, str]]:
    """Lines in an outer zone of the page as shown, with their index and ``top``, ``bottom`` or ``side``."""
    height, width = page.height, page.width
    top, bottom = _ZONE_PERCENT * height // 100, -((_ZONE_PERCENT - 100) * height // 100)
    left, right = _SIDE_PERCENT * width // 100, -((_SIDE_PERCENT - 100) * width // 100)
    found: list[tuple[int, Line, str]] = []
    for index, line in enumerate(page.lines):
        x0, y0, x1, y1 = line.bbox
        if y1 <= top:
            found.append((index, line, "top"))
        elif y0 >= bottom:
            found.append((index, line, "bottom"))
        elif line.direction in {1, 3} and (x1 <= left or x0 >= right):
            found.append((index, line, "side"))
    return found


@dataclass(slots=True)
class _Outer:
    """A line in an outer zone, as far as it matters for what repeats.

    ``keys`` and ``slots`` have two entries each, for two overlapping rows of height bands: so bands have no
    hard edges. ``offset`` is the figure of a page number minus the physical page.
    """

    index: int
    where: str
    plain: str
    size: int
    direction: int
    is_number: bool
    offset: int | None
    keys: tuple[Key, Key]
    slots: tuple[Slot, Slot]

    @classmethod
    def of(cls, index: int, line: Line, page: RawPage, where: str) -> _Outer:
        text, size, style, direction = line.text, line.size, line.style, line.direction
        plain, top = _plain(text), where == "top"
        match = _PAGE_NUMBER.fullmatch(text)
        number = None if match is None else _number(match["value"])
        low, high = _bands(line, page, where)
        return cls(
            index,
            where,
            plain,
            size,
            direction,
            match is not None,
            None if number is None else number - page.page,
            ((plain, top, low, direction), (plain, top, high, direction)),
            ((top, low, size, style, direction), (top, high, size, style, direction)),
        )


@dataclass(slots=True)
class Furniture:
    """What repeats in a document; fed with every page, settled, then asked about every page once more."""

    body_size: int = 0
    _n_pages: int = 0
    _outer: dict[int, list[_Outer]] = field(default_factory=dict)
    _pages: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))
    _offsets: Counter[tuple[bool, int]] = field(default_factory=Counter)
    _accepted: set[Key] = field(default_factory=set)
    _texts: set[tuple[str, bool, int]] = field(default_factory=set)
    _slot_pages: Counter[Slot] = field(default_factory=Counter)
    _has_body: bool = False

    def observe(self, page: RawPage) -> None:
        """Take note of the outer lines of a page."""
        self._n_pages += 1
        found = _outer_lines(page)
        self._has_body = self._has_body or len(found) < len(page.lines)
        outer_lines = self._outer[page.page] = [
            _Outer.of(index, line, page, where) for index, line, where in found if len(line.text) <= _MAX_LENGTH
        ]
        for outer in outer_lines:
            for key in outer.keys:
                pages = self._pages[key]
                if not pages or pages[-1] != page.page:
                    pages.append(page.page)
            if outer.offset is not None:
                self._offsets[outer.where == "top", outer.offset] += 1

    def settle(self, body_size: int) -> None:
        """Decide, once all pages have been seen, which texts repeat often enough, and where such texts stand."""
        self.body_size = body_size
        if not self._has_body and self._n_pages <= _SHORT_DOCUMENT:  # the few lines there are, are the text
            return
        self._accepted = {key for key, pages in self._pages.items() if self._repeats(pages)}
        for outer in chain.from_iterable(self._outer.values()):
            if self._is_accepted(outer):
                for slot in outer.slots:
                    self._slot_pages[slot] += 1
                if len(outer.plain) >= _MIN_TELLING_TEXT:
                    self._texts.add((outer.plain, outer.where == "top", outer.size))

    def _repeats(self, pages: list[int]) -> bool:
        if len(pages) < 2:  # noqa: PLR2004 - once is no repetition
            return False
        if self._n_pages <= _SHORT_DOCUMENT:
            return True
        return any(last - first < _WINDOW for first, last in zip(pages, pages[_MIN_REPEATS - 1 :], strict=False))

    def _is_accepted(self, outer: _Outer) -> bool:
        if self._accepted.isdisjoint(outer.keys):
            return False
        if outer.size * 100 >= _BIG_TYPE_PERCENT * self.body_size and outer.direction == 0:
            # Titles of chapters and slides repeat, too: big type must be all over the document.
            return 4 * max(len(self._pages[key]) for key in outer.keys) >= self._n_pages
        return outer.plain != "#" or self._is_counting(outer)

    def _is_counting(self, outer: _Outer) -> bool:
        """Whether a figure grows with the pages, as page numbers do and table cells do not."""
        return outer.offset is not None and self._offsets[outer.where == "top", outer.offset] > 1

    def roles(self, page: RawPage) -> list[Role | None]:
        """Role of every line of a page: ``header``, ``footer``, ``page_number``, or None for the text.

        What was noted of the page is forgotten.

        Returns:
            Parallel to ``page.lines``.
        """
        roles: list[Role | None] = [None] * len(page.lines)
        for outer in self._outer.pop(page.page):
            if self._is_furniture(outer, page.lines[outer.index]):
                roles[outer.index] = _role(outer.where, is_number=outer.is_number)
        if any(roles):
            _add_second_lines(page, roles)
        return roles

    def _is_furniture(self, outer: _Outer, line: Line) -> bool:
        if self._is_accepted(outer) or _NAMED_PAGE.fullmatch(line.text) or self._is_counting(outer):
            return True
        if outer.size * 100 >= _BIG_TYPE_PERCENT * self.body_size:
            return False
        # Running heads of other chapters, and known heads that sit a little higher or lower here.
        return (outer.plain, outer.where == "top", outer.size) in self._texts or any(
            self._slot_pages.get(slot, 0) >= _MIN_SLOT_PAGES for slot in outer.slots
        )


def _add_second_lines(page: RawPage, roles: list[Role | None]) -> None:
    """A head of two lines: what follows closely in the same type, well apart from the text."""
    heads = [line for line, role in zip(page.lines, roles, strict=True) if role is not None]
    top = _ZONE_PERCENT * page.height // 100
    for index, line in enumerate(page.lines):
        if line.bbox[3] > top or roles[index] is not None:
            continue
        near = any(
            head.size == line.size and head.style == line.style and 0 <= line.y0 - head.y0 <= head.size * 13 // 10
            for head in heads
        )
        if near and not any(
            0 <= other.y0 - line.y1 < line.size
            for other, role in zip(page.lines, roles, strict=True)
            if other is not line and role is None
        ):
            roles[index] = _role("top", is_number=_PAGE_NUMBER.fullmatch(line.text) is not None)


def _role(where: str, *, is_number: bool) -> Role:
    if is_number:
        return "page_number"
    return "footer" if where == "bottom" else "header"


def _bands(line: Line, page: RawPage, where: str) -> tuple[int, int]:
    # Measured from the nearer edge: pages of different height keep their margins.
    x0, y0, _, y1 = line.bbox
    place = {"side": x0, "top": y0, "bottom": page.height - y1}[where]
    return (place // _BAND, (place + _BAND // 2) // _BAND + 100_000)


def _plain(text: str) -> str:
    plain = " ".join(text.split()).casefold()
    if _ROMAN.fullmatch(plain):
        return "#"
    return _FIGURES.sub("#", plain)


_ROMAN_VALUES: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def _number(value: str) -> int | None:
    """The number of a page, None where it is one of an appendix or a chapter."""
    value = value.lower()
    if value.isdigit():
        return int(value)
    if not _ROMAN.fullmatch(value):
        return None
    digits = [_ROMAN_VALUES[char] for char in value]
    return sum(-one if one < following else one for one, following in zip(digits, [*digits[1:], 0], strict=True))
