"""Pages that another program read, as page rows of a document whose PDF is at hand.

The PDF stays what the document is: it says how many pages there are and what is printed as their numbers. What the
other program says of more pages than that is about another document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import DataError
from nclue_build.core.text import matching_text
from nclue_build.corpus.lines import FailedPage, RawPage, decode_page
from nclue_build.corpus.mineru.glued import part_glued
from nclue_build.corpus.mineru.pages import GLUED, GLUED_TABLE
from nclue_build.corpus.page_range import PlaceOfText, first_page_of_range, stands_on_its_pages
from nclue_build.corpus.read import MadeDocument
from nclue_build.corpus.summary import DocumentSums, MadeBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nclue_build.corpus.mineru.pages import MineruDocument, MineruPage
    from nclue_build.corpus.read import ReadDocument

NOT_PARSED: Final = "page_not_parsed"
"""Flag: the other program was told to leave the page out, or has nothing of it where every page should be."""
NOT_IMPORTED: Final = "not_imported"
"""Flag: what the other program made of the document cannot be used."""
_MAX_UNLISTED: Final = 1000
_MAX_SPREAD: Final = 100
"""Pages that may be missing, for each there is, where no PDF says how many there are: a mistake has millions."""
RANGE_UNKNOWN: Final = "page_range_unknown"
"""Flag: pages behind the last one of the other program show something, and nothing says that it counts as the PDF does:
should it have read a range of pages only, then text stands on wrong pages."""
LOST_TEXT: Final = "text_only_in_pdf"
"""Flag: the other program has no text of a page whose PDF has some."""


@dataclass(slots=True)
class ImportedPage:
    """A page as another program read it.

    Args:
        page: 1-based.
        label: Printed page number.
        width: 1/100 pt as shown, 0 when not known.
        height: The same.
        rotation: Degrees.
        pictures: Whether it shows something although it has no text.
        backend: Name and version of the program, None when that is the same for all pages.
        failure: Why there is nothing of it.
    """

    page: int
    label: str | None = None
    width: int = 0
    height: int = 0
    rotation: int = 0
    pictures: bool = False
    blocks: list[MadeBlock] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    backend: tuple[str, str] | None = None
    failure: FailedPage | None = None


def pdf_pages(read: ReadDocument) -> list[RawPage | None]:
    """What the PDF itself says of its pages; None for one that could not be read."""
    return [decode_page(payload) if isinstance(payload, bytes) else None for payload in read.payloads]


def sizes_of(pages: list[RawPage | None]) -> Callable[[int], tuple[int, int]]:
    """Width and height in 1/100 pt of the page with a 0-based number, zeros when not known."""

    def size(index: int) -> tuple[int, int]:
        known = pages[index] if index < len(pages) else None
        return (0, 0) if known is None else (known.width, known.height)

    return size


def place_on(pages: list[RawPage | None]) -> PlaceOfText:
    """A function that tells on which page of a range a text stands."""
    return PlaceOfText(_known_texts(pages))


def mineru_pages(document: MineruDocument, known: list[RawPage | None]) -> list[ImportedPage]:
    """The pages of a document as MinerU read them, every page of the PDF.

    Args:
        document: What MinerU's file says.
        known: The pages of the PDF; none when it cannot be opened, which leaves MinerU's word on their number.

    Raises:
        DataError: the file is about another number of pages, or about some of them without saying which.
    """
    n_pages = len(known) or document.n_pages
    if not known and n_pages > _MAX_UNLISTED + _MAX_SPREAD * len(document.pages):
        raise DataError(f"has a page {n_pages}, and hardly any before it")
    if document.n_pages > n_pages:
        raise DataError(
            f"MinerU's file has {document.n_pages} pages, the PDF {n_pages}: it was made from another document"
        )
    if document.every_page and document.n_pages < n_pages:
        raise DataError(
            f"MinerU's file has {document.n_pages} of the PDF's {n_pages} pages, and does not say which: "
            "let MinerU read the whole document"
        )
    if not document.every_page and document.missing is None and (first := _first_page(document, known)):
        raise DataError(
            f"MinerU's file has {document.n_pages} of the PDF's {n_pages} pages, and by its words begins at page "
            f"{first + 1}: it was made from a range of pages; let MinerU read the whole document"
        )
    if not document.every_page and document.missing is None and _may_be_a_range(document, known):
        for given in document.pages.values():
            given.flags.add(RANGE_UNKNOWN)
    elif any({GLUED, GLUED_TABLE} & page.flags for page in document.pages.values()):
        part_glued(document, _known_texts(known))
    return [
        _mineru_page(index, document.pages.get(index), known[index] if known else None, document)
        for index in range(n_pages)
    ]


def _first_page(document: MineruDocument, known: list[RawPage | None]) -> int:
    return first_page_of_range(_given_texts(document), _known_texts(known))


def _may_be_a_range(document: MineruDocument, known: list[RawPage | None]) -> bool:
    """Whether pages behind the last one show something, and no words say that those before have their own numbers."""
    behind = known[document.n_pages :]
    if not any(page is None or page.pictures or page.lines for page in behind):
        return False
    return not stands_on_its_pages(_given_texts(document), _known_texts(known))


def _given_texts(document: MineruDocument) -> dict[int, list[str]]:
    return {index: [block.text for block in page.blocks] for index, page in document.pages.items()}


def _known_texts(known: list[RawPage | None]) -> list[list[str]]:
    return [[line.text for line in page.lines] if page else [] for page in known]


def _mineru_page(index: int, given: MineruPage | None, known: RawPage | None, document: MineruDocument) -> ImportedPage:
    page = ImportedPage(index + 1)
    if known is not None:
        page.label, page.rotation, page.pictures = known.label, known.rotation, known.pictures
        page.width, page.height = known.width, known.height
    if given is None:
        missing = "MinerU's file does not have it" if document.every_page else document.missing
        if missing is not None:
            page.failure = FailedPage(index + 1, NOT_PARSED, missing)
            return page
    elif given.not_parsed is not None:
        page.failure = FailedPage(index + 1, NOT_PARSED, given.not_parsed)
        return page
    else:
        page.blocks, page.flags = given.blocks, given.flags
        page.pictures = page.pictures or given.pictures
        page.width, page.height = page.width or given.width, page.height or given.height
    if not page.blocks and known is not None and known.lines:
        page.flags = {*page.flags, LOST_TEXT}
    return page


def given_pages(given: Mapping[int, ImportedPage], known: list[RawPage | None]) -> list[ImportedPage]:
    """The pages of a document out of files that each hold one, every page of the PDF.

    Args:
        given: By 1-based number.
        known: The pages of the PDF; none when it cannot be opened.

    Raises:
        DataError: there are pages the PDF does not have.
    """
    last = max(given, default=0)
    n_pages = len(known) or last
    if not known and last > _MAX_UNLISTED + _MAX_SPREAD * len(given):
        raise DataError(f"there is a page {last}, and hardly any before it")
    if last > n_pages:
        raise DataError(f"there is a page {last}, and the PDF has {n_pages} pages: it is of another document")
    pages = []
    for number in range(1, n_pages + 1):
        page = given.get(number)
        if page is None:
            page = ImportedPage(number, failure=FailedPage(number, NOT_PARSED, "no file has this page"))
        elif (facts := known[number - 1] if known else None) is not None and not page.width:
            page.label, page.rotation = page.label or facts.label, facts.rotation
            page.width, page.height = facts.width, facts.height
        pages.append(page)
    return pages


def rows_of(pages: list[ImportedPage], backend: tuple[str, str], title: str | None) -> MadeDocument:
    """Page rows, as JSON without document id, and what they sum up to.

    Args:
        pages: Every page.
        backend: Name and version of the program that read them.
        title: What the PDF says its title is.
    """
    sums = DocumentSums(len(pages), *backend)
    rows = [
        sums.add_failed(page.failure)
        if page.failure
        else sums.add_page(page, page.blocks, page.flags, _title(page.blocks), page.backend)
        for page in pages
    ]
    return MadeDocument(sums.finish(title), rows)


def failed_rows(n_pages: int, backend: tuple[str, str], error: str) -> MadeDocument:
    """The same for a document of which nothing can be used: every page failed, for one reason.

    Args:
        n_pages: Of the PDF; 0 when it cannot be opened either.
        backend: Name and version of the program that read them.
        error: Why, on one line.
    """
    sums = DocumentSums(n_pages, *backend, error)
    rows = [sums.add_failed(FailedPage(page, NOT_IMPORTED, error)) for page in range(1, n_pages + 1)]
    return MadeDocument(sums.finish(None), rows)


def _title(blocks: list[MadeBlock]) -> str | None:
    """The first of the titles of the highest rank."""
    titles = [block for block in blocks if block.role == "title"]
    return matching_text(min(titles, key=lambda block: block.level or 1).text) or None if titles else None
