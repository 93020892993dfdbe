"""The pieces of a line as content_list_v2 and 4.x have them: spans, lists of spans, items with spans inside."""

from __future__ import annotations

from typing import Final

from nclue_build.corpus.mineru.markup import formula, join_pieces, table_text, unescape_markdown, without_tags
from nclue_build.corpus.values import as_array, as_object, as_text

_FORMULAS: Final = frozenset({"equation_inline", "inline_equation"})
_INSIDE: Final = ("content", "children", "item_content", "list_items", "blocks", "spans", "text")
"""Keys below which a piece keeps its text; the first that is there has all of it."""
_MAX_DEPTH: Final = 40
_BLOCK_KEYS: Final = frozenset({"item_content", "list_items", "item_type"})


def _is_block(value: object) -> bool:
    """Whether a piece is a paragraph, an item or a list of its own; of the pieces of a line, only links have pieces."""
    piece = as_object(value)
    return bool(_BLOCK_KEYS & piece.keys()) or (
        isinstance(piece.get("content"), list) and piece.get("type") != "hyperlink"
    )


def inline_text(value: object, depth: int = 0) -> str:
    """The text of a span, an item, or a list of them."""
    return _piece(value, depth)[0]


def _piece(value: object, depth: int) -> tuple[str, bool]:
    """A text, and whether it is a formula within a line."""
    if depth > _MAX_DEPTH:
        return "", False
    if isinstance(value, list):
        if any(_is_block(one) for one in value):
            return "\n".join(filter(None, (_piece(one, depth + 1)[0].strip() for one in value))), False
        return join_pieces([_piece(one, depth + 1) for one in value], apart=False), False
    if not isinstance(value, dict):
        return without_tags(as_text(value)), False
    kind = as_text(value.get("type"))
    inside = next((value[key] for key in _INSIDE if value.get(key) not in (None, "", [])), "")
    if kind in _FORMULAS and isinstance(inside, str):
        return formula(inside), True
    text = _piece(inside, depth + 1)[0]
    if kind == "md":
        text = unescape_markdown(text)
    if not text and isinstance(value.get("html"), str):
        text = table_text(value["html"])
    if "superscript" in as_array(value.get("styles", value.get("style"))) and text.strip().isdigit():
        text = f" {text.strip()}"  # a note mark is no part of the word before it
    return text, False
