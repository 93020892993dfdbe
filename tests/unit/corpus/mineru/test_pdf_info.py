from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.mineru.pages import MineruDocument

    Parse = Callable[[object], MineruDocument]
    Block = Callable[..., dict[str, Any]]
    Shown = Callable[[MineruDocument], list[list[tuple[str, str]]]]


def middle(*pages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    entries = [{"page_idx": index, "page_size": [600, 800], **page} for index, page in enumerate(pages)]
    return {"pdf_info": entries, **fields}


def test_text_of_a_page_is_its_own_in_index_order(parse: Parse, block: Block, shown: Shown) -> None:
    moved = block("text", "begins here", "ends there")
    moved["lines"][1]["spans"][0]["cross_page"] = True
    document = parse(
        middle(
            {
                "preproc_blocks": [block("text", "begins here", index=2.5), block("title", "Weirs", index=1, level=2)],
                "para_blocks": [moved],
            },
            {"preproc_blocks": [block("text", "ends there")], "para_blocks": [block("text", lines_deleted=True)]},
            _backend="pipeline",
            _version_name="2.6.4",
        )
    )
    assert shown(document) == [[("title", "Weirs"), ("text", "begins here")], [("text", "ends there")]]
    assert document.version == "2.6.4"
    assert [page.flags for page in document.pages.values()] == [set(), set()]
    title = document.pages[0].blocks[0]
    assert (title.level, title.bbox) == (2, (5000, 10000, 30000, 12000))
    assert (document.pages[0].width, document.pages[0].height) == (60000, 80000)


def moved_lines(block: Block, *lines: tuple[str, list[int], bool]) -> dict[str, Any]:
    made = block("text", *(text for text, _, _ in lines))
    for line, (_, box, is_moved) in zip(made["lines"], lines, strict=True):
        line["bbox"] = box
        if is_moved:
            line["spans"][0]["cross_page"] = True
    return made


def test_moved_lines_go_back_to_the_pages_they_are_from(parse: Parse, block: Block, shown: Shown) -> None:
    chain = moved_lines(
        block,
        ("one stays", [50, 700, 300, 712], False),
        ("two goes", [50, 60, 300, 72], True),
        ("three goes further", [50, 500, 300, 512], True),
    )
    document = parse(
        middle(
            {"para_blocks": [chain]},
            {"para_blocks": [block("text", lines_deleted=True, bbox=[50, 60, 300, 75]), block("text", "after two")]},
            {"para_blocks": [block("text", lines_deleted=True, bbox=[50, 495, 300, 515])]},
            _backend="vlm",
        )
    )
    assert shown(document) == [
        [("text", "one stays")],
        [("text", "two goes"), ("text", "after two")],
        [("text", "three goes further")],
    ]
    assert {flag for page in document.pages.values() for flag in page.flags} == set()


def test_lines_without_a_home_stay_and_are_flagged(parse: Parse, block: Block, shown: Shown) -> None:
    kept = moved_lines(block, ("here", [0, 0, 9, 9], False), ("from elsewhere", [0, 0, 9, 9], True))
    document = parse(middle({"para_blocks": [kept]}, {"para_blocks": [block("text", "full")]}, _backend="vlm"))
    assert shown(document) == [[("text", "here\nfrom elsewhere")], [("text", "full")]]
    assert [page.flags for page in document.pages.values()] == [{"glued_paragraphs"}, set()]


def test_only_para_blocks_of_a_pipeline_are_flagged_on_every_page(parse: Parse, block: Block) -> None:
    pages: list[dict[str, Any]] = [{"para_blocks": [block("text", "a")]}, {"para_blocks": []}]
    for fields in ({"_parse_type": "txt"}, {"_backend": "pipeline"}, {}):
        document = parse(middle(*pages, **fields))
        assert [page.flags for page in document.pages.values()] == [{"glued_paragraphs"}] * 2
    for backend in ("vlm", "hybrid"):  # 2.x: the paragraphs of these never left their pages
        assert [page.flags for page in parse(middle(*pages, _backend=backend)).pages.values()] == [set(), set()]


def test_rows_that_went_to_an_earlier_table_are_flagged(parse: Parse, block: Block) -> None:
    def table(html: str) -> dict[str, Any]:
        body = {"type": "table_body", "lines": [{"spans": [{"type": "table", "html": html}]}] if html else []}
        return {"type": "table", "blocks": [body | ({} if html else {"lines_deleted": True})]}

    document = parse(
        middle(
            {"para_blocks": [table("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>")]},
            {"para_blocks": [table(""), block("text", "x")]},
            {"para_blocks": [block("text", "y")]},
            _backend="vlm",
        )
    )
    assert [page.flags for page in document.pages.values()] == [{"glued_table"}, {"glued_table"}, set()]


def test_notes_of_a_table_that_goes_on_return_to_their_page(parse: Parse, block: Block, shown: Shown) -> None:
    note = block("table_footnote", "as counted in May", bbox=[50, 90, 300, 110])
    copied, emptied = note | {"cross_page": True}, {"lines": [], "lines_deleted": True}

    def table(html: str, *notes: dict[str, Any]) -> dict[str, Any]:
        body = {"type": "table_body", "lines": [{"spans": [{"type": "table", "html": html}]}] if html else []}
        return {"type": "table", "blocks": [body | ({} if html else {"lines_deleted": True}), *notes]}

    document = parse(
        middle(
            {"para_blocks": [table("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>", copied)]},
            {"para_blocks": [table("", copied | emptied)]},
            {"para_blocks": [table("", note | emptied), block("text", "body")]},
            _backend="hybrid",
        )
    )
    assert shown(document) == [[("table", "a\nb")], [], [("footnote", "as counted in May"), ("text", "body")]]
    assert [page.flags for page in document.pages.values()] == [{"glued_table"}] * 3
    homeless = parse(middle({"para_blocks": [table("<table></table>", copied)]}, {"para_blocks": []}, _backend="vlm"))
    assert shown(homeless)[0] == [("footnote", "as counted in May")]
    assert homeless.pages[0].flags == {"glued_paragraphs"}


def test_items_moved_into_a_list_of_an_earlier_page_are_flagged(parse: Parse, block: Block) -> None:
    moved = {"type": "ref_text", "lines": [{"spans": [{"type": "text", "content": "Roe", "cross_page": True}]}]}
    page = {"para_blocks": [{"type": "list", "blocks": [block("ref_text", "Doe"), moved]}]}
    assert parse(middle(page, {"para_blocks": []}, _backend="vlm")).pages[0].flags == {"glued_paragraphs"}


def test_pictures_and_charts_show_what_was_read_on_them(parse: Parse, shown: Shown) -> None:
    def visual(kind: str, content: object) -> dict[str, Any]:
        return {"type": kind, "blocks": [{"type": f"{kind}_body", "lines": [{"spans": [
            {"type": kind, "content": content, "image_path": "x.jpg"}]}]}]}  # fmt: skip

    chart = "<table><tr><td>Year</td><td>Eels</td></tr><tr><td>1901</td><td>7</td></tr></table>"
    blocks = [visual("image", "Guild\nof Weirs"), visual("image", ["Seal", "words"]), visual("chart", chart)]
    assert shown(parse(middle({"preproc_blocks": blocks}))) == [
        [("figure", "Guild\nof Weirs"), ("figure", "Seal\nwords"), ("figure", "Year | Eels\n1901 | 7")]
    ]


def test_what_was_set_aside_keeps_role_and_place(parse: Parse, block: Block, shown: Shown) -> None:
    document = parse(
        middle({
            "preproc_blocks": [block("text", "body")],
            "discarded_blocks": [
                block("page_footnote", "1 a note", bbox=[50, 700, 300, 720]),
                block("page_number", "12", bbox=[300, 770, 310, 780]),
                block("header", "The head", bbox=[50, 20, 300, 30]),
                block("aside_text", "stamp", bbox=[5, 300, 15, 500]),
            ],
        })
    )  # fmt: skip
    assert shown(document) == [
        [("header", "The head"), ("text", "body"), ("footnote", "1 a note"), ("page_number", "12"), ("other", "stamp")]
    ]


@pytest.mark.parametrize("block_type", ["discarded", None])
def test_what_was_set_aside_without_a_word_is_told_by_its_place(
    parse: Parse, block: Block, shown: Shown, block_type: str | None
) -> None:
    aside = [
        block(block_type, "River office", bbox=[50, 20, 300, 30]),
        block(block_type, "2 See the annex.", bbox=[50, 690, 300, 700]),
        block(block_type, "Printed on rag paper", bbox=[50, 760, 300, 770]),
        block(block_type, "Page 3 of 9", bbox=[300, 780, 340, 790]),
        block(block_type, "in the margin", bbox=[5, 300, 15, 500]),
        block(block_type, "", bbox=[5, 600, 15, 610]),
    ]
    document = parse(middle({"preproc_blocks": [block("text", "body")], "discarded_blocks": aside}))
    assert [role for role, _ in shown(document)[0]] == ["header", "text", "footnote", "footer", "page_number", "other"]
    alone = parse(middle({"preproc_blocks": [], "discarded_blocks": aside[:1] + aside[3:4]}))
    assert shown(alone) == [[("text", "River office"), ("page_number", "Page 3 of 9")]]
    assert alone.pages[0].flags == {"only_discarded"}


def test_children_have_roles_of_their_own(parse: Parse, block: Block, shown: Shown) -> None:
    html = "<table><tr><td>Year</td><td>Weirs</td></tr><tr><td>1901</td><td>7 &amp; 8</td></tr></table>"
    document = parse(
        middle({
            "preproc_blocks": [
                {"type": "table", "index": 1, "blocks": [
                    {"type": "table_body", "index": 2, "lines": [{"spans": [{"type": "table", "html": html}]}]},
                    block("table_caption", "Table 1: Weirs", index=1), block("table_footnote", "as counted", index=3),
                ]},
                {"type": "image", "index": 2, "blocks": [
                    {"type": "image_body", "lines": [{"spans": [{"type": "image", "image_path": "x.jpg"}]}]},
                    block("image_caption", "Figure 1"),
                ]},
                {"type": "code", "sub_type": "algorithm", "index": 3, "blocks": [block("code_body", "a = 1", "b = 2")]},
                {"type": "list", "index": 4, "blocks": [block("text", "first"), block("text", "second")]},
                {"type": "list", "sub_type": "ref_text", "index": 5, "blocks": [block("ref_text", "Doe 1999")]},
                block("index", "Weirs 3", index=6),
                block("ref_text", "Roe 2001", index=7),
                block("abstract", "in short", index=8),
            ],
        })
    )  # fmt: skip
    assert shown(document) == [[
        ("caption", "Table 1: Weirs"), ("table", "Year | Weirs\n1901 | 7 & 8"), ("footnote", "as counted"),
        ("caption", "Figure 1"), ("code", "a = 1\nb = 2"), ("list", "first\nsecond"), ("reference", "Doe 1999"),
        ("toc", "Weirs 3"), ("reference", "Roe 2001"), ("text", "in short"),
    ]]  # fmt: skip
    assert document.pages[0].pictures


def test_formulas_stand_in_their_line(parse: Parse, shown: Shown) -> None:
    line = {"spans": [
        {"type": "text", "content": "Flow is"}, {"type": "inline_equation", "content": "q_1"},
        {"type": "text", "content": ", a mean<sup>2</sup>."},
    ]}  # fmt: skip
    display = {"type": "interline_equation", "lines": [{"spans": [{"type": "interline_equation", "latex": "q=1"}]}]}
    document = parse(middle({"preproc_blocks": [{"type": "text", "lines": [line]}, display]}))
    assert shown(document) == [[("text", "Flow is $q_1$, a mean 2."), ("equation", "q=1")]]


def test_pages_of_a_range_of_1x_are_told_from_blank_ones(parse: Parse, block: Block) -> None:
    skipped = {"preproc_blocks": [], "need_drop": True, "drop_reason": "skip page"}
    document = parse(
        middle(
            skipped,
            {"preproc_blocks": [block("text", "in range")], "need_drop": False},
            {"preproc_blocks": []},
            {"preproc_blocks": [], "need_drop": True, "drop_reason": "odd\x00 layout\ud800"},
        )
    )
    reasons = [page.not_parsed for page in document.pages.values()]
    assert reasons == [
        "left out by the page range MinerU was given",
        None,
        None,
        "left out by MinerU: odd layout\ufffd",
    ]


def test_a_page_without_number_is_at_its_place(parse: Parse, block: Block, shown: Shown) -> None:
    pages = [{"preproc_blocks": [block("text", word)]} for word in ("one", "two")]
    assert shown(parse({"pdf_info": pages})) == [[("text", "one")], [("text", "two")]]
    assert shown(parse({"pdf_info": {"page_0": pages[0], "page_1": pages[1]}}))[1] == [("text", "two")]


def test_unknown_types_keep_their_text(parse: Parse, block: Block, shown: Shown) -> None:
    document = parse(
        middle({"preproc_blocks": [block("hologram", "seen"), block("hologram", "again")]}, {"preproc_blocks": []})
    )
    assert shown(document)[0] == [("text", "seen"), ("text", "again")]
    assert document.unknown_types == {"hologram"}
    assert [page.flags for page in document.pages.values()] == [{"unknown_item_type"}, set()]


def test_what_cannot_be_stored_is_removed(parse: Parse, block: Block, shown: Shown) -> None:
    document = parse(middle({"preproc_blocks": [block("text", "a\x00b"), block("text", "c\ud800")]}))
    assert shown(document) == [[("text", "ab"), ("text", "c\ufffd")]]
    assert document.pages[0].flags == {"nul_removed", "surrogates_removed"}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"pdf_info": [{"page_idx": 0}, {"page_idx": 0}]}, "page_idx 0 stands twice"),
        ({"pdf_info": [{"page_idx": -1}]}, "not the number of a page"),
        ({"pdf_info": [{"page_idx": 10**30}]}, "not the number of a page"),
        ({"pdf_info": [{"page_idx": "1"}]}, "not the number of a page"),
        ({"pdf_info": [3]}, "entry 0 is no page"),
    ],
)
def test_page_numbers_that_are_none_are_told(parse: Parse, data: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        parse(data)


def test_files_of_4x_before_the_schema_had_a_name(parse: Parse, block: Block, shown: Shown) -> None:
    first = {"schema_version": "1.0", "mineru_version": "3.4.5", "pages": [{"preproc_blocks": [block("text", "old")]}]}
    assert shown(parse(first)) == [[("text", "old")]]
    assert parse(first).version == "3.4.5"
    second = {
        "schema_version": "2.0",
        "mineru_version": "4.0.0",
        "pages": [{"blocks": [{"type": "text", "content": "x"}]}],
    }
    assert shown(parse(second)) == [[("text", "x")]]
    assert parse(second).version == "4.0.0"


@pytest.mark.parametrize("said", [{"_parse_type": "ocr"}, {"_backend": "hybrid", "_ocr_enable": True}])
def test_recognised_text_is_flagged_where_the_file_says_so(parse: Parse, block: Block, said: dict[str, object]) -> None:
    page = {"preproc_blocks": [block("text", "body")]}
    assert "ocr" in parse(middle(page) | said).pages[0].flags
    for other in ({}, {"_parse_type": "txt"}, {"_backend": "vlm"}, {"_backend": "hybrid", "_ocr_enable": False}):
        assert "ocr" not in parse(middle(page) | other).pages[0].flags
