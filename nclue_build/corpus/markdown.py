"""A page as Markdown, for people to read: page marks, headings, lists, tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.plain_html import plain_table
from nclue_build.corpus.summary import FURNITURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.records.corpus import Block, PageRow

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~$])")
_BREAK_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
_CELL: Final = " | "
"""Stands between the cells of a row in the text of a table whose cells are known."""
_SPAN: Final = re.compile(r"<[^<>]*\b(?:row|col)span\b", re.IGNORECASE)
_MIN_TABLE: Final = 2
_FENCE: Final = "```"
_LONG_FENCE: Final = "`````"
_STARTS_LIST: Final = re.compile(r"(?:[-+]|\d{1,9}[.)])(?=\s)", re.MULTILINE)


def markdown_lines(page: PageRow) -> Iterator[str]:
    """Yield the lines of a page: a mark with its number first, then a block after the other.

    Running heads, feet and page numbers are comments: they are no text of the document.
    """
    label = f", label {_comment(page.page_label)}" if page.page_label else ""
    status = "" if page.status == "ok" else f", {page.status}"
    yield f"<!-- page {page.page}{label}{status} -->"
    yield ""
    for block in page.blocks:
        yield from _block(block)
        yield ""


def _block(block: Block) -> Iterator[str]:
    text = block.text
    if block.role in FURNITURE:
        yield f"<!-- {block.role}: {_comment(text)} -->"
    elif block.role == "title":
        yield "#" * (block.level or 1) + " " + _inline(" ".join(text.split()))
    elif block.role == "code":
        yield from _fenced(text)
    elif block.role == "table" and block.html is not None and _SPAN.search(block.html):
        yield plain_table(block.html)  # Markdown has no cells over several rows or columns
    elif block.role == "table":
        yield from _table(text)
    elif block.role == "equation":
        yield "$$"
        yield from text.splitlines()
        yield "$$"
    elif block.role in {"list", "toc", "reference"}:
        for line in text.splitlines():
            yield _inline(line) + "  "  # two spaces keep the line's end
    else:
        yield _inline(_joined(text))


def _fenced(text: str) -> Iterator[str]:
    fence = _LONG_FENCE if _FENCE in text else _FENCE
    yield fence
    yield from text.splitlines()
    yield fence


def _table(text: str) -> Iterator[str]:
    """A table of which every row has the same number of cells, else its lines as they stand."""
    rows = [line.split(_CELL) for line in text.splitlines()]
    if len(rows) < _MIN_TABLE or len(rows[0]) < _MIN_TABLE or any(len(row) != len(rows[0]) for row in rows):
        yield from _fenced(text)
        return
    head, *others = ["| " + " | ".join(_inline(cell.strip()) for cell in row) + " |" for row in rows]
    yield head
    yield "|" + " --- |" * len(rows[0])
    yield from others


def _joined(text: str) -> str:
    """A paragraph on one line; a word broken at a line end stays broken, with its hyphen, as nobody can tell."""
    return " ".join(_BREAK_HYPHEN.sub("-", text).split())


def _inline(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", text)
    return _STARTS_LIST.sub(lambda found: found[0][:-1] + "\\" + found[0][-1], escaped)


def _comment(text: str) -> str:
    return " ".join(text.split()).replace("--", "- -")
