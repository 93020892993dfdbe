"""Roles of MinerU's types of blocks, of all generations together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nclue_build.corpus.values import Box
    from nclue_build.records.corpus import Role

ROLES: Final[dict[str, Role]] = {
    "text": "text", "paragraph": "text", "abstract": "text", "phonetic": "text", "vertical_text": "text",
    "title": "title", "doc_title": "title", "paragraph_title": "title",
    "list": "list", "index": "toc", "ref_text": "reference",
    "equation": "equation", "interline_equation": "equation", "equation_interline": "equation",
    "formula_number": "equation",
    "image": "figure", "image_body": "figure", "chart": "figure", "chart_body": "figure", "seal": "figure",
    "header_image": "figure", "footer_image": "figure",
    "table": "table", "table_body": "table",
    "code": "code", "code_body": "code", "algorithm": "code", "algorithm_body": "code",
    "header": "header", "page_header": "header", "footer": "footer", "page_footer": "footer",
    "page_number": "page_number", "footnote": "footnote", "page_footnote": "footnote",
    "aside_text": "other", "page_aside_text": "other", "caption": "caption",
}  # fmt: skip
"""Text in the margin (``aside_text``), such as an archive's stamp, is none of the document."""
DISCARDED: Final = frozenset({"", "discarded", "abandon"})
"""Types of what MinerU up to 2.7 left out of the text without saying what it is."""
NO_TEXT: Final = frozenset({
    "type", "sub_type", "item_type", "list_type", "math_type", "table_type", "attribute", "ilevel", "prefix", "level",
    "text_level", "text_format", "table_nest_level", "page_idx", "index", "bbox", "angle", "score", "anchor", "ref",
    "style", "styles", "guess_lang", "code_language", "drop_reason", "img_path", "image_path", "image_url",
    "image_base64", "image_source", "path", "url",
})  # fmt: skip
"""Keys below which there is nothing that stands on a page, in any generation."""
_BARE_NUMBER: Final = re.compile(r"\W*(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
_NOTE: Final = re.compile(r"(?:\d{1,3}|[*\u2020\u2021\u00a7]{1,3})[.)]?\s*[^\W\d]")
_EDGE_PERCENT: Final = 12


def role_of(block_type: str) -> Role | None:
    """The role of a type of block, None when the type is not known."""
    if role := ROLES.get(block_type):
        return role
    if block_type.endswith("_caption"):
        return "caption"
    return "footnote" if block_type.endswith("_footnote") else None


def role_of_discarded(text: str, bbox: Box | None, height: int) -> Role:
    """What a piece is that MinerU left out without saying why, by its text and place.

    Args:
        text: What it says.
        bbox: Where it stands, in 1/100 pt.
        height: Of the page.
    """
    if _BARE_NUMBER.fullmatch(text.strip()):
        return "page_number"
    if bbox is None or not height:
        return "other"
    if bbox[3] * 100 <= _EDGE_PERCENT * height:
        return "header"
    if _NOTE.match(text) and 2 * bbox[1] > height:
        return "footnote"
    return "footer" if bbox[1] * 100 >= (100 - _EDGE_PERCENT) * height else "other"
