"""Extraction from what another program wrote: which files are read, and what becomes of documents without any."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError, UsageError
from nclue_build.corpus.export import write_markdown, write_page_json
from nclue_build.corpus.imported import ImportedPage, given_pages, mineru_pages
from nclue_build.corpus.markdown import markdown_lines
from nclue_build.corpus.mineru.pages import MineruDocument
from nclue_build.corpus.output_files import find_outputs, output_files
from nclue_build.corpus.page_json import parse_page
from nclue_build.corpus.stage import Extract
from nclue_build.records.config import BuildConfig
from nclue_build.records.corpus import Block, DocumentQuality, PageRow
from nclue_build.store.jsonl import read_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.output_files import Output
    from nclue_build.store.stage import StageContext

ENGLISH = "The office of the director is to report on the progress that was made with its plans for this year."


def middle(*texts: str | None, **fields: Any) -> str:
    pages = [
        {
            "page_idx": index,
            "page_size": [612, 792],
            "preproc_blocks": [
                {"type": "text", "bbox": [60, 60, 300, 90], "lines": [{"spans": [{"type": "text", "content": text}]}]}
            ]
            if text
            else [],
        }
        for index, text in enumerate(texts)
    ]
    return json.dumps({"pdf_info": pages, "_backend": "pipeline", "_version_name": "2.6.4", **fields})


def content_list(*texts: str) -> str:
    return json.dumps([{"type": "text", "text": text, "page_idx": index} for index, text in enumerate(texts)])


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def context(tmp_path: Path, out: Path, write_pdf: Any, make_build: Callable[..., StageContext]) -> StageContext:
    rows = []
    for name, n_pages in (("a", 2), ("b", 2), ("c", 1)):
        write_pdf(tmp_path / "pdfs" / f"{name}.pdf", [[f"{ENGLISH} {name} {page}"] for page in range(n_pages)])
        rows.append({"doc_id": f"doc-{name}", "source": "s", "file_name": f"pdfs/{name}.pdf"})
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_build('file = "../corpus.jsonl"', f'reader = "mineru"\nmineru_output = "../{out.name}"')


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def quality(context: StageContext) -> dict[str, DocumentQuality]:
    lines = [line for line in context.build.quality.read_text().splitlines() if '"kind":"document"' in line]
    return {row.doc_id: row for row in map(DocumentQuality.model_validate_json, lines)}


def pages(context: StageContext, doc_id: str) -> list[PageRow]:
    return list(read_jsonl(context.build.page_file(doc_id), PageRow))


def test_each_document_is_read_or_fails_for_itself(context: StageContext, out: Path) -> None:
    put(out / "a" / "auto" / "a_middle.json", middle(f"{ENGLISH} first", None))
    put(out / "a" / "auto" / "a_content_list.json", content_list("glued"))
    put(out / "b.json", middle("only one page"))
    result = Extract().run(context)
    first, second = pages(context, "doc-a")
    assert (first.backend, first.backend_version, first.status) == ("mineru", "2.6.4", "ok")
    assert [block.text for block in first.blocks] == [f"{ENGLISH} first"]
    assert (first.width, first.blocks[0].bbox) == (61200, (6000, 6000, 30000, 9000))
    assert (second.status, second.flags) == ("empty", ("text_only_in_pdf",))
    assert [f.message for f in result.findings if f.code == "text-only-in-pdf"] == [
        "doc-a: 1 of 2 pages have text in the PDF, and none from MinerU"
    ]
    rows = quality(context)
    assert (rows["doc-a"].status, rows["doc-a"].language) == ("ok", "en")
    assert "1 of the PDF's 2 pages, and does not say which" in (rows["doc-b"].message or "")
    assert rows["doc-c"].message == "no output of MinerU for it: looked for doc-c and pdfs/c and c"
    assert [page.status for page in pages(context, "doc-b")] == ["failed"] * 2
    assert {finding.code for finding in result.findings} == {"document-failed", "text-only-in-pdf"}
    assert result.counts["pages"] == 5


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"c/auto/c_middle.json": middle("x"), "c/vlm/c_middle.json": middle("y")}, "cannot be told which output"),
        ({"c/c_model.json": '[{"layout_dets": [], "page_info": {}}]'}, "model output, which has no reading order"),
        ({"c/layout.json": middle("x")[:-20]}, r"layout\.json: is no valid JSON, or cut off"),
        ({"c/layout.json": middle("x")[:-20], "c/u_content_list.json": content_list("x")}, "is no valid JSON"),
        ({"c/layout.json": "[" * 100_000}, "is nested too deep"),
        ({"c/layout.json": '{"pdf_info": [{"page_idx": 1' + "0" * 5000 + "}]}"}, "is no valid JSON"),
        ({"c_content_list.json": content_list("x", "y")}, "has 2 pages, the PDF 1: it was made from another document"),
        ({"c/a.json": '[[{"type": "text", "content": {}}], []]'}, "has 2 pages, the PDF 1"),
        ({"c/settings.json": '{"a": 1}'}, "is no middle file and no content list of MinerU"),
        ({"c/a.json": '{"pdf_info": 3}'}, "is no middle file"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_output_is_said(
    context: StageContext, out: Path, files: dict[str, str], message: str
) -> None:
    for name, text in files.items():
        put(out / name, text)
    put(out / "doc-a_middle.json", middle("x", "y"))
    Extract().run(context)
    row = quality(context)["doc-c"]
    assert re.search(message, row.message or ""), row.message
    assert (row.status, row.removed) == ("failed", "unreadable")


def test_the_same_output_twice_is_no_question(context: StageContext, out: Path) -> None:
    for mode in ("auto", "ocr"):
        put(out / "doc-c" / mode / "c_middle.json", middle("same"))
    Extract().run(context)
    assert [block.text for block in pages(context, "doc-c")[0].blocks] == ["same"]


def test_content_lists_are_read_where_there_is_nothing_better(context: StageContext, out: Path) -> None:
    put(out / "c" / "u_content_list.json", content_list("first form"))
    second = [{"type": "paragraph", "content": {"paragraph_content": [{"type": "text", "content": "second form"}]}}]
    put(out / "c" / "u_content_list_v2.json", json.dumps([second]))
    put(out / "a_content_list.json", content_list("only this"))
    Extract().run(context)
    (page,) = pages(context, "doc-c")
    assert [block.text for block in page.blocks] == ["second form"]
    assert page.flags == ("glued_paragraphs",)
    assert quality(context)["doc-c"].flags == ("glued_paragraphs", "language_unknown")
    assert [page.status for page in pages(context, "doc-a")] == ["ok", "empty"]


def test_a_content_list_that_may_be_of_a_range_is_a_finding(context: StageContext, out: Path) -> None:
    put(out / "a_content_list.json", content_list("what a scan may say"))
    put(out / "b_content_list.json", content_list(f"{ENGLISH} b 0"))
    result = Extract().run(context)
    assert [finding.id for finding in result.findings if finding.code == "page-range-unknown"] == ["doc-a"]
    assert "page_range_unknown" in quality(context)["doc-a"].flags
    assert ["page_range_unknown" in page.flags for page in pages(context, "doc-a")] == [True, False]


def test_unknown_types_are_said_once_for_a_run(context: StageContext, out: Path) -> None:
    for name in ("a", "b"):
        put(out / f"{name}.json", middle("x", "y").replace('"type": "text", "bbox"', '"type": "hologram", "bbox"'))
    result = Extract().run(context)
    said = [finding.message for finding in result.findings if finding.code == "unknown-item-type"]
    assert said == ["hologram: blocks of unknown type in 2 documents; their text is kept"]


def test_a_changed_output_is_read_again_and_an_unchanged_one_is_not(
    context: StageContext, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, n_pages in (("a", 2), ("b", 2), ("c", 1)):
        put(out / f"{name}.json", middle(*["before"] * n_pages))
    Extract().run(context)
    with monkeypatch.context() as patched:
        patched.setattr("nclue_build.corpus.run._supervisor", lambda *_: pytest.fail("read again"))
        Extract().run(context)
    put(out / "c.json", middle("after"))
    Extract().run(context)
    assert [block.text for block in pages(context, "doc-c")[0].blocks] == ["after"]
    assert [block.text for block in pages(context, "doc-a")[0].blocks] == ["before"]


def test_outputs_are_inputs_of_the_stage_models_are_not(context: StageContext, out: Path) -> None:
    put(out / "a" / "auto" / "a_middle.json", middle("x", "y"))
    put(out / "a" / "auto" / "a_model.json", "[]")
    declared = Extract().declare(context.build, context.config)
    assert out / "a" / "auto" / "a_middle.json" in declared.inputs
    assert out / "a" / "auto" / "a_model.json" not in declared.inputs
    assert declared.settings["mineru_output"] == "../out"


def found_in(out: Path, documents: dict[str, str]) -> dict[str, Output]:
    return find_outputs(out, "mineru", documents, dict.fromkeys(output_files(out, "mineru"), "0"))


def test_documents_of_one_name_are_told_apart(out: Path) -> None:
    put(out / "one" / "a.json", middle("x"))
    put(out / "a.json", middle("y"))
    put(out / "doc-3_middle.json", middle("z"))
    found = found_in(out, {"doc-1": "one/a.pdf", "doc-2": "two/a.pdf", "doc-3": "three/a.pdf"})
    assert found["doc-1"].files == ("one/a.json",)
    assert found["doc-2"].problem == (
        "a.json could be MinerU's output of 3 documents (doc-1, doc-2, doc-3): "
        "let the name of each output be the doc_id"
    )
    assert found["doc-3"].files == ("doc-3_middle.json",)


@pytest.mark.parametrize(
    ("documents", "file"),
    [
        ({"a": "x.pdf", "doc-y": "a.pdf"}, "a/auto/a_middle.json"),  # an id that is another's file name
        ({"a": "x.pdf", "doc-y": "deep/a.pdf"}, "a.json"),
        ({"doc-x": "a.pdf", "doc-y": "deep/a.pdf"}, "a_content_list.json"),
        ({"doc-x": "one/a.pdf", "doc-y": "two/a.pdf"}, "a/layout.json"),
        ({"doc-x": "a.pdf", "doc-y": "a/b.pdf"}, "a/b/layout.json"),  # a document's folder in another's
        ({"doc-x": "a.pdf", "doc-y": "a.PDF"}, "a.pdf_middle.json"),
    ],
)
def test_an_output_serves_no_two_documents(out: Path, documents: dict[str, str], file: str) -> None:
    put(out / file, middle("x"))
    for output in found_in(out, documents).values():
        assert output.files == ()
        assert output.problem is not None
        assert file in output.problem
        assert all(doc_id in output.problem for doc_id in documents)
        assert "let the name of each output be the doc_id" in output.problem


def test_names_that_begin_alike_are_told_apart_where_they_can_be(out: Path) -> None:
    for file in ("river.json", "river_model.json", "a/auto/a_middle.json", "a/b/auto/b_middle.json"):
        put(out / file, middle(file))
    found = found_in(out, {"doc-r": "river.pdf", "doc-m": "river_model.pdf", "doc-a": "a.pdf", "doc-b": "a/b.pdf"})
    assert {doc_id: output.files for doc_id, output in found.items()} == {
        "doc-r": ("river.json",),
        "doc-m": ("river_model.json",),
        "doc-a": ("a/auto/a_middle.json",),
        "doc-b": ("a/b/auto/b_middle.json",),
    }


@pytest.mark.parametrize("depth", [0, 1, 4, 5, 6, 20])
def test_what_is_read_is_what_was_digested(out: Path, depth: int) -> None:
    folder = out.joinpath("sub", "a", *map(str, range(depth)))
    put(folder / "a_middle.json", middle("x"))
    put(folder / "a_model.json", "[]")
    digests = {path: f"digest of {path.name}" for path in output_files(out, "mineru")}
    (output,) = find_outputs(out, "mineru", {"doc-a": "sub/a.pdf"}, digests).values()
    assert [out / file for file in output.files] == list(digests)
    assert output.digests == ("digest of a_middle.json",)


def test_a_deep_output_that_changes_is_read_again(context: StageContext, out: Path) -> None:
    deep = out.joinpath("pdfs", "c", *"123456", "c_middle.json")
    put(deep, middle("before"))
    Extract().run(context)
    put(deep, middle("after"))
    assert deep in Extract().declare(context.build, context.config).inputs
    Extract().run(context)
    assert [block.text for block in pages(context, "doc-c")[0].blocks] == ["after"]


def test_folders_that_lead_to_each_other_end(out: Path) -> None:
    put(out / "a" / "a.json", middle("x"))
    (out / "a" / "again").symlink_to(out)
    assert output_files(out, "mineru") == [out / "a" / "a.json"]


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["a_middle.json", "a_model.json"], ["a_middle.json"]),
        (["layout.json", "u_content_list.json", "u_model.json"], ["layout.json", "u_content_list.json"]),
        (
            ["middle_json.json", "structured_content.json", "model_output.json"],
            ["middle_json.json", "structured_content.json"],
        ),
        (["a_model.json"], ["a_model.json"]),  # it is all there is: it may be the output for a_model.pdf
        (["a.json", "a_model.json"], ["a.json", "a_model.json"]),
    ],
)
def test_model_output_is_left_out_beside_what_can_be_read(out: Path, names: list[str], left: list[str]) -> None:
    for name in names:
        put(out / "a" / name, "[]")
    assert [path.name for path in output_files(out, "mineru")] == left


def test_a_folder_that_is_not_there_is_a_usage_error(context: StageContext, out: Path) -> None:
    out.rmdir()
    with pytest.raises(UsageError, match=r"no such folder \(extract\.mineru_output"):
        Extract().declare(context.build, context.config)


@pytest.mark.parametrize("reader", ["mineru", "page-json"])
def test_a_reader_of_files_needs_their_folder(reader: str) -> None:
    with pytest.raises(ValueError, match=f'extract.reader = "{reader}" needs'):
        BuildConfig.model_validate({"schema": 1, "corpus": {"pdfs": "x"}, "extract": {"reader": reader}})


def test_pages_come_back_as_they_went_out(
    context: StageContext, out: Path, tmp_path: Path, make_build: Callable[..., StageContext]
) -> None:
    put(out / "a.json", middle(f"{ENGLISH} first", None))
    Extract().run(context)
    assert write_page_json(context.build, tmp_path / "pages") == 5
    before = {path.name: path.read_bytes() for path in context.build.pages.iterdir()}
    again = make_build('file = "../corpus.jsonl"', 'reader = "page-json"\npage_json = "../pages"')
    Extract().run(again)
    assert {path.name: path.read_bytes() for path in again.build.pages.iterdir()} == before


def test_the_html_of_a_table_is_kept_goes_out_and_comes_back(
    context: StageContext, out: Path, tmp_path: Path, make_build: Callable[..., StageContext]
) -> None:
    html = "<table><tr><td>Weirs</td><td colspan='2'>7 < 8</td></tr></table>"
    table = {"type": "table", "text": "", "table_body": html, "page_idx": 0}
    put(out / "c_content_list.json", json.dumps([table, {"type": "text", "text": ENGLISH, "page_idx": 0}]))
    Extract().run(context)
    (page,) = pages(context, "doc-c")
    assert [(block.text, block.html) for block in page.blocks] == [("Weirs | 7 < 8", html), (ENGLISH, None)]
    (line,) = context.build.page_file("doc-c").read_text().splitlines()
    assert [sorted(block) for block in json.loads(line)["blocks"]] == [
        ["bbox", "html", "level", "role", "text"],
        ["bbox", "level", "role", "text"],
    ]
    write_page_json(context.build, tmp_path / "pages")
    write_markdown(context.build, tmp_path / "md")
    shown = '<table><tr><td>Weirs</td><td colspan="2">7 &lt; 8</td></tr></table>'
    assert shown in (tmp_path / "md" / "doc-c.md").read_text().splitlines()
    again = make_build('file = "../corpus.jsonl"', 'reader = "page-json"\npage_json = "../pages"')
    Extract().run(again)
    assert again.build.page_file("doc-c").read_text().splitlines() == [line]


def test_files_of_others_are_never_replaced(context: StageContext, out: Path, tmp_path: Path) -> None:
    put(out / "c.json", middle("x # y"))
    Extract().run(context)
    put(tmp_path / "pages" / "doc-c" / "1.json", '{"mine": 1}')
    with pytest.raises(UsageError, match="is not of ours"):
        write_page_json(context.build, tmp_path / "pages")
    theirs = '{"doc_id":"doc-c","page":1,"engine":"another","text":"as another program read it"}'
    put(tmp_path / "theirs" / "doc-c" / "1.json", theirs)
    with pytest.raises(UsageError, match="is not of ours"):
        write_page_json(context.build, tmp_path / "theirs")
    for name in ("99.json", "0001.json"):  # which the reader would take for pages too
        put(tmp_path / name / "doc-c" / name, theirs)
        with pytest.raises(UsageError, match="is not of ours"):
            write_page_json(context.build, tmp_path / name)
        assert [path.name for path in (tmp_path / name).rglob("*.json")] == [name]
    put(tmp_path / "beside" / "doc-c" / "notes.json", theirs)
    write_page_json(context.build, tmp_path / "beside")
    assert (tmp_path / "beside" / "doc-c" / "notes.json").read_text() == theirs
    changed = tmp_path / "beside" / "doc-c" / "1.json"
    changed.write_text(changed.read_text().replace("x # y", "corrected by hand"))
    with pytest.raises(UsageError, match="is not of ours, or was changed since"):
        write_page_json(context.build, tmp_path / "beside")


def test_markdown_that_somebody_worked_on_stays(context: StageContext, out: Path, tmp_path: Path) -> None:
    put(out / "c.json", middle("x # y"))
    Extract().run(context)
    path = tmp_path / "md" / "doc-c.md"
    for _ in range(2):  # what was not changed is replaced
        assert write_markdown(context.build, tmp_path / "md") == 3
        seal, text = path.read_text().split("\n", 1)
        assert text == "<!-- page 1 -->\n\nx \\# y\n\n"
        assert seal == f"<!-- nclue-build, sha256 of what follows: {hashlib.sha256(text.encode()).hexdigest()} -->"
    for content in ("notes of mine", path.read_text() + "a note below\n", "<!-- page 1 -->\n"):
        path.write_text(content)
        with pytest.raises(UsageError, match="was changed since, or is not of ours"):
            write_markdown(context.build, tmp_path / "md")
        assert path.read_text() == content


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Year | Sum\n2001 | 7", ["| Year | Sum |", "| --- | --- |", "| 2001 | 7 |"]),
        ("A | B\n1 | 2_3 | 4", ["```", "A | B", "1 | 2_3 | 4", "```"]),
        ("Year Sum\n2001 7", ["```", "Year Sum", "2001 7", "```"]),
    ],
)
def test_a_table_is_one_where_its_cells_are_known(text: str, lines: list[str]) -> None:
    blocks = (Block(role="table", text=text),)
    page = PageRow(
        doc_id="a", page=1, page_label="iii", width=1, height=1, backend="x", backend_version="1", status="ok",
        blocks=blocks, text_sha256="0" * 64,
    )  # fmt: skip
    assert list(markdown_lines(page)) == ["<!-- page 1, label iii -->", "", *lines, ""]


@pytest.mark.parametrize("name", ["1.json", "99.json"])
def test_a_pipe_among_exported_pages_is_not_waited_for(
    context: StageContext, out: Path, tmp_path: Path, name: str
) -> None:
    put(out / "c.json", middle("x # y"))
    Extract().run(context)
    pipe = tmp_path / "pages" / "doc-c" / name
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="is not of ours"):
        write_page_json(context.build, tmp_path / "pages")
    assert pipe.is_fifo()


def test_pages_of_other_programs_need_little(
    tmp_path: Path, context: StageContext, make_build: Callable[..., StageContext]
) -> None:
    del context
    folder = tmp_path / "pages"
    block = {"text": "read by eye", "bbox": [1.4, 2, 3, 4], "confidence": 0.9}
    put(folder / "doc-a" / "0001.json", json.dumps({"blocks": [block], "backend": "eye", "backend_version": "1"}))
    put(folder / "doc-b" / "1.json", json.dumps({"text": "plain\x00"}))
    put(folder / "doc-b" / "2.json", json.dumps({"page": 3, "text": "x"}))
    put(folder / "doc-c" / "2.json", json.dumps({"text": "x"}))
    given = make_build('file = "../corpus.jsonl"', 'reader = "page-json"\npage_json = "../pages"')
    result = Extract().run(given)
    assert "page-failed" in {finding.code for finding in result.findings}
    first, second = pages(given, "doc-a")
    assert (first.backend, first.blocks[0].role, first.blocks[0].bbox, first.width) == (
        "eye",
        "text",
        (1, 2, 3, 4),
        61200,
    )
    assert (second.status, second.flags) == ("failed", ("page_not_parsed",))
    rows = quality(given)
    assert rows["doc-b"].message == "doc-b/2.json: says it is page 3, and its name says 2"
    assert "there is a page 2, and the PDF has 1 pages" in (rows["doc-c"].message or "")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"doc_id": "doc-b"}, "doc_id is doc-b, and the folder says doc-c"),
        ({"doc_id": "evil\x1b[31m"}, r"doc_id is evil\\x1b\[31m, and"),
        ({"doc_id": 7}, "doc_id is no text, and"),
        ({"page": 2}, "says it is page 2"),
        ({"page": "1"}, "page is no number"),
        ({"backend": "eye\x1b[31m"}, "backend is no text of at most 60"),
        ({"backend": "x" * 61}, "backend is no text of at most 60"),
        ({"backend": {"name": "eye"}}, "backend is no text of at most 60"),
        ({"backend": "eye", "backend_version": "1\n2"}, "backend_version is no text of at most 60"),
        ({"backend": "eye", "backend_version": 5.3}, "backend_version is no text of at most 60"),
        ({"flags": ["fine", "two words"]}, "flags: entry 1 is no word"),
        ({"flags": ["x" * 61]}, "flags: entry 0 is no word"),
        ({"flags": ["a\u0000b"]}, "flags: entry 0 is no word"),
        ({"flags": [1]}, "flags: entry 0 is no word"),
        ({"flags": "fine"}, "flags is no list"),
        ({"flags": ["a"] * 65}, "flags is no list of at most 64"),
        ({"page_label": "x" * 201}, "page_label has more than 200"),
    ],
)
def test_a_field_of_a_page_that_is_not_what_it_should_be_is_named(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=f"^{problem}"):
        parse_page({"text": "x", **fields}, "doc-c", 1)


def test_a_page_of_another_document_fails_the_one_it_lies_with(
    tmp_path: Path, context: StageContext, make_build: Callable[..., StageContext]
) -> None:
    del context
    for doc_id, stated, n_pages in (("doc-a", "doc-a", 2), ("doc-b", "doc-b", 2), ("doc-c", "doc-b", 1)):
        for page in range(n_pages):
            put(tmp_path / "pages" / doc_id / f"{page + 1}.json", json.dumps({"doc_id": stated, "text": ENGLISH}))
    given = make_build('file = "../corpus.jsonl"', 'reader = "page-json"\npage_json = "../pages"')
    Extract().run(given)
    rows = quality(given)
    assert rows["doc-c"].message == (
        "doc-c/1.json: doc_id is doc-b, and the folder says doc-c: move the page to the folder of its document"
    )
    assert [rows[doc_id].status for doc_id in ("doc-a", "doc-b", "doc-c")] == ["ok", "ok", "failed"]


@pytest.mark.parametrize("version", ["2\x1b[31m", "9" * 61, {"a": 1}, ["x"], "", None, 4.1])
def test_a_version_that_is_none_is_not_kept(context: StageContext, out: Path, version: object) -> None:
    put(out / "c.json", middle("x", _version_name=version))
    named = {"schema": "docvortex.middle", "metadata": {"producer": {"version": version}}}
    blocks = [{"type": "text", "content": "x"}]
    put(out / "a.json", json.dumps({**named, "pages": [{"page_idx": 0, "blocks": blocks}, {"page_idx": 1}]}))
    Extract().run(context)
    assert pages(context, "doc-c")[0].backend_version == pages(context, "doc-a")[0].backend_version == "unknown"


def test_no_number_of_pages_is_made_up() -> None:
    with pytest.raises(DataError, match="hardly any before it"):
        mineru_pages(MineruDocument("content_list", n_pages=900_000, every_page=False), [])
    with pytest.raises(DataError, match="hardly any before it"):
        given_pages({900_000: ImportedPage(900_000)}, [])
