from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError, UsageError
from nclue_build.corpus.sources import FileFacts, check_digests, find_pdfs, read_corpus_file, rows_of_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.store.stage import StageContext
    from nclue_build.store.workspace import Build


@pytest.fixture
def build(make_build: Callable[..., StageContext]) -> Build:
    return make_build('pdfs = "../pdfs"').build


def put(path: Path, content: bytes = b"%PDF") -> FileFacts:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return FileFacts(hashlib.sha256(content).hexdigest(), len(content))


def corpus_file(tmp_path: Path, *rows: dict[str, object] | str) -> str:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (tmp_path / "corpus.jsonl").write_text("".join(line + "\n" for line in lines))
    return "../corpus.jsonl"


def row(doc_id: str, **fields: object) -> dict[str, object]:
    return {"doc_id": doc_id, "source": "s", "file_name": f"{doc_id}.pdf"} | fields


def test_files_are_found_relative_to_the_corpus_file(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "pdf" / "a.pdf")
    (listed,) = read_corpus_file(build, corpus_file(tmp_path, row("a", file_name="pdf/a.pdf")))
    assert listed.path == tmp_path / "pdf" / "a.pdf"
    assert listed.line == 1


def test_all_bad_rows_come_in_one_report_with_their_lines(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "a.pdf")
    put(tmp_path / "empty.pdf", b"")
    name = corpus_file(
        tmp_path,
        row("a"),
        row("a"),
        row("../x"),
        row("two words"),
        row("missing"),
        row("empty"),
        row("later", file_name=None, pdf_url="https://example.org/later.pdf"),
        row("typo", sha265="0"),
        "{not json",
        {"source": "s", "file_name": "a.pdf"},
        row("shown", file_name=None, url="https://example.org/later"),
    )
    with pytest.raises(DataError) as caught:
        read_corpus_file(build, name)
    assert caught.value.exit_code == 3
    assert [(finding.line, finding.code) for finding in caught.value.findings] == [
        (2, "duplicate-document"),
        (3, "bad-record"),
        (4, "bad-record"),
        (5, "file-missing"),
        (7, "not-fetched"),
        (8, "bad-record"),
        (9, "bad-record"),
        (10, "bad-record"),
        (11, "not-fetched"),
    ]
    assert "../corpus.jsonl:5: missing: missing.pdf: file not found" in caught.value.message
    assert "first in line 1" in caught.value.message


def test_file_names_are_relative_and_name_regular_files(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "a.pdf")
    os.mkfifo(tmp_path / "pipe.pdf")
    (tmp_path / "folder.pdf").mkdir()
    names = [
        str(tmp_path / "a.pdf"),
        "pipe.pdf",
        "folder.pdf",
        "x" * 5000 + ".pdf",
        "a\0.pdf",
        "a.pdf/b.pdf",
        "a.pdf",
    ]
    rows = [row(f"d{number}", file_name=name) for number, name in enumerate(names, 1)]
    with pytest.raises(DataError) as caught:
        read_corpus_file(build, corpus_file(tmp_path, *rows))
    assert caught.value.exit_code == 3
    wanted = [
        "file_name: must be relative, not absolute",
        "d2: pipe.pdf: is no regular file",
        "d3: folder.pdf: is no regular file",
        ": file name too long",
        "file_name: has a NUL character",
        "d6: a.pdf/b.pdf: file not found",
    ]
    assert [finding.line for finding in caught.value.findings] == [1, 2, 3, 4, 5, 6]
    for finding, message in zip(caught.value.findings, wanted, strict=True):
        assert message in finding.message
        assert len(finding.message) < 400


def test_a_key_that_stands_twice_is_refused_with_its_line(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "a.pdf")
    name = corpus_file(
        tmp_path,
        row("a"),
        '{"doc_id": "b", "source": "s", "file_name": "a.pdf", "source": "t"}',
        "[" * 100_000,
        '[["source", 1], ["source", 2]]',
        "1" * 5000,
    )
    with pytest.raises(DataError) as caught:
        read_corpus_file(build, name)
    assert [finding.line for finding in caught.value.findings] == [2, 3, 4, 5]
    assert (
        str(caught.value.findings[0]) == "../corpus.jsonl:2: source: stands twice in an object: keep one [bad-record]"
    )


def test_titles_are_put_on_one_line(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "a.pdf")
    (listed,) = read_corpus_file(build, corpus_file(tmp_path, row("a", title=" two\nlines, and\x84 more\x1b")))
    assert listed.row.title == "two lines, and more"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("source", "a\x1b[31mb", "source: has control characters"),
        ("source", " ", "source: is blank"),
        ("n_pages", 1_000_001, "n_pages: Input should be less than or equal to 1000000"),
    ],
)
def test_fields_that_make_no_sense_are_refused(
    tmp_path: Path, build: Build, field: str, value: object, message: str
) -> None:
    put(tmp_path / "a.pdf")
    with pytest.raises(DataError) as caught:
        read_corpus_file(build, corpus_file(tmp_path, row("a", **{field: value})))
    (finding,) = caught.value.findings
    assert finding.line == 1
    assert finding.message.startswith(message)
    assert finding.message.isprintable()


def test_a_list_may_lie_beside_its_data(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "data" / "a.pdf")
    (tmp_path / "lists").mkdir()
    corpus_file(tmp_path / "lists", row("a", file_name="../data/a.pdf"))
    (listed,) = read_corpus_file(build, "../lists/corpus.jsonl")
    assert listed.path.resolve() == tmp_path / "data" / "a.pdf"


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_corpus_file_is_a_usage_error(tmp_path: Path, build: Build, content: str) -> None:
    (tmp_path / "corpus.jsonl").write_text(content)
    with pytest.raises(UsageError, match="lists no document"):
        read_corpus_file(build, "../corpus.jsonl")


def test_a_missing_corpus_file_says_where_it_was_named(build: Build) -> None:
    with pytest.raises(UsageError, match=r"no such corpus file \(corpus\.file in configs/main\.toml\)"):
        read_corpus_file(build, "../nowhere.jsonl")


def test_digest_and_size_are_checked_together(tmp_path: Path, build: Build) -> None:
    facts = {tmp_path / f"{name}.pdf": put(tmp_path / f"{name}.pdf", name.encode() * 4) for name in "abc"}
    right = facts[tmp_path / "a.pdf"].sha256
    listed = read_corpus_file(
        build, corpus_file(tmp_path, row("a", sha256=right), row("b", sha256="0" * 64), row("c", bytes=7))
    )
    with pytest.raises(DataError) as caught:
        check_digests(listed, facts, "corpus.jsonl")
    assert [(finding.line, finding.code) for finding in caught.value.findings] == [
        (2, "digest-differs"),
        (3, "size-differs"),
    ]
    (completed,) = check_digests(listed[:1], facts, "corpus.jsonl")
    assert (completed.sha256, completed.bytes) == (right, 4)


def test_a_folder_gives_sources_and_ids(tmp_path: Path, build: Build) -> None:
    folder = tmp_path / "pdfs"
    facts = {
        folder / name: put(folder / name, name.encode())
        for name in ["top.pdf", "gao/Report No. 1.PDF", "gao/deep/er.pdf", "ntsb/x.pdf"]
    }
    put(folder / "notes.txt")
    assert find_pdfs(build, "../pdfs").paths == sorted(facts)
    rows = {one.file_name: one for one in rows_of_folder(build, "../pdfs", facts)}
    assert {name: one.source for name, one in rows.items()} == {
        "top.pdf": "pdfs",
        "gao/Report No. 1.PDF": "gao",
        "gao/deep/er.pdf": "gao",
        "ntsb/x.pdf": "ntsb",
    }
    digest = facts[folder / "gao/Report No. 1.PDF"].sha256
    assert digest is not None
    assert rows["gao/Report No. 1.PDF"].doc_id == f"Report-No.-1_{digest[:8]}"


def test_hidden_files_are_left_out_and_counted(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "pdfs" / "a.pdf")
    for name in ["._a.pdf", "sub/.b.pdf", ".trash/c.pdf", ".notes.txt"]:
        put(tmp_path / "pdfs" / name)
    listing = find_pdfs(build, "../pdfs")
    assert listing.paths == [tmp_path / "pdfs" / "a.pdf"]
    assert listing.n_hidden == 3


def test_a_folder_of_hidden_files_alone_says_so(tmp_path: Path, build: Build) -> None:
    put(tmp_path / "pdfs" / "._a.pdf")
    with pytest.raises(UsageError, match="no PDF in this folder or below, apart from 1 hidden file"):
        find_pdfs(build, "../pdfs")


@pytest.mark.parametrize(
    ("name", "shown", "problem"),
    [
        (b"caf\xe9.pdf", r"caf\xe9.pdf", "is not UTF-8"),
        (b"r\xe9gion/a.pdf", r"r\xe9gion/a.pdf", "is not UTF-8"),
        (b"two\nlines.pdf", r"two\nlines.pdf", "has control characters"),
    ],
)
def test_names_that_cannot_be_written_are_told_apart_from_others(
    tmp_path: Path, build: Build, name: bytes, shown: str, problem: str
) -> None:
    put(tmp_path / "pdfs" / "a\u00e9.pdf")
    put(tmp_path / "pdfs" / os.fsdecode(name))
    with pytest.raises(DataError) as caught:
        find_pdfs(build, "../pdfs")
    assert caught.value.message == f"../pdfs/{shown}: the name {problem}: rename the file or folder [bad-file-name]"


def test_a_folder_whose_own_name_is_not_utf_8_is_a_usage_error(tmp_path: Path, build: Build) -> None:
    name = os.fsdecode(b"r\xe9gion")
    put(tmp_path / name / "a.pdf")
    (tmp_path / name / "corpus.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"r\\xe9gion: the name is not UTF-8: rename the folder"):
        find_pdfs(build, f"../{name}")
    with pytest.raises(UsageError, match=r"r\\xe9gion/corpus\.jsonl: the name is not UTF-8"):
        read_corpus_file(build, f"../{name}/corpus.jsonl")


def test_identical_files_of_one_name_get_distinct_ids(tmp_path: Path, build: Build) -> None:
    folder = tmp_path / "pdfs"
    facts = {folder / name / "x.pdf": put(folder / name / "x.pdf", b"same") for name in ["b", "a", "c"]}
    rows = rows_of_folder(build, "../pdfs", facts)
    first = rows[0].doc_id
    assert [(one.source, one.doc_id) for one in rows] == [("a", first), ("b", f"{first}-2"), ("c", f"{first}-3")]


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_pdfs_is_a_usage_error(tmp_path: Path, build: Build, exists: bool) -> None:  # noqa: FBT001 - a parameter of the test
    if exists:
        put(tmp_path / "pdfs" / "readme.txt")
    with pytest.raises(UsageError, match="no PDF in this folder" if exists else "no such folder"):
        find_pdfs(build, "../pdfs")
