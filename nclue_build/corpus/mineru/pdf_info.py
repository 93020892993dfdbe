"""The middle file up to 3.x: ``{"pdf_info": [page, ...]}``, boxes in points.

``preproc_blocks`` holds the text of a page as it stands there. In ``para_blocks`` a paragraph over a page break is
whole on its first page; they are read only where there is nothing else, and moved lines are put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nclue_build.core.errors import DataError
from nclue_build.corpus.mineru.cross_page import is_emptied, put_back
from nclue_build.corpus.mineru.markup import (
    formula,
    join_pieces,
    picture_text,
    table_text,
    unescape_markdown,
    without_tags,
)
from nclue_build.corpus.mineru.pages import (
    GLUED,
    GLUED_TABLE,
    OUT_OF_RANGE,
    POINT,
    RECOGNISED,
    UNKNOWN_VERSION,
    MineruDocument,
    MineruPage,
    one_line,
    page_index,
)
from nclue_build.corpus.mineru.roles import DISCARDED, NO_TEXT, role_of, role_of_discarded
from nclue_build.corpus.summary import FURNITURE
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

if TYPE_CHECKING:
    from nclue_build.corpus.values import Box
    from nclue_build.records.corpus import Role

_MAX_DEPTH: Final = 12
_APART: Final = frozenset({"vlm", "hybrid"})
"""Backends that, where they write ``para_blocks`` alone (2.x), leave paragraphs on their pages; only tables move."""
_SKIPPED_BY_RANGE: Final = "skip page"
_PICTURES: Final = frozenset({"image", "chart"})
_FORMULAS: Final = frozenset({"inline_equation", "equation_inline"})
_VISUAL: Final = frozenset({"figure", "table"})
_ONLY_DISCARDED: Final = "only_discarded"
"""Flag: all text of the page was left out by MinerU, without a word on what it is."""


def read_pdf_info(data: dict[str, Any]) -> MineruDocument:
    """Read a middle file up to 3.x.

    Args:
        data: The whole file.

    Raises:
        DataError: pages that are none, or page numbers that are none or stand twice.
    """
    given = data.get("pdf_info")
    entries = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(entries, list):
        raise DataError("pdf_info is no list of pages")
    version = program_word(data.get("_version_name")) or program_word(data.get("mineru_version"))
    document = MineruDocument("middle", version or UNKNOWN_VERSION)
    keeps_pages_apart = data.get("_backend") in _APART
    recognised = _is_recognised(data)
    pages: list[tuple[MineruPage, dict[str, Any]]] = []
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise DataError(f"pdf_info: entry {position} is no page")
        index = page_index(entry.get("page_idx"))
        pages.append((document.add_page(position if index is None else index), entry))
    document.n_pages = max(document.pages, default=-1) + 1
    bodies = [_body(entry) for _, entry in pages]
    glued = put_back([body for body, _ in bodies])
    for position, ((page, entry), (body, is_page_true)) in enumerate(zip(pages, bodies, strict=True)):
        if position in glued or not (is_page_true or keeps_pages_apart):
            page.flags.add(GLUED)
        if recognised:
            page.flags.add(RECOGNISED)
        _Reader(document, page).read(entry, body)
    _flag_tables(pages, bodies)
    return document


def _is_recognised(data: dict[str, Any]) -> bool:
    """Whether characters were recognised on images, as far as the file says so (a vision model errs in other ways)."""
    return data.get("_parse_type") == "ocr" or data.get("_ocr_enable") is True


def _body(entry: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """The blocks of a page in reading order, and whether they are the page's own."""
    own = entry.get("preproc_blocks")
    if isinstance(own, list):
        return in_index_order(own), True
    return in_index_order(as_array(entry.get("para_blocks"))), False


def _flag_tables(
    pages: list[tuple[MineruPage, dict[str, Any]]], bodies: list[tuple[list[dict[str, Any]], bool]]
) -> None:
    """Flag tables whose rows went to an earlier page: they left a table without rows."""
    for position, (body, is_page_true) in enumerate(bodies):
        if is_page_true or not any(_is_emptied_table(block) for block in body):
            continue
        pages[position][0].flags.add(GLUED_TABLE)
        if position:
            pages[position - 1][0].flags.add(GLUED_TABLE)


def _is_emptied_table(block: dict[str, Any]) -> bool:
    children = [as_object(child) for child in as_array(block.get("blocks"))]
    return block.get("type") == "table" and any(
        child.get("type") == "table_body" and (child.get("lines_deleted") is True or is_emptied(child))
        for child in children
    )


class _Reader:
    """Makes the blocks of one page."""

    def __init__(self, document: MineruDocument, page: MineruPage) -> None:
        self._document = document
        self._page = page

    def read(self, entry: dict[str, Any], body: list[dict[str, Any]]) -> None:
        page = self._page
        size = [as_number(one) or 0.0 for one in as_array(entry.get("page_size"))]
        if len(size) == 2:  # noqa: PLR2004 - width and height
            page.set_size(*size)
        for block in body:
            self._add(block, None, 0)
        self._add_discarded(in_index_order(as_array(entry.get("discarded_blocks"))), alone=not body)
        if entry.get("need_drop") is True and not page.blocks:
            reason = one_line(as_text(entry.get("drop_reason")))
            page.not_parsed = (
                OUT_OF_RANGE if not reason or reason.startswith(_SKIPPED_BY_RANGE) else f"left out by MinerU: {reason}"
            )

    def _add(self, block: dict[str, Any], parent: Role | None, depth: int) -> None:
        """Take in a block with all that is inside it."""
        block_type = as_text(block.get("type"))
        role = role_of(block_type)
        if role is None:
            if block_type not in DISCARDED:
                self._document.note_unknown(self._page, block_type)
            role = parent or "text"
        children = in_index_order(as_array(block.get("blocks")))
        if block.get("sub_type") == "ref_text" and role == "list":
            role = "reference"
        box = as_box(block.get("bbox"), POINT, POINT)
        if children and depth < _MAX_DEPTH:
            if role in {"list", "toc", "reference"}:
                texts = [_text(child, depth + 1) for child in children]
                if all(role_of(as_text(child.get("type"))) == "reference" for child in children):
                    role = "reference"
                self._page.add(role, "\n".join(text for text in texts if text), box)
                return
            for child in children:
                self._add(child, role, depth + 1)
        text = _text(block, _MAX_DEPTH)
        if not text and not children and role_of(block_type) is None:
            text = "\n".join(all_texts(block, NO_TEXT))
        self._page.pictures |= role in _VISUAL and not text and not children
        self._page.add(role, text, box, as_level(block.get("level")) or 1, _html(block))

    def _add_discarded(self, blocks: list[dict[str, Any]], *, alone: bool) -> None:
        """Take in what MinerU left out of the text: heads before it, the rest behind it."""
        known = [(block, role_of(as_text(block.get("type")))) for block in blocks]
        alone = alone and all(role is None for _, role in known)
        above: list[MineruPage] = []
        for block, known_role in known:
            text, box = _text(block, 0), as_box(block.get("bbox"), POINT, POINT)
            role = self._role_of_discarded(block, known_role, text, box)
            if alone and role != "page_number" and text.strip():
                role = "text"
                self._page.flags.add(_ONLY_DISCARDED)
            piece = MineruPage(self._page.index)
            piece.add(role, text, box)
            self._page.flags |= piece.flags
            if role in FURNITURE and box is not None and 2 * box[1] < self._page.height:
                above.append(piece)
            else:
                self._page.blocks += piece.blocks
        self._page.blocks[:0] = [block for piece in above for block in piece.blocks]

    def _role_of_discarded(self, block: dict[str, Any], known: Role | None, text: str, box: Box | None) -> Role:
        if known is not None:
            return "other" if known == "title" else known  # a title that is set aside is none
        if (block_type := as_text(block.get("type"))) not in DISCARDED:
            self._document.note_unknown(self._page, block_type)
        return role_of_discarded(text, box, self._page.height)


def _text(block: dict[str, Any], depth: int) -> str:
    """The text of a block, a line a line."""
    lines = [_line(as_object(line)) for line in as_array(block.get("lines"))]
    if not lines:
        lines = [_span(as_object(span))[0] for span in as_array(block.get("spans"))]
    if not lines and "content" in block:
        lines = [without_tags(as_text(block.get("content")))]
    if depth < _MAX_DEPTH:
        lines += [_text(child, depth + 1) for child in in_index_order(as_array(block.get("blocks")))]
    return "\n".join(line for line in lines if line.strip())


def _html(block: dict[str, Any]) -> str:
    """The tables of a block as they were given."""
    spans = [
        as_object(span) for line in as_array(block.get("lines")) for span in as_array(as_object(line).get("spans"))
    ]
    return "\n".join(filter(None, (as_text(span.get("html")) for span in spans)))


def _line(line: dict[str, Any]) -> str:
    return join_pieces([_span(as_object(span)) for span in as_array(line.get("spans"))], apart=True)


def _span(span: dict[str, Any]) -> tuple[str, bool]:
    """The text of a span, and whether it is a formula within the line."""
    content = "\n".join(all_texts(span.get("content"))) or as_text(span.get("content"))
    span_type = as_text(span.get("type"))
    if span_type in _FORMULAS:
        return formula(content or as_text(span.get("latex"))), True
    if span_type in _PICTURES:
        return picture_text(content), False
    if span_type == "table" or "html" in span:
        parts = [table_text(text) for key in ("html", "latex", "content") if (text := as_text(span.get(key)))]
        return (parts[0] if parts else ""), False
    if not content and "latex" in span:
        content = as_text(span.get("latex"))
    if not content and span.get("children"):
        content = join_pieces([_span(as_object(child)) for child in as_array(span.get("children"))], apart=False)
    if span_type == "md":
        content = unescape_markdown(content)
    return without_tags(content), False
