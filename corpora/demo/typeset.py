# mypy: disable-error-code="no-untyped-call"
"""Markup and page layout of the demo corpus.

One text file is parsed into blocks and set page by page. While a block is placed its text is noted together with the
page it lands on; those notes are what the planted truth is computed from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pymupdf

if TYPE_CHECKING:
    from pathlib import Path

FACES: Final = {"serif": ("tiro", "tibo", "tiit"), "sans": ("helv", "hebo", "heit")}
"""PyMuPDF's names of the regular, bold and italic face."""

_PREFIXES: Final = (
    ("### ", "subheading"),
    ("## ", "heading"),
    ("# ", "title"),
    ("- ", "list"),
    ("| ", "table"),
    (": ", "caption"),
    ("@ref ", "reference"),
    ("@entry ", "toc"),
    ("@note ", "footnote"),
)
_SHAPES: Final = {
    "heading": (1.4, 0.9, 0.0),
    "subheading": (1.15, 0.8, 0.0),
    "text": (1.0, 0.55, 0.0),
    "list": (1.0, 0.4, 12.0),
    "caption": (0.9, 0.55, 0.0),
    "reference": (0.9, 0.4, 14.0),
}
"""Of blocks in the text column: type size against the body's, lines of space above, indent in pt."""
_NUMBERED: Final = re.compile(r"\d+\. ")
_LIGATURES: Final = (("ffi", "\ufb03"), ("ffl", "\ufb04"), ("fi", "\ufb01"), ("fl", "\ufb02"))
_BREAK: Final = "\\-"


class SourceError(Exception):
    """A text source that cannot be typeset; the message names the file and the page."""


@dataclass(frozen=True)
class Block:
    """A heading, paragraph, list item, table row, ...: the unit of the markup."""

    kind: str
    text: str

    @property
    def cells(self) -> list[str]:
        """The cells of a table row."""
        return [cell.strip() for cell in self.text.strip("| ").split("|")]


@dataclass(frozen=True)
class Source:
    """A parsed text file: its front matter, and the blocks of every page."""

    name: str
    meta: dict[str, str]
    pages: list[list[Block]]

    def headings(self) -> list[tuple[str, str]]:
        """Text and page number of every heading, for the contents page."""
        return [
            (block.text, str(number))
            for number, page in enumerate(self.pages, start=1)
            for block in page
            if block.kind == "heading"
        ]


@dataclass(frozen=True)
class Placed:
    """Text that the layout put on a page."""

    page: int
    kind: str
    text: str


def parse(path: Path) -> Source:
    """Read a text file: front matter between ``---`` lines, pages divided by ``===`` lines.

    Raises:
        SourceError: the front matter is missing, or lacks a key.
    """
    match = re.match(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
    if match is None:
        raise SourceError(f"{path.name}: no front matter between '---' lines")
    meta = dict(line.split(": ", 1) for line in match.group(1).splitlines())
    if missing := {"source", "title", "header", "footer"} - meta.keys():
        raise SourceError(f"{path.name}: front matter lacks {', '.join(sorted(missing))}")
    return Source(path.stem, meta, [_parse_page(text) for text in re.split(r"(?m)^===$", match.group(2))])


def _parse_page(text: str) -> list[Block]:
    """One line is one block, so that a diff shows which paragraph changed."""
    blocks: list[Block] = []
    for line in filter(None, text.splitlines()):
        prefix, kind = next((pair for pair in _PREFIXES if line.startswith(pair[0])), ("", "text"))
        if line == "@contents":
            blocks.append(Block("contents", ""))
        elif not prefix and _NUMBERED.match(line):
            blocks.append(Block("list", line))
        else:
            blocks.append(Block(kind, line.removeprefix(prefix)))
    return blocks


def _plain(text: str) -> str:
    """The text as a reader understands it: no break marks, no note marks."""
    return re.sub(r"\^\d+", "", text.replace(_BREAK, ""))


class _Advances(dict[str, float]):
    """Widths of characters at a size of one point, looked up once each."""

    def __init__(self, font: Any) -> None:
        super().__init__()
        self._font = font

    def __missing__(self, char: str) -> float:
        self[char] = self._font.text_length(char, 1)
        return self[char]


class Face:
    """A typeface that remembers the width of each character: asking MuPDF every time takes twenty times as long."""

    def __init__(self, name: str) -> None:
        """Load one of PyMuPDF's built-in fonts."""
        self.font = pymupdf.Font(name)
        self._advances = _Advances(self.font)

    def width(self, text: str, size: float) -> float:
        """Width of a text in points."""
        return size * sum(map(self._advances.__getitem__, text))


@dataclass
class Typesetter:
    """Lays one document out; ``placed`` fills up with what went where."""

    source: Source
    placed: list[Placed] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take the style from the front matter."""
        meta = self.source.meta
        self.width, self.height = (float(side) for side in meta.get("page", "420x595").split("x"))
        self.size = float(meta.get("size", "10"))
        self.margin = float(meta.get("margin", "46"))
        self.n_columns = int(meta.get("columns", "1"))
        self.gutter = 16.0
        self.ligatures = meta.get("ligatures") == "yes"
        faces = FACES[meta.get("font", "serif")]
        self.regular, self.bold, self.italic = (Face(face) for face in faces)
        self.top, self.bottom = self.margin + 14, self.height - self.margin - 14
        self.column, self.y, self.column_top = 0, self.top, self.top

    def document(self) -> Any:
        """Typeset all pages.

        Returns:
            The open PyMuPDF document.

        Raises:
            SourceError: text does not fit its page.
        """
        pdf = pymupdf.open()
        for number, blocks in enumerate(self.source.pages, start=1):
            page = pdf.new_page(width=self.width, height=self.height)
            self.number = number
            self.writer = pymupdf.TextWriter(page.rect)
            self.column, self.y, self.column_top = 0, self.top, self.top
            if number >= int(self.source.meta.get("header_from", "2")):
                self._running()
            notes = [block for block in blocks if block.kind == "footnote"]
            self.limit = self.bottom - self._notes(notes)
            for block in blocks:
                self._block(block)
            self.writer.write_text(page)
        pdf.subset_fonts()
        pdf.set_metadata({"title": self.source.meta["title"]})
        return pdf

    def _running(self) -> None:
        size = self.size * 0.8
        numbers = {"page": self.number, "pages": len(self.source.pages)}
        for kind, y in (("header", self.margin - 6), ("footer", self.height - self.margin + 12)):
            text = self.source.meta[kind].format(**numbers)
            left, _, right = text.partition(" || ")
            self._draw(self.margin, y, left, self.italic, size)
            if right:
                x = self.width - self.margin - self.italic.width(right, size)
                self._draw(x, y, right, self.italic, size)
            self._note(kind, text)

    def _notes(self, notes: list[Block]) -> float:
        """Set the footnotes at the foot of the page and return their height."""
        size = self.size * 0.82
        lines = [(note, self._lines(note.text, self.regular, size, self._measure)) for note in notes]
        height = sum(len(rows) for _, rows in lines) * size * 1.25 + (8 if notes else 0)
        y = self.bottom - height + 8
        for note, rows in lines:
            for row in rows:
                y += size * 1.25
                self._draw(self.margin, y, row, self.regular, size)
            self._note("footnote", note.text)
        return height

    @property
    def _measure(self) -> float:
        """Width of the text area, all columns."""
        return self.width - 2 * self.margin

    @property
    def _column_width(self) -> float:
        return (self._measure - (self.n_columns - 1) * self.gutter) / self.n_columns

    def _block(self, block: Block) -> None:
        if block.kind == "contents":
            self._contents(self.source.headings())
        elif block.kind == "toc":
            title, _, label = block.text.partition(" .. ")
            self._contents([(title, label)])
        elif block.kind == "table":
            self._row(block)
        elif block.kind == "title":
            self._spanning(block)
        elif block.kind != "footnote":  # footnotes are set already
            self._flow(block)

    def _flow(self, block: Block) -> None:
        scale, above, indent = _SHAPES[block.kind]
        size = self.size * scale
        face = {"heading": self.bold, "subheading": self.bold, "caption": self.italic}.get(block.kind, self.regular)
        bullet = block.kind == "list" and not _NUMBERED.match(block.text)
        text = f"\u2022 {block.text}" if bullet else block.text
        self._space(above)
        for index, line in enumerate(self._lines(text, face, size, self._column_width - indent)):
            hang = indent if index or block.kind == "list" else 0.0
            self._draw(self._advance(size) + hang, self.y, line, face, size)
        self._note(block.kind, block.text)

    def _spanning(self, block: Block) -> None:
        """A title runs over all columns, which start afresh below it."""
        size = self.size * 1.9
        for line in self._lines(block.text, self.bold, size, self._measure):
            self.y += size * 1.25
            self._draw(self.margin, self.y, line, self.bold, size)
        self.y += size * 0.5
        self.column_top = self.y
        self._note("title", block.text)

    def _contents(self, entries: list[tuple[str, str]]) -> None:
        dot = self.regular.width(".", self.size)
        for title, label in entries:
            self._space(0.2)
            x = self._advance(self.size)
            right = x + self._column_width - self.regular.width(label, self.size)
            start = x + self.regular.width(f"{title} ", self.size)
            n_dots = int((right - start - 4) / dot)
            if n_dots < 2:  # noqa: PLR2004 - a leader needs two dots to be one
                raise SourceError(f"{self._where}: contents entry too long: {title}")
            self._draw(x, self.y, f"{title} {'.' * n_dots}", self.regular, self.size)
            self._draw(right, self.y, label, self.regular, self.size)
            self._note("toc", title)

    def _row(self, block: Block) -> None:
        size = self.size * 0.9
        width = self._column_width / len(block.cells)
        header = not (self.placed and self.placed[-1].kind == "table" and self.placed[-1].page == self.number)
        face = self.bold if header else self.regular
        columns = [self._lines(cell, face, size, width - 8) for cell in block.cells]
        self._space(0.25)
        left, start = self._advance(size), self.y
        for index, rows in enumerate(columns):
            for offset, row in enumerate(rows):
                self._draw(left + index * width, start + offset * size * 1.25, row, face, size)
        self.y = start + (max(map(len, columns)) - 1) * size * 1.25
        for cell in block.cells:
            self._note("table", cell)

    def _lines(self, text: str, face: Face, size: float, width: float) -> list[str]:
        r"""Break text greedily at spaces, after hyphens inside words, and at ``\-`` marks."""
        lines: list[str] = []
        current = ""
        for word in text.split():
            parts = re.split(r"(\\-|(?<=\w-)(?=\w))", word)
            for index, part in enumerate(parts):
                if part in ("", _BREAK):
                    continue
                glue = " " if current and index == 0 else ""
                soft = "-" if index + 1 < len(parts) and parts[index + 1] == _BREAK else ""
                if current and face.width(self._shown(f"{current}{glue}{part}{soft}"), size) > width:
                    broken = index > 0 and parts[index - 1] == _BREAK
                    lines.append(f"{current}-" if broken else current)
                    current = part
                else:
                    current = f"{current}{glue}{part}"
        return [*lines, current]

    def _shown(self, text: str) -> str:
        if self.ligatures:
            for plain, ligature in _LIGATURES:
                text = text.replace(plain, ligature)
        return text

    def _draw(self, x: float, y: float, text: str, face: Face, size: float) -> None:
        for index, part in enumerate(re.split(r"\^(\d+)", self._shown(text))):
            if index % 2:  # a note mark
                self.writer.append((x, y - size * 0.35), part, font=face.font, fontsize=size * 0.65)
                x += face.width(part, size * 0.65)
            elif part:
                self.writer.append((x, y), part, font=face.font, fontsize=size)
                x += face.width(part, size)

    def _space(self, lines: float) -> None:
        if self.y > self.column_top:
            self.y += lines * self.size * 1.25

    def _advance(self, size: float) -> float:
        """Move to the next line, into the next column where this one is full, and return its x."""
        self.y += size * 1.3
        if self.y > self.limit:
            self.column += 1
            self.y = self.column_top + size * 1.3
            if self.column == self.n_columns:
                raise SourceError(f"{self._where}: text does not fit the page")
        return self.margin + self.column * (self._column_width + self.gutter)

    @property
    def _where(self) -> str:
        return f"{self.source.name}, page {self.number}"

    def _note(self, kind: str, text: str) -> None:
        self.placed.append(Placed(self.number, kind, _plain(text)))
