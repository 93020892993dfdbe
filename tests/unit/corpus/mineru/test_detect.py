from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nclue_build.core.errors import DataError
from nclue_build.corpus.imported import mineru_pages, rows_of
from nclue_build.corpus.mineru.detect import detect, read
from nclue_build.corpus.mineru.markup import table_text, unescape_markdown, without_tags
from nclue_build.records.corpus import CachedPage


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"pdf_info": []}, "pdf_info"),
        ({"schema": "docvortex.middle", "pages": []}, "docvortex"),
        ({"schema": "docvortex.model", "schema_version": "2.0", "pages": [[]]}, "model"),  # model_output.json of 4.x
        ({"metadata": {}, "is_full_document": True, "pages": [{"page_idx": 0}]}, None),  # its structured_content.json
        ({"schema": ["docvortex.middle"], "pages": []}, None),
        ([[], []], "content_list_v2"),
        ([[{"type": "text", "content": {"text_content": []}}]], "content_list_v2"),
        ([[{"type": "text", "bbox": [0, 0, 1, 1], "angle": 0, "content": "x"}], []], "model"),
        ([{"type": "text", "text": "x", "page_idx": 0}], "content_list"),
        ([], "content_list"),
        ([{"layout_dets": [], "page_info": {"page_no": 0}}], "model"),
        ([{"type": "text", "text": "x"}], None),
        ({"a": 1}, None),
        ("text", None),
        (None, None),
    ],
)
def test_files_are_told_by_what_they_hold(data: object, kind: str | None) -> None:
    assert detect(data) == kind


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            [{"layout_dets": [], "page_info": {"page_no": 0}}],
            "model output, which has no reading order: give the middle",
        ),
        ({"a": 1}, "is no middle file and no content list"),
    ],
)
def test_others_are_refused_with_what_to_do(data: object, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read(data, lambda _: (0, 0))


@pytest.mark.parametrize(
    "data",
    [
        [{"type": "hologram", "page_idx": 0, "seen": {"by": ["Eels"]}, "image_base64": "aGk=", "url": "u"}],
        [[{"type": "hologram", "content": {"seen": {"by": ["Eels"]}, "image_source": {"path": "x"}}}]],
        [[{"type": "paragraph", "content": {"paragraph_content": [{"type": "text", "text": "Eels"}]}}]],
        [[{"type": "paragraph", "text": "Eels"}]],
        [[{"type": "text", "text": "Eels", "bbox": [0, 0, 9, 9], "page_idx": 0}], []],
        [[{"type": "table", "table_body": "<table><tr><td>Eels</td></tr></table>", "page_idx": 0}]],
        [{"type": "image", "img_path": "x", "page_idx": 0}, [{"type": "text", "text": "Eels", "page_idx": 0}]],
        {"pdf_info": [{"preproc_blocks": [{"type": "hologram", "seen": {"by": "Eels"}, "image_path": "x"}]}]},
        {"pdf_info": [{"preproc_blocks": [{"type": "hologram", "lines": [{"spans": [{"content": "Eels"}]}]}]}]},
        {"schema": "docvortex.middle", "pages": [{"page_idx": 0, "blocks": [
            {"type": "hologram", "content": {"seen": ["Eels"]}, "image_base64": "aGk=", "image_path": "x"}]}]},
        {"schema": "docvortex.middle", "pages": [{"page_idx": 0, "blocks": [
            {"type": "hologram", "content": [{"type": "text", "content": [{"type": "text", "content": "Eels"}]}]}]}]},
    ],
)  # fmt: skip
def test_text_of_no_known_shape_is_kept(data: object) -> None:
    assert [block.text for block in read(data, lambda _: (0, 0)).pages[0].blocks] == ["Eels"]


KEYS = st.sampled_from([
    "pdf_info", "page_idx", "page_size", "preproc_blocks", "para_blocks", "discarded_blocks", "type", "bbox", "lines",
    "spans", "content", "html", "latex", "blocks", "index", "level", "cross_page", "lines_deleted", "need_drop",
    "drop_reason", "schema", "schema_version", "pages", "metadata", "producer", "version", "document", "page_count",
    "extensions", "docvortex_layout", "width_pt", "is_full_document", "text", "text_level", "table_body", "img_caption",
    "image_caption", "list_items", "list_type", "code_body", "sub_type", "styles", "children", "item_content",
    "title_content", "math_content", "_backend", "_version_name",
])  # fmt: skip
WORDS = st.sampled_from([
    "text", "title", "list", "table", "table_body", "table_caption", "image", "code", "index", "discarded", "header",
    "equation", "ref_text", "inline_equation", "docvortex.middle", "2.0", "pipeline", "vlm",
    "<table><tr><td>a</td></tr>", "$$x$$", "\\begin{tabular}a&b\\\\", "<sup>1</sup>",
])  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(st.characters(), max_size=12)
    | st.integers(0, 4) | st.lists(st.integers(0, 900), min_size=4, max_size=4) | st.sampled_from(["\x00", "\ud800"])
)  # fmt: skip
ANY_JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=40
)


def shaped(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    pages = st.lists(st.dictionaries(KEYS, inner, max_size=6), max_size=4)
    blocks = st.lists(
        st.fixed_dictionaries({"type": WORDS}, optional={"lines": inner, "content": inner, "bbox": inner})
    )
    own = st.lists(
        st.fixed_dictionaries({}, optional={"preproc_blocks": blocks, "para_blocks": blocks, "page_size": inner})
    )
    return (
        inner
        | st.fixed_dictionaries({"pdf_info": pages | own})
        | st.fixed_dictionaries({"schema": st.just("docvortex.middle"), "pages": pages}, optional={"extensions": inner})
        | st.lists(st.fixed_dictionaries({"type": WORDS, "page_idx": st.integers(0, 3)}, optional={"text": inner}))
        | st.lists(st.lists(st.fixed_dictionaries({"type": WORDS, "content": inner}), max_size=3), max_size=3)
    )


@settings(deadline=None, max_examples=300)
@given(shaped(ANY_JSON))
def test_any_json_is_read_or_refused(data: object) -> None:
    try:
        document = read(data, lambda _: (60000, 80000))
        pages = mineru_pages(document, [])
    except DataError as error:
        problem = error.message
        assert problem.isprintable()
        return
    _, rows = rows_of(pages, ("mineru", document.version), None)
    for number, row in enumerate(rows, 1):
        assert CachedPage.model_validate_json(row).page == number


def test_deep_nesting_ends() -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    for data in ({"pdf_info": [{"para_blocks": deep}]}, [[{"type": "text", "content": {"text_content": deep}}]]):
        assert read(data, lambda _: (0, 0)).n_pages == 1
    nested: dict[str, object] = {"type": "list", "lines": []}
    for _ in range(200):
        nested = {"type": "list", "blocks": [nested]}
    assert read({"pdf_info": [{"preproc_blocks": [nested]}]}, lambda _: (0, 0)).n_pages == 1


@pytest.mark.parametrize(
    ("given_text", "plain"),
    [
        (r"5\*6 and a\_b", "5*6 and a_b"),
        (r"cost \$5 and $a\_b$ and x\_y", r"cost $5 and $a\_b$ and x_y"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_markdown_is_unescaped_outside_of_formulas(given_text: str, plain: str) -> None:
    assert unescape_markdown(given_text) == plain


def test_raised_marks_are_set_apart_other_tags_go() -> None:
    assert without_tags("word<sup>12</sup> next CO<sub>2</sub> a<sup>th</sup> <sup>1</sup>Note") == (
        "word 12 next CO2 ath 1 Note"
    )
    assert without_tags("a < b > c") == "a < b > c"


def test_tables_keep_cells_apart() -> None:
    assert table_text("<html><body><table><tr><th>a<br>b</th><td></td><td>c</td></tr></table>") == "a b |  | c"
    assert table_text("<table><caption>T</caption><tr><td>x</td></tr></table> tail") == "T\nx\ntail"
    assert table_text("no table < here") == "no table < here"
    assert json.dumps(table_text("<table><tr><td>&lt;5 &amp; 6")) == '"<5 & 6"'
