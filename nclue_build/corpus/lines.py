"""What the reader process says of a page, decoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

BOLD: Final = 1
"""Style bit: every span of the line is bold."""
MONOSPACED: Final = 2
"""Style bit: every span of the line is monospaced."""
STARTS_WITH_MARK: Final = 4
"""Style bit: the line starts with a small raised number, as footnotes do."""


@dataclass(slots=True, eq=False)
class Line:
    """A line of text on one baseline, in reading coordinates (1/100 pt).

    ``x0 .. y1`` are turned so that the text runs from left to right, whatever ``direction`` is (0 as
    usual, 1 downwards, 2 upside down, 3 upwards); ``bbox`` is where it stands on the page as shown.
    """

    block: int
    direction: int
    x0: int
    y0: int
    x1: int
    y1: int
    size: int
    style: int
    text: str
    bbox: tuple[int, int, int, int]

    @property
    def bold(self) -> bool:
        """Whether the whole line is bold."""
        return bool(self.style & BOLD)


@dataclass(slots=True, eq=False)
class RawPage:
    """A page as read: geometry, lines in the order of the content stream, flags."""

    page: int
    label: str | None
    width: int
    height: int
    rotation: int
    pictures: bool
    flags: list[str]
    lines: list[Line] = field(default_factory=list)
    backend: tuple[str, str] | None = None
    """Name and version of what read it, where that is not the document's reader."""


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A page that could not be read: ``flag`` is the reason code, ``reason`` one line for people."""

    page: int
    flag: str
    reason: str


def decode_page(payload: bytes) -> RawPage:
    """Decode a page line of the reader process."""
    return page_of(orjson.loads(payload))


def page_of(raw: Mapping[str, Any]) -> RawPage:
    """The page that a message of the reader process describes."""
    width, height = raw["width"], raw["height"]
    page = RawPage(
        page=raw["page"],
        label=raw["label"],
        width=width,
        height=height,
        rotation=raw["rotation"],
        pictures=raw["pictures"],
        flags=raw["flags"],
        lines=[
            Line(block, 0, x0, y0, x1, y1, size, style, text.strip(), (x0, y0, x1, y1))
            if not direction
            else _turned([block, direction, x0, y0, x1, y1, size, style, text], width, height)
            for block, direction, x0, y0, x1, y1, size, style, text in raw["lines"]
        ],
        backend=(backend[0], backend[1]) if (backend := raw.get("backend")) else None,
    )
    # A scan that lies askew is read as if it were straight; its lines stand where they stand.
    if boxes := raw.get("boxes"):
        for line, (x0, y0, x1, y1) in zip(page.lines, boxes, strict=True):
            line.bbox = (x0, y0, x1, y1)
    return page


def _turned(row: list[Any], width: int, height: int) -> Line:
    block, direction, x0, y0, x1, y1, size, style, text = row
    bbox = (x0, y0, x1, y1)
    if direction == 1:
        x0, y0, x1, y1 = y0, width - x1, y1, width - x0
    elif direction == 2:  # noqa: PLR2004 - the directions of Line
        x0, y0, x1, y1 = width - x1, height - y1, width - x0, height - y0
    elif direction == 3:  # noqa: PLR2004 - the directions of Line
        x0, y0, x1, y1 = height - y1, x0, height - y0, x1
    return Line(block, direction, x0, y0, x1, y1, size, style, text.strip(), bbox)
