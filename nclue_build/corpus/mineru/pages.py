"""What a MinerU file says: pages of blocks, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.core.errors import DataError
from nclue_build.core.printable import without_controls
from nclue_build.core.text import clean_raw
from nclue_build.corpus.mineru.markup import is_html_table
from nclue_build.corpus.summary import MadeBlock
from nclue_build.corpus.values import as_number
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from nclue_build.corpus.values import Box
    from nclue_build.records.corpus import Role

POINT: Final = 100.0
"""1/100 pt in a point."""
UNKNOWN_VERSION: Final = "unknown"
RECOGNISED: Final = "ocr"
"""Flag of a page whose text was recognised on an image."""
GLUED: Final = "glued_paragraphs"
"""Flag: paragraphs over a page break may stand whole on their first page, for the file has nothing better."""
GLUED_TABLE: Final = "glued_table"
"""Flag: rows of a table stand with its beginning on an earlier page, or those of later pages stand here."""
UNKNOWN_TYPE: Final = "unknown_item_type"
"""Flag: a block of a type this program does not know; its text is kept."""

OUT_OF_RANGE: Final = "left out by the page range MinerU was given"
"""Why a page was not parsed."""

Kind = Literal["middle", "content_list", "content_list_v2"]


@dataclass(slots=True)
class MineruPage:
    """A page.

    Args:
        index: 0-based.
        width: 1/100 pt, 0 when not known.
        height: The same.
        blocks: In reading order; furniture where it stands.
        flags: What is to be known of the page.
        not_parsed: Why MinerU left the page out, None when it did not.
        pictures: Whether there are pictures, so that a page without text is not blank.
    """

    index: int
    width: int = 0
    height: int = 0
    blocks: list[MadeBlock] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    not_parsed: str | None = None
    pictures: bool = False

    def set_size(self, width_pt: float, height_pt: float) -> None:
        """Note the size in points, unless it is none."""
        if width_pt > 0 and height_pt > 0:
            self.width, self.height = round(width_pt * POINT), round(height_pt * POINT)

    def add(
        self, role: Role, text: str, bbox: Box | None = None, level: int | None = None, html: str | None = None
    ) -> None:
        """Take in a block, unless its text is blank; ``html`` is what a table's text was made from."""
        text, removed = clean_raw(text)
        self.flags |= removed
        if text := text.strip():
            kept = clean_raw(html)[0].strip() if role == "table" and html and is_html_table(html) else None
            self.blocks.append(MadeBlock(role, level if role == "title" else None, text, bbox, kept))


@dataclass(slots=True)
class MineruDocument:
    """A document.

    Args:
        kind: Sort of file; see :mod:`nclue_build.corpus.mineru.detect`.
        version: Of the program that wrote it, as far as the file says.
        pages: By 0-based number.
        n_pages: Number of pages as the file states it or has them; 0 when it only lists pages with text.
        every_page: Whether every page of the document is listed.
        missing: Why a page that is not listed is not; None when it is empty.
        unknown_types: Types of blocks that this program does not know.
    """

    kind: Kind
    version: str = UNKNOWN_VERSION
    pages: dict[int, MineruPage] = field(default_factory=dict)
    n_pages: int = 0
    every_page: bool = True
    missing: str | None = None
    unknown_types: set[str] = field(default_factory=set)

    def add_page(self, index: int) -> MineruPage:
        """Start a page.

        Raises:
            DataError: it was there already.
        """
        if index in self.pages:
            raise DataError(f"page_idx {index} stands twice")
        page = self.pages[index] = MineruPage(index)
        return page

    def note_unknown(self, page: MineruPage, block_type: str) -> None:
        """Note a block of a type that this program does not know."""
        page.flags.add(UNKNOWN_TYPE)
        self.unknown_types.add(one_line(block_type) or "no type")


def one_line(text: str, length: int = 60) -> str:
    """A name out of a file as a message shows it."""
    return without_controls(clean_raw(text)[0])[:length]


def page_index(value: object) -> int | None:
    """A 0-based page number, None when there is none.

    Raises:
        DataError: it is no number that a page can have.
    """
    if value is None:
        return None
    number = as_number(value)
    if number is None or not 0 <= number < MAX_PAGES or number != int(number):
        raise DataError("page_idx is not the number of a page")
    return int(number)
