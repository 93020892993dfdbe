"""``content_list_v2.json`` (2.6.7 on): an array of pages, each an array of items; a page's place is its number.

A paragraph over a page break is whole on its first page, unless 4.x wrote the file, which it does not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nclue_build.core.errors import DataError
from nclue_build.corpus.mineru.inline import inline_text
from nclue_build.corpus.mineru.markup import picture_text, table_text
from nclue_build.corpus.mineru.pages import GLUED, MineruDocument, MineruPage
from nclue_build.corpus.mineru.roles import NO_TEXT, role_of
from nclue_build.corpus.summary import MadeBlock
from nclue_build.corpus.values import all_texts, as_box, as_level, as_object, as_text
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.corpus import Role

PER_MILLE: Final = 1000.0
"""Boxes are in thousandths of the page."""


def read_content_list_v2(data: list[Any], page_size: Callable[[int], tuple[int, int]]) -> MineruDocument:
    """Read a content list of the second form.

    Args:
        data: The whole file.
        page_size: Width and height in 1/100 pt of the page with a 0-based number, zeros when not known.

    Raises:
        DataError: an entry that is no page, or more of them than a PDF can have.
    """
    if len(data) > MAX_PAGES:
        raise DataError(f"has more than {MAX_PAGES:,} pages")
    document = MineruDocument("content_list_v2", n_pages=len(data))
    for index, entry in enumerate(data):
        if not isinstance(entry, list):
            raise DataError(f"entry {index} is no page")
        page = document.add_page(index)
        page.width, page.height = page_size(index)
        page.flags.add(GLUED)
        for item in entry:
            _add(document, page, as_object(item))
            if isinstance(item, str):
                page.add("text", item)
    return document


def _add(document: MineruDocument, page: MineruPage, item: dict[str, Any]) -> None:
    item_type = as_text(item.get("type"))
    box = as_box(item.get("bbox"), page.width / PER_MILLE, page.height / PER_MILLE)
    role = role_of(item_type)
    content = item.get("content")
    if content is None:  # its text is anywhere else, if it has one
        content = {key: value for key, value in item.items() if key not in NO_TEXT}
    if role is None:
        text = "\n".join(all_texts(content, NO_TEXT))
        if item_type or text:
            document.note_unknown(page, item_type)
        page.add("text", text, box)
        return
    if not isinstance(content, dict):
        content = {"content": content}
    if role == "list" and as_text(content.get("list_type")) in {"reference_list", "ref_text"}:
        role = "reference"
    body = _body(role, content)
    level = as_level(content.get("level")) or 1
    captions = [
        (key.rsplit("_", 1)[1], inline_text(value))
        for key, value in content.items()
        if key.endswith(("_caption", "_footnote")) and isinstance(value, str | list)
    ]
    block = MadeBlock(role, level, body, box, _table(content) if role == "table" else None)
    _add_parts(page, block, captions)


def _add_parts(page: MineruPage, block: MadeBlock, captions: list[tuple[str, str]]) -> None:
    """Take in an item: what is over a table or code and below a picture, then the body, then notes."""
    role, level, body, box, html = block
    page.pictures |= role in {"figure", "table"} and not body.strip()
    above = role in {"table", "code"}
    own_box = None if any(text for _, text in captions) and role in {"figure", "table", "code"} else box
    if not above:
        page.add(role, body, own_box, level)
    for _, text in (one for one in captions if one[0] == "caption"):
        page.add("caption", text)
    if above:
        page.add(role, body, own_box, level, html)
    for _, text in (one for one in captions if one[0] == "footnote"):
        page.add("footnote", text)


def _body(role: Role, content: dict[str, Any]) -> str:
    if role == "table":
        return table_text(_table(content))
    if role == "equation":
        return as_text(content.get("math_content")) or inline_text(content.get("content"))
    parts = [
        _piece(role, value)
        for key, value in content.items()
        if not key.endswith(("_caption", "_footnote")) and key not in NO_TEXT
    ]
    return "\n".join(part for part in parts if part.strip())


def _piece(role: Role, value: object) -> str:
    return picture_text(value) if role == "figure" and isinstance(value, str) else inline_text(value)


def _table(content: dict[str, Any]) -> str:
    """A table as it was given."""
    return next(filter(None, (as_text(content.get(key)) for key in ("html", "table_body", "content"))), "")
