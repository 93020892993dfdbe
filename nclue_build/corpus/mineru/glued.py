"""Parting paragraphs and tables that stand whole on their first page, by the text the PDF itself has on its pages.

Content lists say nothing of where in a paragraph the page ends, and no file of 2.2 to 2.7 that has ``para_blocks``
alone says it of the rows of a table; the letters of the PDF's own pages do, where it has any. What they do not tell
clearly stays as it is.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.mineru.markup import CELL
from nclue_build.corpus.mineru.pages import GLUED, GLUED_TABLE
from nclue_build.corpus.summary import FURNITURE, MadeBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nclue_build.corpus.mineru.pages import MineruDocument

_MIN_LETTERS: Final = 12
"""Letters that have to stand on either side of the break: fewer are found anywhere."""
_MIN_CELL: Final = 6
"""Letters of a cell that is not found anywhere."""
_MAX_COMMON: Final = 40
"""Letters at the end of a page that may also stand, by chance, before what goes on on the next page."""


def part_glued(document: MineruDocument, known: Sequence[Sequence[str]]) -> None:
    """Move what goes on on the next page to that page; pages are changed in place.

    Args:
        document: Its pages are numbered as those of the PDF.
        known: Texts of every page of the PDF, in the order of its content.
    """
    letters = [_only_letters("\n".join(texts)) for texts in known]
    for index in range(len(letters) - 1):
        page = document.pages.get(index)
        if page is None or not {GLUED, GLUED_TABLE} & page.flags:
            continue
        for place in reversed(range(len(page.blocks))):
            block = page.blocks[place]
            find = _CUTS.get(block.role)
            cut = None if find is None else find(block.text, letters[index], letters[index + 1])
            if cut is None:
                continue
            head, tail = block.text[:cut].rstrip(), block.text[cut:].lstrip()
            page.blocks[place] = block._replace(text=head, html=None)  # the HTML has all rows
            following = document.pages.get(index + 1)
            if following is None:  # nothing but what was glued to the page before
                following = document.add_page(index + 1)
                following.flags.add(GLUED)
            start = next((at for at, one in enumerate(following.blocks) if one.role not in FURNITURE), None)
            at = len(following.blocks) if start is None else start
            following.blocks.insert(at, MadeBlock(block.role, None, tail, None))
            break  # one paragraph or table alone can go over a page break


def _letters(text: str) -> list[tuple[str, int]]:
    """Letters and figures as they compare, each with its place in the text."""
    return [
        (letter, place)
        for place, char in enumerate(text)
        for letter in (char if char.isascii() else unicodedata.normalize("NFKC", char)).casefold()
        if letter.isalnum()
    ]


def _cut(text: str, here: str, there: str) -> int | None:
    """Where in a text the page ends, None where all of it is on its page or nobody can tell."""
    placed = _letters(text)
    letters = "".join(letter for letter, _ in placed)
    if len(letters) < 2 * _MIN_LETTERS or letters in here or letters[-_MIN_LETTERS:] not in there:
        return None
    low, high = 0, len(letters) - _MIN_LETTERS  # the first place from which on everything is on the next page
    while low < high:
        middle = (low + high) // 2
        if letters[middle:] in there:
            high = middle
        else:
            low = middle + 1
    fitting = [
        place
        for place in range(max(low, _MIN_LETTERS), min(low + _MAX_COMMON, len(letters) - _MIN_LETTERS) + 1)
        if letters[place - _MIN_LETTERS : place] in here and letters[place:] not in here
    ]
    if not fitting:
        return None
    # Of the places where a word begins the last one; where none does, a word is broken over the pages.
    starts = [place for place in fitting if _starts_word(text, placed[place][1])]
    return placed[starts[-1] if starts else fitting[-1]][1]


def _cut_between_rows(text: str, here: str, there: str) -> int | None:
    """Where in the text of a table, a row a line, the rows begin that are on the next page."""
    lines = text.split("\n")
    rows = [[_only_letters(cell) for cell in line.split(CELL)] for line in lines]
    is_here = [all(cell in here for cell in row) for row in rows]
    is_there = [all(cell in there for cell in row) for row in rows]
    first = next((at for at in range(1, len(rows)) if is_there[at] and not is_here[at] and _tells(rows[at])), None)
    if first is None or any(is_here[at] and not is_there[at] for at in range(first, len(rows))):
        return None
    # Cells that stand on both pages tell nothing, but the row as a whole may.
    while first > 1 and is_there[first - 1] and (whole := "".join(rows[first - 1])) in there and whole not in here:
        first -= 1
    return len("\n".join(lines[:first]))


def _tells(row: list[str]) -> bool:
    """Whether a row has a cell that is not found anywhere."""
    return max(map(len, row)) >= _MIN_CELL


def _only_letters(text: str) -> str:
    return "".join(letter for letter, _ in _letters(text))


_CUTS: Final[Mapping[str, Callable[[str, str, str], int | None]]] = {
    "text": _cut, "list": _cut, "reference": _cut, "table": _cut_between_rows,
}  # fmt: skip


def _starts_word(text: str, place: int) -> bool:
    return place == 0 or not (text[place - 1].isalnum() and text[place].isalnum())
