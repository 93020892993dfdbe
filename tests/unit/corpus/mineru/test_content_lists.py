from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.mineru.pages import MineruDocument

    Parse = Callable[[object], MineruDocument]
    Shown = Callable[[MineruDocument], list[list[tuple[str, str]]]]

TABLE = "<table><tr><td>a</td><td>b</td></tr></table>"


def item(item_type: str, page: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": item_type, "page_idx": page, **fields}


@pytest.mark.parametrize("caption", ["Figure 1", ["Figure 1"]], ids=["string", "list"])
@pytest.mark.parametrize("prefix", ["img", "image"])
def test_captions_of_pictures_in_every_spelling(parse: Parse, shown: Shown, caption: object, prefix: str) -> None:
    fields: dict[str, Any] = {f"{prefix}_caption": caption, f"{prefix}_footnote": [], "img_path": "images/x.jpg"}
    document = parse([item("image", **fields)])
    assert shown(document) == [[("caption", "Figure 1")]]
    assert document.pages[0].pictures


def test_items_before_0_9(parse: Parse, shown: Shown) -> None:
    latex = "\n\n\\begin{tabular}{|c|c|}\\hline a & b \\\\ \\hline 1 \\& 2 & 3 \\\\ \\hline\\end{tabular}\n\n"
    document = parse([
        item("text", text="Weirs", text_level=1),
        item("text", text="A mean of $a_{1} \\* b$ and 5\\*6 \\_x\\_."),
        item("table", table_caption="Table 1", table_body=f"\n\n{TABLE}\n\n", table_footnote=""),
        item("table", table_body=latex),
        item("equation", text="$$\nq = 1\n$$", text_format="latex"),
    ])  # fmt: skip
    assert shown(document) == [[
        ("title", "Weirs"), ("text", "A mean of $a_{1} \\* b$ and 5*6 _x_."), ("caption", "Table 1"),
        ("table", "a | b"), ("table", "a | b\n1 & 2 | 3"), ("equation", "q = 1"),
    ]]  # fmt: skip
    assert document.pages[0].blocks[0].level == 1
    assert document.version == "unknown"


def test_items_from_2_5_on(parse: Parse, shown: Shown) -> None:
    document = parse([
        item("header", text="The head", bbox=[100, 20, 500, 30]),
        item("list", sub_type="text", list_items=["one", "two \\#"]),
        item("list", sub_type="ref_text", list_items=["Doe 1999"]),
        item("ref_text", text="Roe 2001"),
        item("code", sub_type="code", code_body="```python\na = 1\nb = 2\n```", code_caption=["Listing 1"]),
        item("chart", content="x", chart_caption=["Figure 2"], chart_footnote=["source"]),
        item("index", list_items=["Scope 3"]),
        item("aside_text", text="stamp"), item("page_footnote", text="<sup>1</sup>A note"),
        item("page_number", text="7"), item("footer", text="foot"), item("equation", img_path="x.jpg"),
        item("table", img_path="x.jpg", table_caption=[], table_footnote=[]),
    ])  # fmt: skip
    assert shown(document) == [[
        ("header", "The head"), ("list", "one\ntwo #"), ("reference", "Doe 1999"), ("reference", "Roe 2001"),
        ("caption", "Listing 1"), ("code", "a = 1\nb = 2"), ("figure", "x"), ("caption", "Figure 2"),
        ("footnote", "source"), ("toc", "Scope 3"), ("other", "stamp"), ("footnote", "1 A note"), ("page_number", "7"),
        ("footer", "foot"),
    ]]  # fmt: skip
    assert document.pages[0].blocks[0].bbox == (6000, 1600, 30000, 2400)


def test_items_of_4x_lose_their_markdown(parse: Parse, shown: Shown) -> None:
    document = parse([
        item("text", text="The **next weir** of *Eel Brook* (***both***), ~~not~~ [its lock](https://w.example/a_b)."),
        item("text", text="`gate_1`"),
        item("text", text="<u><strong>All</strong></u> &lt;new&gt; R&amp;D, <a href='#x'>here</a>, x<sub>2</sub>"),
        item("text", text="\\*kept\\* 2 * 3 * 4, *p < 0.05, a*b*c, [3](see above), $a * b * c$ and $[x](#y)$"),
        item("index", list_items=["- [Scope \\[1\\]](#a-1)", "    - Locks"]),
        item("chart", content="<table><tr><td>Year</td></tr><tr><td>1901</td></tr></table>", sub_type="bar"),
        item("image", content="<table><tr><td>seal</td></tr></table>", sub_type="seal"),
    ])  # fmt: skip
    assert shown(document) == [[
        ("text", "The next weir of Eel Brook (both), not its lock."),
        ("text", "gate_1"),
        ("text", "All <new> R&D, here, x2"),
        ("text", "*kept* 2 * 3 * 4, *p < 0.05, a*b*c, [3](see above), $a * b * c$ and $[x](#y)$"),
        ("toc", "- Scope [1]\n- Locks"), ("figure", "Year\n1901"), ("figure", "seal"),
    ]]  # fmt: skip


def test_numbers_are_no_formulas(parse: Parse, shown: Shown) -> None:
    document = parse([
        item("text", text="Of $3 0 \\%$ or $+24.4\\%$ and $1 . 5$, $12 500$ but $n = 5$, $x_1$ and $5$6."),
        item("text", text="Of $30$ weirs"),
        item("table", table_body="<table><tr><td>4.5\\%</td><td>R\\&D</td><td>$5\\%$</td><td>a\\b</td></tr></table>"),
    ])  # fmt: skip
    assert shown(document) == [[
        ("text", "Of 30% or +24.4% and 1.5, 12 500 but $n = 5$, $x_1$ and $5$6."),
        ("text", "Of 30 weirs"),
        ("table", "4.5% | R&D | $5\\%$ | a\\b"),
    ]]  # fmt: skip


def test_marks_without_an_end_take_no_time(parse: Parse) -> None:
    for text in (
        "*a" * 20_000,
        "[a](" * 20_000,
        "<b>" * 20_000,
        "[" * 40_000,
        "`a " * 20_000,
        "**a*" * 20_000,
        "$1 " * 20_000,
    ):
        parse([item("text", text=text)])


def test_numbers_and_items_of_nothing(parse: Parse, shown: Shown) -> None:
    document = parse([
        item("list", list_items=[1234567, 12.5, 20240131, True, None]),
        {"bbox": [1, 2, 3, 4], "page_idx": 0}, None, {"type": "text", "text": ""},
        item("formula_number", text="(3)"), item("header_image", img_path="x.jpg"),
    ])  # fmt: skip
    assert shown(document) == [[("list", "1234567\n12.5\n20240131"), ("equation", "(3)")]]
    assert document.pages[0].flags == {"glued_paragraphs"}
    assert document.n_pages == 1


def test_a_page_without_items_is_empty_and_all_are_flagged(parse: Parse, shown: Shown) -> None:
    document = parse([item("text", 0, text="a"), item("text", 2, text="c")])
    assert sorted(document.pages) == [0, 2]
    assert (document.n_pages, document.every_page) == (3, False)
    assert all(page.flags == {"glued_paragraphs"} for page in document.pages.values())
    assert parse([]).n_pages == 0
    assert shown(document) == [[("text", "a")], [("text", "c")]]


def test_discarded_items_can_be_all_there_is(parse: Parse, shown: Shown) -> None:
    head = item("discarded", text="River office", bbox=[100, 20, 500, 30])
    assert shown(parse([head])) == [[("text", "River office")]]
    beside = [item("text", text="body"), head, item("discarded", text="3", bbox=[500, 980, 510, 990])]
    assert shown(parse(beside)) == [[("header", "River office"), ("text", "body"), ("page_number", "3")]]


def test_an_item_without_page_lies_between_its_neighbours_or_nowhere(parse: Parse, shown: Shown) -> None:
    between = [item("text", 1, text="a"), {"type": "text", "text": "b"}, item("text", 1, text="c")]
    assert shown(parse(between)) == [[("text", "a"), ("text", "b"), ("text", "c")]]
    with pytest.raises(DataError, match="item 1 has no page_idx"):
        parse([item("text", 1, text="a"), {"type": "text", "text": "b"}, item("text", 2, text="c")])


def test_unknown_items_keep_all_their_texts(parse: Parse, shown: Shown) -> None:
    document = parse([item("hologram", text="seen", hologram_body=["twice"], img_path="x.jpg", sub_type="s")])
    assert shown(document) == [[("text", "seen\ntwice")]]
    assert document.pages[0].flags == {"unknown_item_type", "glued_paragraphs"}


def test_the_second_form_has_its_pages_by_place(parse: Parse, shown: Shown) -> None:
    def text(value: str) -> list[dict[str, str]]:
        return [{"type": "text", "content": value}]

    pages = [
        [
            {"type": "title", "content": {"title_content": text("Weirs"), "level": 2}, "bbox": [0, 0, 1000, 500]},
            {"type": "paragraph", "content": {"paragraph_content": [
                *text("A mean"), {"type": "equation_inline", "content": "q"},
                {"type": "hyperlink", "url": "u", "children": text("linked")}, {"type": "md", "content": "5\\*6"}]}},
            {"type": "equation_interline", "content": {"math_content": "q=1", "math_type": "latex"}},
            {"type": "table", "content": {"html": TABLE, "table_caption": text("Table 1"), "table_footnote": [],
                                          "image_source": {"path": "x.jpg"}, "table_type": "simple"}},
            {"type": "image", "content": {"image_source": {"path": "x.jpg"}, "image_caption": text("Figure 1")}},
            {"type": "algorithm", "content": {"algorithm_content": text("a = 1"), "algorithm_caption": []}},
        ],
        [],
        [
            {"type": "list", "content": {"list_type": "reference_list", "list_items": [
                {"item_type": "text", "item_content": text("Doe 1999")}]}},
            {"type": "list", "content": {"list_type": "text_list", "attribute": "ordered", "list_items": [
                {"item_type": "text", "ilevel": 0, "prefix": "1.", "item_content": text(word)}
                for word in ("one", "two")]}},
            {"type": "index", "content": {"list_items": ["Scope 3"]}},
            {"type": "page_footnote", "content": {"page_footnote_content": text("<sup>1</sup>note")}},
            {"type": "page_aside_text", "content": {"page_aside_text_content": text("stamp")}},
            {"type": "page_header", "content": {"page_header_content": text("head")}},
            {"type": "page_number", "content": {"page_number_content": text("3")}},
            {"type": "hologram", "content": {"hologram_content": text("seen"), "image_source": {"path": "x.jpg"}}},
        ],
    ]  # fmt: skip
    document = parse(pages)
    assert shown(document) == [
        [("title", "Weirs"), ("text", "A mean $q$ linked5*6"), ("equation", "q=1"), ("caption", "Table 1"),
         ("table", "a | b"), ("caption", "Figure 1"), ("code", "a = 1")],
        [],
        [("reference", "Doe 1999"), ("list", "one\ntwo"), ("toc", "Scope 3"), ("footnote", "1 note"),
         ("other", "stamp"), ("header", "head"), ("page_number", "3"), ("text", "seen")],
    ]  # fmt: skip
    assert (document.n_pages, document.every_page, document.unknown_types) == (3, True, {"hologram"})
    assert document.pages[0].blocks[0].level == 2
    assert document.pages[0].blocks[0].bbox == (0, 0, 60000, 40000)
    assert all("glued_paragraphs" in page.flags for page in document.pages.values())


def test_the_second_form_with_texts_where_there_should_be_objects(parse: Parse, shown: Shown) -> None:
    document = parse([[
        {"type": "paragraph", "content": "as it is"}, {"type": "table", "content": TABLE},
        {"type": "title", "content": "T"},
        {"type": "chart", "content": {"content": TABLE, "chart_caption": []}, "sub_type": "bar"},
        {"type": "paragraph", "content": {}}, {"type": "code", "content": {"code_content": "a = 1"}},
    ]])  # fmt: skip
    assert shown(document) == [
        [("text", "as it is"), ("table", "a | b"), ("title", "T"), ("figure", "a | b"), ("code", "a = 1")]
    ]
    assert document.pages[0].blocks[1].html == TABLE


HTML = '<table class="x"><tr><td rowspan=2>a &amp; b</td><td>c</td></tr></table>'


@pytest.mark.parametrize(
    "data",
    [
        [{"type": "table", "table_body": f"\n\n{HTML}\n\n", "table_caption": "Table 1", "page_idx": 0}],
        [{"type": "table", "table_body": HTML, "table_caption": ["Table 1"], "page_idx": 0}],
        [[{"type": "table", "content": {"html": HTML, "table_caption": [{"type": "text", "content": "Table 1"}]}}]],
        {"pdf_info": [{"preproc_blocks": [{"type": "table", "blocks": [
            {"type": "table_caption", "index": 0, "lines": [{"spans": [{"type": "text", "content": "Table 1"}]}]},
            {"type": "table_body", "index": 1, "lines": [{"spans": [{"type": "table", "html": HTML, "latex": "no"}]}]},
        ]}]}]},
        {"schema": "docvortex.middle", "pages": [{"page_idx": 0, "blocks": [{"type": "table", "content": [
            {"type": "table_caption", "content": "Table 1"}, {"type": "table_body", "content": HTML}]}]}]},
    ],
)  # fmt: skip
def test_a_table_keeps_its_html_beside_its_text(parse: Parse, data: object) -> None:
    caption, table = parse(data).pages[0].blocks
    assert (caption.text, caption.html) == ("Table 1", None)
    assert (table.role, table.text, table.html) == ("table", "a & b | c", HTML)


@pytest.mark.parametrize("body", ["\\begin{tabular}{ll} a & b \\end{tabular}", "a b", "5 < 6"])
def test_a_table_that_is_no_html_has_none(parse: Parse, body: str) -> None:
    (table,) = parse([{"type": "table", "table_body": body, "page_idx": 0}]).pages[0].blocks
    assert table.html is None
