"""One document's page rows, counted again: what became of its pages, how much text there is, which text it is."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.errors import DataError, Finding
from nclue_build.core.text import matching_text
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.records.corpus import PageRow

_PICTURES_PER_DOCUMENT: Final = 5
"""Pictures without text count as empty pages while they are at most one page in so many of their document."""
_FURNITURE: Final = frozenset({"header", "footer", "page_number"})
_WORD: Final = re.compile(r"[^\W_]+")
_SHINGLE_WORDS: Final = 5


class PageTask(NamedTuple):
    """A document whose pages are to be counted; ``shingles`` asks for its runs of words too."""

    path: Path
    doc_id: str
    shingles: bool = False


class Tally(NamedTuple):
    """What the page rows of a document add up to.

    ``n_pictures`` are empty pages that show something, ``n_placeholder`` and ``n_foreign`` pages with text flagged
    ``placeholder_text`` and ``non_english``. ``text_sha256`` is None without text. ``shingles`` are all runs of five
    words, where asked for.
    """

    n_pages: int = 0
    pages_ok: int = 0
    pages_empty: int = 0
    pages_failed: int = 0
    n_pictures: int = 0
    n_placeholder: int = 0
    n_foreign: int = 0
    n_words: int = 0
    n_chars: int = 0
    text_sha256: str | None = None
    shingles: frozenset[tuple[str, ...]] = frozenset()

    @property
    def no_text_layer(self) -> bool:
        """Whether too many of its pages are pictures without text to pass as blank."""
        return self.n_pictures * _PICTURES_PER_DOCUMENT > self.n_pages

    @property
    def pages_passed(self) -> int:
        """Pages with text, and those that are legitimately empty."""
        return self.pages_ok + self.pages_empty - (self.n_pictures if self.no_text_layer else 0)

    @property
    def is_blank(self) -> bool:
        """Whether it was read well and has no text on any page."""
        return self.n_pages > 0 and not self.pages_ok and self.pages_passed == self.n_pages


def tally_pages(task: PageTask) -> tuple[Tally | None, list[Finding]]:
    """Count the pages of one document (a worker's task).

    Returns:
        The sums, None where the file cannot be read; and what is wrong with the rows, with absolute paths.
    """
    counts: Counter[str] = Counter()
    found: list[Finding] = []
    digest = sha256()
    words: list[str] = []
    try:
        for number, page in enumerate(read_pages(task.path), 1):
            if problem := _problem(page, number, task.doc_id):
                found.append(Finding("page-rows-differ", problem, str(task.path), number, task.doc_id))
            counts[page.status] += 1
            if page.status == "empty":
                counts["pictures"] += "no_text_layer" in page.flags
            if page.status != "ok":
                continue
            counts["placeholder"] += "placeholder_text" in page.flags
            counts["foreign"] += "non_english" in page.flags
            text = matching_text("\n".join(block.text for block in page.blocks if block.role not in _FURNITURE))
            digest.update(text.encode("utf-8") + b"\n")
            counts["chars"] += len(text)
            on_page = _WORD.findall(text.lower())
            counts["words"] += len(on_page)
            if task.shingles:
                words += on_page
    except DataError as error:
        return None, list(error.findings)
    return Tally(
        n_pages=counts["ok"] + counts["empty"] + counts["failed"],
        pages_ok=counts["ok"],
        pages_empty=counts["empty"],
        pages_failed=counts["failed"],
        n_pictures=counts["pictures"],
        n_placeholder=counts["placeholder"],
        n_foreign=counts["foreign"],
        n_words=counts["words"],
        n_chars=counts["chars"],
        text_sha256=digest.hexdigest() if counts["chars"] else None,
        shingles=frozenset(zip(*(words[start:] for start in range(_SHINGLE_WORDS)), strict=False)),
    ), found


def _problem(page: PageRow, number: int, doc_id: str) -> str | None:
    """What is wrong with a row by itself."""
    if page.page != number or page.doc_id != doc_id:
        return f"row {number} is page {page.page} of {page.doc_id}, expected page {number} of {doc_id}"
    if sha256("\n".join(block.text for block in page.blocks).encode("utf-8")).hexdigest() != page.text_sha256:
        return f"text_sha256 of page {number} is not that of its blocks"
    has_text = any(block.text for block in page.blocks)
    if page.status == "ok" and not has_text:
        return f"page {number} is ok, and has no text"
    if page.status == "empty" and has_text:
        return f"page {number} is empty, and has text"
    return None
