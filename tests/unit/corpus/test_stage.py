from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError, OutcomeError
from nclue_build.core.progress import NullProgress
from nclue_build.corpus.stage import Extract
from nclue_build.corpus.supervisor import Supervisor
from nclue_build.records.corpus import CorpusRow, DocumentQuality, DuplicateGroup, PageRow
from nclue_build.store.jsonl import read_jsonl
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.read import ReadDocument
    from nclue_build.store.stage import StageContext

ENGLISH = "The office of the director is to report on the progress that was made with its plans for this year."


def run(context: StageContext, workers: int = 1) -> Any:
    with LocalMapper(workers) as mapper:
        return Extract().run(dataclasses.replace(context, mapper=mapper))


@pytest.fixture
def folder(tmp_path: Path, text: Any, make_pdf: Any) -> Path:
    pdfs = tmp_path / "pdfs"
    for name, pages in [("one/a.pdf", 3), ("one/b.pdf", 2), ("two/c.pdf", 1)]:
        content = [
            [text(72, 100 + 14 * row, f"{name} {page} {row}: {ENGLISH}") for row in range(3)] for page in range(pages)
        ]
        make_pdf(pdfs / name, content)
    return pdfs


@pytest.fixture
def context(folder: Path, make_build: Callable[..., StageContext]) -> StageContext:
    return make_build(f'pdfs = "../{folder.name}"')


def snapshot(context: StageContext) -> dict[str, bytes]:
    folder = context.build.inventory
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.jsonl"))}


def test_a_run_writes_valid_files_sorted_by_id(context: StageContext) -> None:
    result = run(context)
    documents = list(read_jsonl(context.build.documents, CorpusRow))
    assert [(one.source, one.n_pages, one.language) for one in documents] == [
        ("one", 3, "en"),
        ("one", 2, "en"),
        ("two", 1, "en"),
    ]
    for one in documents:
        pages = list(read_jsonl(context.build.page_file(one.doc_id), PageRow))
        assert [page.page for page in pages] == list(range(1, (one.n_pages or 0) + 1))
        assert {page.doc_id for page in pages} == {one.doc_id}
        assert {page.status for page in pages} == {"ok"}
    assert result.counts["documents"] == result.counts["documents_in_benchmark"] == 3
    assert result.counts["pages"] == result.counts["pages_ok"] == 6
    assert result.findings == ()


def test_outputs_do_not_depend_on_workers_cache_or_place(context: StageContext, tmp_path: Path) -> None:
    run(context)
    first = snapshot(context)
    run(context, workers=2)
    assert snapshot(context) == first  # from the cache
    shutil.rmtree(context.build.workspace.state)
    run(context, workers=2)
    assert snapshot(context) == first
    assert str(tmp_path).encode() not in b"".join(first.values())


def test_the_cache_holds_no_id_and_saves_reading(context: StageContext, monkeypatch: pytest.MonkeyPatch) -> None:
    run(context)
    cached = list(context.build.workspace.state.glob("pages/*/??/*.jsonl"))
    assert len(cached) == 3
    assert not any(b"doc_id" in path.read_bytes() for path in cached)
    monkeypatch.setattr("nclue_build.corpus.run._supervisor", lambda _: pytest.fail("read again"))
    run(context)


def without_signature(data: bytes) -> bytes:
    _, head, *pages = data.splitlines(keepends=True)
    body = head.replace(b'"signature":', b'"mark":') + b"".join(pages)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:100],
        lambda data: data[:-200],
        lambda _: b"",
        lambda _: b"\x00\xff\n\n{}",
        lambda data: data.replace(b"report on", b"retort on"),
        lambda data: data.split(b"\n", 1)[1],
        without_signature,
    ],
    ids=["head", "end", "empty", "other", "a word", "no digest", "no signature"],
)
def test_a_damaged_cache_file_is_read_again_and_replaced(
    context: StageContext, damage: Callable[[bytes], bytes]
) -> None:
    run(context)
    first = snapshot(context)
    cached = {path: path.read_bytes() for path in context.build.workspace.state.glob("pages/*/??/*.jsonl")}
    for path, data in cached.items():
        assert damage(data) != data
        path.write_bytes(damage(data))
    run(context)
    assert snapshot(context) == first
    assert {path: path.read_bytes() for path in cached} == cached


@pytest.mark.parametrize("replacement", [b"another PDF", None], ids=["replaced", "removed"])
def test_a_pdf_that_changes_while_it_is_read_is_not_cached(
    context: StageContext, folder: Path, monkeypatch: pytest.MonkeyPatch, replacement: bytes | None
) -> None:
    changing = folder / "one" / "a.pdf"
    before = changing.read_bytes()
    read = Supervisor.read

    def change_and_read(supervisor: Supervisor, path: Path, *given: Any, **named: Any) -> ReadDocument:
        if path == changing:
            path.unlink()
            if replacement is not None:
                path.write_bytes(replacement)
        return read(supervisor, path, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Supervisor, "read", change_and_read)
        with pytest.raises(DataError, match=r"pdfs/one/a\.pdf: changed while it was read; run again") as caught:
            run(context)
    assert caught.value.exit_code == 3
    changing.write_bytes(before)
    digest = hashlib.sha256(before).hexdigest()
    assert not list(context.build.workspace.state.glob(f"pages/*/??/{digest}.jsonl"))
    assert run(context).counts["pages_ok"] == 6


def test_pages_of_documents_that_left_the_corpus_go(context: StageContext, folder: Path) -> None:
    run(context)
    (folder / "two" / "c.pdf").unlink()
    run(context)
    assert len(list(context.build.pages.iterdir())) == 2


def test_files_of_others_among_the_pages_stay(context: StageContext, folder: Path) -> None:
    run(context)
    mine = context.build.pages / "mine.jsonl"
    mine.write_text("mine\n")
    (folder / "two" / "c.pdf").unlink()
    run(context)
    assert mine.read_text() == "mine\n"
    assert len(list(context.build.pages.iterdir())) == 3


def test_pages_stay_when_the_list_of_the_last_run_cannot_be_read(context: StageContext, folder: Path) -> None:
    run(context)
    context.build.documents.write_text("{}\n")
    (folder / "two" / "c.pdf").unlink()
    run(context)
    assert len(list(context.build.pages.iterdir())) == 3


def test_a_broken_document_does_not_stop_the_run(context: StageContext, folder: Path) -> None:
    (folder / "one" / "broken.pdf").write_bytes(b"not a PDF")
    result = run(context)
    assert [finding.code for finding in result.findings] == ["document-failed"]
    assert result.counts["removed_unreadable"] == 1
    qualities = {
        row["doc_id"]: row
        for line in context.build.quality.read_bytes().splitlines()
        if (row := json.loads(line))["kind"] == "document"
    }
    (broken,) = [row for doc_id, row in qualities.items() if doc_id.startswith("broken")]
    DocumentQuality.model_validate_json(json.dumps(broken))
    assert broken["in_benchmark"] is False


def test_a_corpus_of_which_nothing_can_be_read_is_an_outcome(
    tmp_path: Path, make_build: Callable[..., StageContext]
) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.pdf").write_bytes(b"not a PDF")
    (tmp_path / "bad" / "y.pdf").write_bytes(b"nor this")
    context = make_build('pdfs = "../bad"')
    with pytest.raises(OutcomeError, match="no page of 2 documents can be read; x_") as caught:
        run(context)
    codes = [finding.code for finding in caught.value.findings]
    assert codes == ["nothing-to-deliver", "document-failed", "document-failed"]
    documents = list(read_jsonl(context.build.documents, CorpusRow))
    assert [finding.id for finding in caught.value.findings[1:]] == [one.doc_id for one in documents]
    lines = context.build.quality.read_text().splitlines()
    assert [json.loads(line).get("message") for line in lines] == ["not a PDF, or damaged beyond repair"] * 2 + [None]


def test_a_corpus_of_which_every_source_is_removed_is_an_outcome(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]
) -> None:
    """The next stage could only say that there is nothing to mine."""
    for source in "st":
        make_pdf(tmp_path / "pdfs" / source / "a.pdf", [[text(72, 100, "A page of words that can be read.")]])
        (tmp_path / "pdfs" / source / "b.pdf").write_bytes(b"no PDF")
    context = make_build('pdfs = "../pdfs"')
    with pytest.raises(OutcomeError, match="of 4 documents none is left in the benchmark") as caught:
        run(context)
    assert "source t: only 1 of 2 pages could be read, less than min_extraction_rate = 0.98" in str(caught.value)
    assert "removed" in context.build.quality.read_text()


def test_control_characters_of_titles_are_removed(
    tmp_path: Path, make_build: Callable[..., StageContext], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    read = Supervisor.read

    def read_with_title(supervisor: Supervisor, path: Path, *given: Any, **named: Any) -> ReadDocument:
        return dataclasses.replace(read(supervisor, path, *given, **named), title="Annual\r\nRe\x1bport", made=None)

    monkeypatch.setattr(Supervisor, "read", read_with_title)
    context = make_build(f'pdfs = "../{folder.relative_to(tmp_path)}"')
    run(context)
    assert {one.title for one in read_jsonl(context.build.documents, CorpusRow)} == {"Annual Report"}


class Notes(NullProgress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_hidden_files_are_not_read_and_noted(context: StageContext, folder: Path) -> None:
    for name in ["._a.pdf", "._b.pdf", ".c.pdf"]:
        (folder / "one" / name).write_bytes(b"not a PDF")
    progress = Notes()
    assert run(dataclasses.replace(context, progress=progress)).counts["documents"] == 3
    assert "extract: 3 hidden files skipped" in progress.notes


def test_what_is_no_file_is_not_read_and_noted(context: StageContext, folder: Path) -> None:
    progress = Notes()
    (folder / "broken.pdf").symlink_to("nowhere.pdf")
    os.mkfifo(folder / "pipe.pdf")
    Extract().run(dataclasses.replace(context, progress=progress))
    skipped = [note for note in progress.notes if "no file" in note]
    assert [note.split()[1] for note in skipped] == ["../pdfs/broken.pdf", "../pdfs/pipe.pdf"]


def test_copies_are_read_once_and_grouped(context: StageContext, folder: Path) -> None:
    shutil.copy(folder / "one" / "a.pdf", folder / "two" / "copy.pdf")
    result = run(context)
    (group,) = read_jsonl(context.build.inventory / "duplicates.jsonl", DuplicateGroup)
    assert group.kind == "exact"
    assert group.representative.startswith("a_")
    assert result.counts["removed_duplicate"] == 1
    assert len(list(context.build.workspace.state.glob("pages/*/??/*.jsonl"))) == 3


def test_a_corpus_file_is_completed_and_never_rewritten(
    tmp_path: Path, folder: Path, make_build: Callable[..., StageContext]
) -> None:
    listing = tmp_path / "corpus.jsonl"
    listing.write_text('{"doc_id": "mine", "source": "s", "file_name": "pdfs/one/a.pdf", "n_pages": 4}\n')
    before = listing.read_bytes()
    context = make_build('file = "../corpus.jsonl"')
    result = run(context)
    assert listing.read_bytes() == before
    (document,) = read_jsonl(context.build.documents, CorpusRow)
    assert (document.doc_id, document.n_pages, document.file_name) == ("mine", 3, "pdfs/one/a.pdf")
    assert document.bytes == (folder / "one" / "a.pdf").stat().st_size
    assert [finding.code for finding in result.findings] == ["page-count-differs"]


def test_a_digest_that_differs_stops_before_reading(
    tmp_path: Path, folder: Path, make_build: Callable[..., StageContext]
) -> None:
    row = {"doc_id": "a", "source": "s", "file_name": f"{folder.name}/one/a.pdf", "sha256": "0" * 64}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(row) + "\n")
    context = make_build('file = "../corpus.jsonl"')
    with pytest.raises(DataError, match=r"corpus\.jsonl:1: a: .*SHA-256 is"):
        run(context)
    assert not context.build.inventory.exists()


def test_the_declaration_names_every_file(context: StageContext, folder: Path) -> None:
    declaration = Extract().declare(context.build, context.config)
    assert set(declaration.inputs) == set(folder.rglob("*.pdf"))
    assert context.build.pages in declaration.outputs
