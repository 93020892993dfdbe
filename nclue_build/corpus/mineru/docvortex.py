"""The middle file of 4.x: ``{"schema": "docvortex.middle", "pages": [...]}``, boxes as shares of the page.

What has its default is not written, so an empty page is ``{"page_idx": 1}``. A paragraph over a page break stays in
two blocks on their pages; the second one says ``continues_prev``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nclue_build.core.errors import DataError
from nclue_build.corpus.mineru.inline import inline_text
from nclue_build.corpus.mineru.markup import picture_text, table_text
from nclue_build.corpus.mineru.pages import (
    OUT_OF_RANGE,
    UNKNOWN_VERSION,
    MineruDocument,
    MineruPage,
    page_index,
)
from nclue_build.corpus.mineru.roles import NO_TEXT, role_of
from nclue_build.corpus.values import (
    all_texts,
    as_array,
    as_box,
    as_level,
    as_number,
    as_object,
    as_text,
    in_index_order,
    program_word,
)
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from nclue_build.records.corpus import Role

_MAX_DEPTH: Final = 12
_VISUAL: Final = frozenset({"figure", "table"})
_ITEMISED: Final = frozenset({"list", "toc", "reference"})


def read_docvortex(data: dict[str, Any]) -> MineruDocument:
    """Read a middle file of 4.x.

    Args:
        data: The whole file.

    Raises:
        DataError: pages that are none, or page numbers that are none or stand twice.
    """
    entries = data.get("pages")
    if not isinstance(entries, list):
        raise DataError("pages is no list of pages")
    metadata = as_object(data.get("metadata"))
    producer = as_object(metadata.get("producer"))
    version = program_word(producer.get("version")) or program_word(data.get("mineru_version"))
    document = MineruDocument("middle", version or UNKNOWN_VERSION)
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise DataError(f"pages: entry {position} is no page")
        index = page_index(entry.get("page_idx"))
        document.add_page(position if index is None else index)
    _set_sizes(document, as_object(as_object(data.get("extensions")).get("docvortex_layout")))
    for page, entry in zip(document.pages.values(), entries, strict=True):
        for block in in_index_order(as_array(entry.get("blocks"))):
            _Reader(document, page).add(block, None, 0)
    stated = as_number(as_object(metadata.get("document")).get("page_count")) or 0
    document.n_pages = max(max(document.pages, default=-1) + 1, int(stated) if 0 < stated <= MAX_PAGES else 0)
    if data.get("is_full_document") is False:
        document.every_page, document.missing = False, OUT_OF_RANGE
    return document


def _set_sizes(document: MineruDocument, layout: dict[str, Any]) -> None:
    for entry in map(as_object, as_array(layout.get("pages"))):
        number = as_number(entry.get("page_idx"))
        page = None if number is None else document.pages.get(int(number))
        if page is not None:
            page.set_size(as_number(entry.get("width_pt")) or 0.0, as_number(entry.get("height_pt")) or 0.0)


class _Reader:
    """Makes the blocks of one page."""

    def __init__(self, document: MineruDocument, page: MineruPage) -> None:
        self._document = document
        self._page = page

    def add(self, block: dict[str, Any], parent: Role | None, depth: int) -> None:
        """Take in a block with all that is inside it."""
        page, content = self._page, block.get("content")
        block_type = as_text(block.get("type"))
        role = role_of(block_type)
        if role is None:
            self._document.note_unknown(page, block_type)
            role = parent or "text"
        box = as_box(block.get("bbox"), page.width, page.height)
        if role in _ITEMISED and isinstance(content, list):
            items = [as_object(item) for item in content]
            types = {as_text(item.get("type")) for item in items}
            if role == "list" and (block.get("sub_type") == "ref_text" or types == {"ref_text"}):
                role = "reference"
            page.add(role, "\n".join(filter(None, (inline_text(item).strip() for item in content))), box)
        elif isinstance(content, list) and depth < _MAX_DEPTH and any(_is_block(child) for child in content):
            for child in content:
                self.add(child if isinstance(child, dict) else {"type": "text", "content": child}, role, depth + 1)
        else:
            html = content if role == "table" and isinstance(content, str) else None
            if isinstance(content, str) and role in _VISUAL:
                text = table_text(content) if role == "table" else picture_text(content)
            else:
                text = inline_text(content)
            if not text.strip() and role_of(block_type) is None:
                text = "\n".join(all_texts(block, NO_TEXT))
            page.pictures |= role in _VISUAL and not text.strip()
            level = 1 if block_type == "doc_title" else 2
            page.add(role, text, box, as_level(block.get("level")) or level, html)


def _is_block(child: object) -> bool:
    """Whether a piece of content is a block of its own, no piece of a line."""
    child_type = as_text(as_object(child).get("type"))
    return child_type.endswith(("_body", "_caption", "_footnote")) or "bbox" in as_object(child)
