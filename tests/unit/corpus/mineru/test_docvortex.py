from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.corpus.imported import mineru_pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.mineru.pages import MineruDocument

    Parse = Callable[[object], MineruDocument]
    Shown = Callable[[MineruDocument], list[list[tuple[str, str]]]]


def docvortex(*pages: dict[str, Any], count: int | None = None, **fields: Any) -> dict[str, Any]:
    document = {} if count is None else {"page_count": count}
    layout = [{"page_idx": page.get("page_idx", 0), "width_pt": 600.0, "height_pt": 800.0} for page in pages]
    return {
        "schema": "docvortex.middle",
        "schema_version": "2.0",
        "metadata": {"producer": {"name": "mineru", "version": "4.0.12"}, "document": document},
        "extensions": {"docvortex_layout": {"pages": layout}},
        "pages": list(pages),
        **fields,
    }


def span(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "content": text, **fields}


def test_blocks_of_all_types(parse: Parse, shown: Shown) -> None:
    blocks = [
        {"type": "header", "index": 0, "content": [span("The head")]},
        {"type": "doc_title", "index": 1, "level": 1, "bbox": [0.1, 0.1, 0.5, 0.2], "content": [span("Weirs")]},
        {"type": "paragraph_title", "index": 2, "content": [span("1.", styles=["bold"]), span(" Scope")]},
        {"type": "text", "index": 4, "content": [
            span("A mean"), {"type": "equation_inline", "content": "q"},
            {"type": "hyperlink", "url": "u", "content": [span("linked")]}, span(" word"),
            span("3", styles=["superscript"]), {"type": "code_inline", "content": " x"}]},
        {"type": "text", "index": 3, "content": "plain", "continues_prev": True},
        {"type": "list", "index": 5, "content": [span("one"), {"type": "text", "content": [span("two")]}]},
        {"type": "list", "index": 6, "content": [{"type": "ref_text", "content": [span("Doe 1999")]}]},
        {"type": "index", "index": 7, "content": [{"type": "text", "content": [span("Scope....3")]}]},
        {"type": "table", "index": 8, "content": [
            {"type": "table_body", "content": "<table><tr><th>a</th><td>b</td></tr></table>"},
            {"type": "table_caption", "content": [span("Table 1")]}, {"type": "table_footnote", "content": "noted"}]},
        {"type": "image", "index": 9, "content": [{"type": "image_body", "content": ""}]},
        {"type": "code", "index": 10, "content": [{"type": "code_body", "content": "a = 1\nb = 2"}]},
        {"type": "equation", "index": 11, "content": "q = 1"},
        {"type": "page_footnote", "index": 12, "content": [span("1 note")]},
        {"type": "page_number", "index": 13, "content": [span("4")]},
    ]  # fmt: skip
    document = parse(docvortex({"page_idx": 0, "blocks": blocks}))
    assert shown(document) == [[
        ("header", "The head"), ("title", "Weirs"), ("title", "1. Scope"), ("text", "plain"),
        ("text", "A mean $q$ linked word 3 x"), ("list", "one\ntwo"), ("reference", "Doe 1999"), ("toc", "Scope....3"),
        ("table", "a | b"), ("caption", "Table 1"), ("footnote", "noted"), ("code", "a = 1\nb = 2"),
        ("equation", "q = 1"), ("footnote", "1 note"), ("page_number", "4"),
    ]]  # fmt: skip
    page = document.pages[0]
    assert [block.level for block in page.blocks if block.role == "title"] == [1, 2]
    assert page.blocks[1].bbox == (6000, 8000, 30000, 16000)
    assert page.blocks[2].bbox is None
    assert (page.flags, page.pictures, document.version) == (set(), True, "4.0.12")


def test_an_empty_page_has_no_blocks_key(parse: Parse, shown: Shown) -> None:
    document = parse(docvortex({"page_idx": 0, "blocks": [{"type": "text", "content": "a"}]}, {"page_idx": 1}))
    assert shown(document) == [[("text", "a")], []]
    assert (document.n_pages, document.pages[1].not_parsed) == (2, None)


def test_a_range_keeps_the_numbers_of_its_pages(parse: Parse, shown: Shown) -> None:
    document = parse(
        docvortex(
            {"page_idx": 1}, {"page_idx": 2, "blocks": [{"type": "text", "content": "c"}]},
            count=4, is_full_document=False,
        )
    )  # fmt: skip
    assert sorted(document.pages) == [1, 2]
    assert shown(document) == [[], [("text", "c")]]
    pages = mineru_pages(document, [])
    assert [page.failure is not None for page in pages] == [True, False, False, True]


def test_lists_in_lists_have_a_line_an_item(parse: Parse, shown: Shown) -> None:
    def text(value: str) -> dict[str, object]:
        return {"type": "text", "content": [{"type": "text", "content": value}]}

    table = "<table><tr><td>a</td><td>b</td></tr></table>"
    inner = {"type": "list", "content": [text("eels"), {"type": "list", "content": [text("young"), text("old")]}]}
    blocks = [
        {"type": "list", "content": [text("fish"), inner, text("birds")]},
        {"type": "index", "content": [text("Scope 1") | {"type": "paragraph_title", "level": 2},
                                      {"type": "index", "content": [text("Weirs 2"), text("Locks 3")]}]},
        {"type": "chart", "content": [{"type": "chart_body", "content": table}]},
        {"type": "image", "sub_type": "seal", "content": [{"type": "image_body", "content": "Guild\nof Weirs"}]},
    ]  # fmt: skip
    document = parse({"schema": "docvortex.middle", "pages": [{"page_idx": 0, "blocks": blocks}]})
    assert shown(document) == [[
        ("list", "fish\neels\nyoung\nold\nbirds"), ("toc", "Scope 1\nWeirs 2\nLocks 3"), ("figure", "a | b"),
        ("figure", "Guild\nof Weirs"),
    ]]  # fmt: skip


def test_unknown_types_keep_their_text(parse: Parse, shown: Shown) -> None:
    document = parse(docvortex({"page_idx": 0, "blocks": [{"type": "hologram", "content": [span("seen")]}]}))
    assert shown(document) == [[("text", "seen")]]
    assert document.unknown_types == {"hologram"}


@pytest.mark.parametrize("pages", [[1], [{"page_idx": 1}, {"page_idx": 1}], [{"page_idx": 0.5}]])
def test_pages_that_are_none_are_told(parse: Parse, pages: list[Any]) -> None:
    with pytest.raises(DataError):
        parse({"schema": "docvortex.middle", "pages": pages})
