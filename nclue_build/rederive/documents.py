"""One document's pages, read once: its evidence, its aliases, and whether its quotes stand."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.text import matching_text
from nclue_build.rederive.windows import conditions_in, place_of_quote, scan_page, stands_on_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.records.corpus import PageRow
    from nclue_build.rederive.windows import AliasKey, FormTable


class QuoteToCheck(NamedTuple):
    """A quote of a document; ``condition`` is the position of its condition, ``decided`` says that people chose it."""

    condition: int
    page: int
    text: str
    decided: bool = False


class QuoteCheck(NamedTuple):
    """What is true of a quote; ``is_block`` says that it is all there is of a block of its page."""

    on_page: bool
    is_block: bool
    has_alias: bool


class DerivedRow(NamedTuple):
    """P(d, c) with its mentions and heading marks, all parallel."""

    pages: tuple[int, ...]
    mentions: tuple[int, ...]
    in_heading: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class DocumentScan:
    """What the pages of one document say.

    Args:
        doc_id: Of the document.
        n_pages: Rows of its page file.
        rows: By condition position.
        alias_pages: Number of pages each alias occurs on; aliases that do not occur are absent.
        quotes: Parallel to the quotes asked for.
        text_sha256: Digest of its text as the BEIR folder has it: allowed blocks and headings, a line each.
    """

    doc_id: str
    n_pages: int
    rows: dict[int, DerivedRow]
    alias_pages: dict[AliasKey, int]
    quotes: tuple[QuoteCheck, ...]
    text_sha256: str


class _Text:
    """The text of a document as the BEIR folder has it."""

    def __init__(self, roles: frozenset[str]) -> None:
        self._roles = roles
        self._digest = sha256()
        self._separator = b""

    def add(self, page: PageRow) -> None:
        for block in page.blocks:
            if block.role in self._roles and (text := matching_text(block.text)):
                self._digest.update(self._separator + text.encode("utf-8"))
                self._separator = b"\n"

    def sha256(self) -> str:
        return self._digest.hexdigest()


def scan_document(
    doc_id: str,
    pages: Iterable[PageRow],
    allowed_roles: frozenset[str],
    table: FormTable,
    quotes: Sequence[QuoteToCheck],
) -> DocumentScan:
    """Derive everything about one document from its pages, one page in memory at a time."""
    found: dict[int, list[tuple[int, int, bool]]] = {}
    alias_pages: dict[AliasKey, int] = {}
    quotes_by_page: dict[int, list[int]] = {}
    for index, quote in enumerate(quotes):
        quotes_by_page.setdefault(quote.page, []).append(index)
    on_page: set[int] = set()
    is_block: set[int] = set()
    text = _Text(allowed_roles | {"title"})
    n_pages = 0
    for page in pages:
        n_pages += 1
        conditions, aliases = scan_page(page.blocks, allowed_roles, table)
        for condition, evidence in conditions.items():
            found.setdefault(condition, []).append((page.page, evidence.mentions, evidence.in_heading))
        text.add(page)
        for key in aliases:
            alias_pages[key] = alias_pages.get(key, 0) + 1
        for index in quotes_by_page.get(page.page, ()):
            quote = quotes[index]
            if quote.decided and stands_on_page(page.blocks, allowed_roles, quote.text):
                on_page.add(index)
            place = place_of_quote(page.blocks, allowed_roles, quote.text)
            if place != "nowhere":
                on_page.add(index)
            if place == "block":
                is_block.add(index)
    rows = {condition: _row(found[condition]) for condition in sorted(found)}
    checks = tuple(
        QuoteCheck(index in on_page, index in is_block, quote.condition in conditions_in(quote.text, table))
        for index, quote in enumerate(quotes)
    )
    return DocumentScan(doc_id, n_pages, rows, alias_pages, checks, text.sha256())


def _row(found: list[tuple[int, int, bool]]) -> DerivedRow:
    pages, mentions, in_heading = zip(*sorted(found), strict=True)
    return DerivedRow(pages, mentions, in_heading)
