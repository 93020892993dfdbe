"""``content_list.json``: a flat array of items in reading order, each with the 0-based number of its page.

A page without items is not there. A paragraph over a page break is whole on its first page, unless 4.x wrote the file,
which it does not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nclue_build.core.errors import DataError
from nclue_build.corpus.mineru.content_list_v2 import PER_MILLE
from nclue_build.corpus.mineru.inline import inline_text
from nclue_build.corpus.mineru.markup import (
    is_html_table,
    picture_text,
    plain_markdown,
    table_text,
    without_dollars,
    without_fence,
)
from nclue_build.corpus.mineru.pages import GLUED, MineruDocument, MineruPage, page_index
from nclue_build.corpus.mineru.roles import DISCARDED, NO_TEXT, role_of, role_of_discarded
from nclue_build.corpus.summary import FURNITURE
from nclue_build.corpus.values import all_texts, as_box, as_level, as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nclue_build.corpus.values import Box
    from nclue_build.records.corpus import Role

Place: TypeAlias = "Callable[[str, int, int | None], int | None]"
"""From a text, the number of the first page it may be on, and of the last (None: of the document), to its page."""
_BODIES: Final = ("text", "content", "table_body", "html", "code_body", "list_items", "latex")
_ONLY_DISCARDED: Final = "only_discarded"


def read_content_list(
    data: list[Any], page_size: Callable[[int], tuple[int, int]], place: Place | None = None
) -> MineruDocument:
    """Read a content list of the first form.

    Args:
        data: The whole file.
        page_size: Width and height in 1/100 pt of the page with a 0-based number, zeros when not known.
        place: Tells where the text of an item without a number stands, given the numbers before and behind it.

    Raises:
        DataError: an item of which the page cannot be told.
    """
    document = MineruDocument("content_list", every_page=False)
    items: dict[int, list[dict[str, Any]]] = {}
    for index, item in _placed(data, place):
        items.setdefault(index, []).append(item)
    for index in sorted(items):
        page = document.add_page(index)
        page.width, page.height = page_size(index)
        page.flags.add(GLUED)
        _read_page(document, page, items[index])
    document.n_pages = max(document.pages, default=-1) + 1
    return document


def _placed(data: list[Any], place: Place | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Items with the page they are on; one without a number lies between two of the same page, or where the PDF has it.

    Raises:
        DataError: nobody knows where.
    """
    items = [item if isinstance(item, dict) else {"text": "\n".join(all_texts(item))} for item in data]
    # Whatever has neither page nor text is not missed.
    items = [item for item in items if item.get("page_idx") is not None or _all_text(item)]
    numbers = [page_index(item.get("page_idx")) for item in items]
    following: int | None = None
    after: list[int | None] = []
    for number in reversed(numbers):
        after.append(following)
        following = number if number is not None else following
    after.reverse()
    before: int | None = None
    for position, (item, number) in enumerate(zip(items, numbers, strict=True)):
        if number is None:
            following = after[position]
            found = before if before is not None and following == before else None
            if found is None and place is not None:
                found = place(_all_text(item), before or 0, following)
            if found is None:
                raise DataError(f"item {position} has no page_idx: its page cannot be told; give the middle file")
        else:
            found = number
        before = found
        yield found, item


def _read_page(document: MineruDocument, page: MineruPage, items: list[dict[str, Any]]) -> None:
    alone = all(as_text(item.get("type")) in DISCARDED and "type" in item for item in items)
    heads = MineruPage(page.index, page.width, page.height)
    for item in items:
        item_type = as_text(item.get("type"))
        box = as_box(item.get("bbox"), page.width / PER_MILLE, page.height / PER_MILLE)
        role = role_of(item_type)
        if role is None and "type" in item and item_type in DISCARDED:
            text = plain_markdown(as_text(item.get("text")) or as_text(item.get("content")))
            role = role_of_discarded(text, box, page.height)
            if alone and role != "page_number" and text.strip():
                role = "text"
                page.flags.add(_ONLY_DISCARDED)
            target = heads if role in FURNITURE and box is not None and 2 * box[1] < page.height else page
            target.add(role, text, box)
        elif role is None:
            text = _all_text(item)
            if item_type or text:  # MinerU writes an item of nothing but its place for a block it cannot render
                document.note_unknown(page, item_type)
            page.add("text", text, box)
        else:
            _add(page, role, item, box)
    page.flags |= heads.flags
    page.blocks[:0] = heads.blocks


def _all_text(item: dict[str, Any]) -> str:
    return plain_markdown("\n".join(all_texts(item, NO_TEXT))).strip()


def _add(page: MineruPage, role: Role, item: dict[str, Any], box: Box | None) -> None:
    level = as_level(item.get("text_level"))
    if role == "text" and level:
        role = "title"
    if item.get("sub_type") == "ref_text" and role == "list":
        role = "reference"
    body = _body(role, item)
    captions = [(key, _lines(value)) for key, value in item.items() if key.endswith("_caption")]
    notes = [(key, _lines(value)) for key, value in item.items() if key.endswith("_footnote")]
    page.pictures |= role in {"figure", "table"} and not body.strip()
    own_box = None if any(text for _, text in captions + notes) else box
    if role not in {"table", "code"}:
        page.add(role, body, own_box, level or 1)
    for _, text in captions:
        page.add("caption", text)
    if role in {"table", "code"}:
        page.add(role, body, own_box, html=_table(item) if role == "table" else None)
    for _, text in notes:
        page.add("footnote", text)


def _lines(value: object) -> str:
    """A text, or a list of texts as lines; spans of the second form are taken, too."""
    if isinstance(value, str) and is_html_table(value):
        return picture_text(value).strip()
    values = value if isinstance(value, list) else [value]
    return "\n".join(filter(None, (plain_markdown(inline_text(one)).strip() for one in values)))


def _body(role: Role, item: dict[str, Any]) -> str:
    if role == "table":
        return table_text(_table(item)).strip()
    given = _given(item)
    if role == "code":
        return "\n".join(without_fence(one) if isinstance(one, str) else _lines(one) for one in given[:1])
    if role == "equation":
        return "\n".join(without_dollars(as_text(one)) for one in given[:1])
    return "\n".join(_lines(one) for one in given)


def _given(item: dict[str, Any]) -> list[Any]:
    return [item[key] for key in _BODIES if item.get(key) not in (None, "", [])]


def _table(item: dict[str, Any]) -> str:
    """A table as it was given: HTML or LaTeX."""
    return next((as_text(as_object(one).get("html")) or as_text(one) for one in _given(item)), "")
