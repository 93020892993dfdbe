"""A small file of each generation of MinerU, as its version wrote it: a page with a head, two paragraphs, a table."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.corpus.imported import mineru_pages, place_on
from nclue_build.corpus.lines import Line, RawPage
from nclue_build.corpus.mineru.detect import read
from nclue_build.corpus.output_files import MINERU, find_outputs, output_files
from nclue_build.corpus.outputs import import_document
from nclue_build.corpus.read import ReadDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from nclue_build.corpus.imported import ImportedPage
    from nclue_build.corpus.mineru.pages import MineruDocument

    Parse = Callable[[object], MineruDocument]
    Block = Callable[..., dict[str, Any]]
    Shown = Callable[[MineruDocument], list[list[tuple[str, str]]]]

HTML = "<html><body><table><tr><td>1901</td><td>7</td></tr></table></body></html>"
PROSE = [
    ("title", "Weirs"),
    ("text", "Eels pass."),
    ("caption", "Table 1"),
    ("table", "1901 | 7"),
    ("footnote", "as counted"),
]


def v1(page: int = 0, *, listed: bool, level: bool = True, **fields: Any) -> list[dict[str, Any]]:
    """Items of a content list; captions are lists from 0.9 on."""
    caption: Any = ["Table 1"] if listed else "Table 1"
    note: Any = ["as counted"] if listed else "as counted"
    return [
        {"type": "text", "text": "Weirs", "page_idx": page, **({"text_level": 1} if level else {}), **fields},
        {"type": "text", "text": "Eels pass.", "page_idx": page, **fields},
        {"type": "table", "img_path": "images/a.jpg", "table_caption": caption, "table_footnote": note,
         "table_body": f"\n\n{HTML}\n\n", "page_idx": page, **fields},
    ]  # fmt: skip


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "page_idx": 0, **fields}


BOX = [100, 100, 900, 200]
CONTENT_LISTS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "0.8": (v1(listed=False), []),
    "0.9": (v1(listed=True), []),
    "2.0 with a formula without text": (
        [*v1(listed=True), item("equation", img_path="a.jpg", text_format="latex")],
        [],
    ),
    "2.0 with an old caption": (
        [*v1(listed=True), item("image", img_path="b.jpg", img_caption=["Figure 1"], img_footnote=[])],
        [("caption", "Figure 1")],
    ),
    "2.1 with a new caption": (
        [*v1(listed=True), item("image", img_path="b.jpg", image_caption=["Figure 1"], image_footnote=["by us"])],
        [("caption", "Figure 1"), ("footnote", "by us")],
    ),
    "2.2 with boxes": (v1(listed=True, bbox=BOX), []),
    "2.6 with what it discarded": (
        [*v1(listed=True, bbox=BOX), item("discarded", text="7", bbox=[490, 960, 510, 980])],
        [("page_number", "7")],
    ),
    "3.1 with a chart and a seal": (
        [*v1(listed=True), item("chart", content="up", chart_caption=["Figure 2"], chart_footnote=[], img_path="c.jpg"),
         item("image", sub_type="seal", content="SEALED", image_caption=[], image_footnote=[])],
        [("figure", "up"), ("caption", "Figure 2"), ("figure", "SEALED")],
    ),
    "4.0 with an index and anchors": (
        [*v1(listed=True, anchor="a1"), item("index", list_items=["Weirs 3", "Eels 4"])],
        [("toc", "Weirs 3\nEels 4")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("version", CONTENT_LISTS)
def test_content_lists(parse: Parse, shown: Shown, version: str) -> None:
    data, extra = CONTENT_LISTS[version]
    document = parse(data)
    assert shown(document) == [[*PROSE, *extra]]
    assert document.pages[0].flags == {"glued_paragraphs"}


def middle_page(block: Block, index: int, *texts: str, **fields: Any) -> dict[str, Any]:
    blocks = [block("text", text, index=number + 0.5) for number, text in reversed(list(enumerate(texts)))]
    return {"page_idx": index, "page_size": [600, 800], "preproc_blocks": blocks, "discarded_blocks": [], **fields}


def test_middle_of_0_x_with_what_is_no_longer_there(parse: Parse, block: Block, shown: Shown) -> None:
    old = {"layout_bboxes": [], "_layout_tree": [], "images": [], "tables": [], "interline_equations": [],
           "need_drop": False, "drop_reason": []}  # fmt: skip
    aside = {
        "bbox": [50, 20, 300, 30],
        "lines": [{"spans": [{"type": "text", "content": "", "bbox": [50, 20, 300, 30]}]}],
    }
    page = middle_page(block, 0, "Eels pass.", "Weirs stay.", **old, discarded_blocks=[aside])
    document = parse({"pdf_info": [page], "_parse_type": "txt"})
    assert shown(document) == [[("text", "Eels pass."), ("text", "Weirs stay.")]]
    assert (document.version, document.pages[0].flags) == ("unknown", set())


def test_para_blocks_of_2024_04_leave_no_mark_where_lines_were(parse: Parse, block: Block, shown: Shown) -> None:
    moved = block("text", "Eels pass", "every weir.")
    moved["lines"][1]["spans"][0]["cross_page"] = True
    emptied = {"type": "text", "bbox": [50, 100, 300, 120], "lines": []}
    pages = [{"page_idx": 0, "para_blocks": [moved]}, {"page_idx": 1, "para_blocks": [emptied]}]
    assert shown(parse({"pdf_info": pages})) == [[("text", "Eels pass")], [("text", "every weir.")]]


@pytest.mark.parametrize("backend", ["vlm", "hybrid", "pipeline", "office"])
def test_middle_of_2_x_and_3_x(parse: Parse, block: Block, shown: Shown, backend: str) -> None:
    pages = [middle_page(block, 0, "Eels pass."), middle_page(block, 1)]
    pages[1]["discarded_blocks"] = [block("page_number", "2", bbox=[290, 780, 310, 790], angle=0)]
    document = parse({"pdf_info": pages, "_backend": backend, "_version_name": "3.4.4", "_effort": "medium"})
    assert shown(document) == [[("text", "Eels pass.")], [("page_number", "2")]]
    assert (document.version, document.n_pages) == ("3.4.4", 2)


PAGES = (
    "Eels pass every weir in May.",
    "Locks were mended by the guild.",
    "Otters dug into the north bank.",
    "Toll was paid in grain.",
)


def raw(number: int, text: str) -> RawPage:
    lines = [Line(0, 0, 0, 0, 9, 9, 900, 0, text, (0, 0, 9, 9))] if text else []
    return RawPage(number, None, 60000, 80000, 0, False, [], lines)  # noqa: FBT003 - no pictures


KNOWN = [raw(number, text) for number, text in enumerate(PAGES, 1)]


def of_range(first: int, last: int) -> list[dict[str, Any]]:
    return [{"type": "text", "text": PAGES[page], "page_idx": page - first} for page in range(first, last + 1)]


@pytest.mark.parametrize(("first", "last"), [(1, 2), (2, 3), (1, 1), (3, 3)])
def test_a_content_list_of_a_range_of_pages_is_refused(parse: Parse, first: int, last: int) -> None:
    with pytest.raises(DataError, match=f"by its words begins at page {first + 1}: it was made from a range"):
        mineru_pages(parse(of_range(first, last)), [*KNOWN])


@pytest.mark.parametrize("last", [0, 1, 3])
def test_a_content_list_that_begins_at_the_first_page_is_read(parse: Parse, last: int) -> None:
    pages = mineru_pages(parse(of_range(0, last)), [*KNOWN])
    assert [bool(page.blocks) for page in pages] == [number <= last for number in range(4)]
    assert ["text_only_in_pdf" in page.flags for page in pages] == [number > last for number in range(4)]


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_an_item_without_a_page_stands_where_the_pdf_has_its_words(shown: Shown, missing: int) -> None:
    items = of_range(0, 3)
    del items[missing]["page_idx"]
    document = read(items, lambda _: (0, 0), place_on([*KNOWN]))
    assert shown(document) == [[("text", text)] for text in PAGES]
    items[missing]["text"] = "Nothing that anybody knows"
    with pytest.raises(DataError, match=f"item {missing} has no page_idx"):
        read(items, lambda _: (0, 0), place_on([*KNOWN]))


def flagged(pages: Iterable[ImportedPage]) -> list[bool]:
    return ["page_range_unknown" in page.flags for page in pages]


def test_a_content_list_that_may_be_of_a_range_of_a_scan_is_flagged(parse: Parse) -> None:
    blank = [raw(number, "") for number in range(1, 5)]
    assert flagged(mineru_pages(parse(of_range(1, 2)), [*blank])) == [False] * 4
    scans = [replace(page, pictures=True) for page in blank]
    assert flagged(mineru_pages(parse(of_range(1, 2)), [*scans])) == [True, True, False, False]
    assert flagged(mineru_pages(parse(of_range(0, 3)), [*scans])) == [False] * 4  # up to the last page
    versos = [*scans[:2], *blank[2:]]
    assert flagged(mineru_pages(parse(of_range(0, 1)), [*versos])) == [False] * 4  # only blank ones behind
    covers = [*KNOWN[:2], *scans[2:]]
    assert flagged(mineru_pages(parse(of_range(0, 1)), [*covers])) == [False] * 4  # words say that it begins at 1
    unread = [*scans[:2], None, blank[3]]
    assert flagged(mineru_pages(parse(of_range(0, 1)), unread)) == [True, True, False, False]


def test_the_second_form_and_middle_files_of_a_range_are_refused_by_their_number(parse: Parse, block: Block) -> None:
    second = [[{"type": "paragraph", "content": {"paragraph_content": [{"type": "text", "content": PAGES[1]}]}}]]
    for data in (second, {"pdf_info": [middle_page(block, 0, PAGES[1])], "_backend": "pipeline"}):
        with pytest.raises(DataError, match="1 of the PDF's 4 pages, and does not say which"):
            mineru_pages(parse(data), [*KNOWN])


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (
            ("3f2a_content_list.json", "3f2a_content_list_v2.json", "layout.json", "full.md", "3f2a_origin.pdf"),
            "layout",
        ),
        (("3f2a_content_list.json", "3f2a_content_list_v2.json"), "3f2a_content_list_v2"),
        (("3f2a_content_list.json",), "3f2a_content_list"),
        (("middle_json.json", "structured_content.json", "model_output.json", "markdown.md"), "middle_json"),
    ],
)
def test_archives_of_the_service_are_read_by_what_they_hold(
    tmp_path: Path, block: Block, names: tuple[str, ...], best: str
) -> None:
    contents: dict[str, Any] = {
        "3f2a_content_list": [{"type": "text", "text": "3f2a_content_list", "page_idx": 0}],
        "3f2a_content_list_v2": [[{"type": "paragraph", "content": {"paragraph_content": "3f2a_content_list_v2"}}]],
        "layout": {"pdf_info": [middle_page(block, 0, "layout")], "_backend": "vlm", "_version_name": "2.6.4"},
        "middle_json": {
            "schema": "docvortex.middle",
            "pages": [{"page_idx": 0, "blocks": [{"type": "text", "content": "middle_json"}]}],
        },
        "structured_content": {"metadata": {}, "is_full_document": True, "pages": [{"page_idx": 0}]},
        "model_output": {"schema": "docvortex.model", "schema_version": "2.0", "pages": [[]]},
    }
    folder = tmp_path / "weirs"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(json.dumps(contents.get(name.removesuffix(".json"), "")))
    files = {path: sha256_file(path) for path in output_files(tmp_path, MINERU)}
    (found,) = find_outputs(tmp_path, MINERU, {"weirs-1": "weirs.pdf"}, files).values()
    summary, rows = import_document(found, ReadDocument(error="no PDF at hand"), 1024)
    assert summary.error is None
    assert [block["text"] for block in json.loads(rows[0])["blocks"]] == [best]
