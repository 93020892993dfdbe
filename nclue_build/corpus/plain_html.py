"""Tables that another program wrote as HTML, made safe to stand in a file for people."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from typing import Final

_LEVELS: Final = {"table": 0, "caption": 1, "thead": 1, "tbody": 1, "tfoot": 1, "tr": 2, "td": 3, "th": 3}
"""How deep a tag stands: one of a level ends those of the same and deeper levels."""
_BREAKS: Final = frozenset({"br", "p", "div", "li", "sup"})
_SPANS: Final = frozenset({"rowspan", "colspan"})
_SPAN_WIDTH: Final = re.compile(r"[1-9][0-9]{0,2}")
_SPACE: Final = re.compile(r"\s+")


def plain_table(source: str) -> str:
    """A table's HTML with rows, cells and their spans alone, on one line: Markdown takes it, and nothing in it runs."""
    parser = _PlainTable()
    parser.feed(source)
    parser.close()
    return parser.html()


class _PlainTable(HTMLParser):
    """Writes a table anew; tags left open are closed at the end of what they are in."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self._parts.append(" ")
        if tag not in _LEVELS:
            return
        self._close(_LEVELS[tag])
        if tag != "table" and not self._open:
            self._start("table", "")
        if tag in {"td", "th"} and self._open[-1] != "tr":
            self._start("tr", "")
        spans = [
            f' {name}="{value}"' for name, value in attrs if name in _SPANS and value and _SPAN_WIDTH.fullmatch(value)
        ]
        self._start(tag, "".join(spans) if tag in {"td", "th"} else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            self._close(_LEVELS[tag])

    def handle_data(self, data: str) -> None:
        self._parts.append(escape(_SPACE.sub(" ", data), quote=False))

    def _start(self, tag: str, attributes: str) -> None:
        self._parts.append(f"<{tag}{attributes}>")
        self._open.append(tag)

    def _close(self, level: int) -> None:
        while self._open and _LEVELS[self._open[-1]] >= level:
            self._parts.append(f"</{self._open.pop()}>")

    def html(self) -> str:
        self._close(0)
        return "".join(self._parts).strip()
