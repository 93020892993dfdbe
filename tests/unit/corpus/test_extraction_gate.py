"""The extraction gate: rates counted again from the page files, on builds of which a source fails or somebody lies."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError, UsageError
from nclue_build.corpus.stage import Extract
from nclue_build.workflow import extraction
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.extraction import ExtractionVerdict, judge_extraction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.store.stage import StageContext

ENGLISH = "The office of the director is to report on the progress that was made with its plans for this year."


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting workers takes longer than all that they do here."""
    monkeypatch.setattr(extraction, "open_mapper", lambda _: LocalMapper(1))


@pytest.fixture
def extracted(tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]) -> StageContext:
    """Source good: 4 pages; source bad: 3 pages and a file that is no PDF."""
    for name, pages in [("good/a.pdf", 4), ("bad/b.pdf", 3)]:
        content = [[text(72, 100 + 20 * page, f"{name} {page}: {ENGLISH}")] for page in range(pages)]
        make_pdf(tmp_path / "pdfs" / name, content)
    (tmp_path / "pdfs" / "bad" / "c.pdf").write_bytes(b"no PDF")
    context = make_build('pdfs = "../pdfs"')
    extract(context)
    return context


def extract(context: StageContext) -> None:
    with LocalMapper(1) as mapper:
        Extract().run(dataclasses.replace(context, mapper=mapper))


def judge(context: StageContext) -> ExtractionVerdict:
    return judge_extraction(context.build.workspace.root, "main")


def codes(verdict: ExtractionVerdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        change(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_source_below_the_rate_fails_and_its_documents_are_gone(extracted: StageContext) -> None:
    verdict = judge(extracted)
    assert [(rate.source, rate.n_pages, rate.pages_passed, rate.percent, rate.passed) for rate in verdict.rates] == [
        ("bad", 4, 3, "75.00", False),
        ("good", 4, 4, "100.00", True),
    ]
    assert [rate.n_in_benchmark for rate in verdict.rates] == [0, 1]
    assert codes(verdict) == ["source-below-rate"]
    assert verdict.findings[0].message.startswith("source bad: 3 of 4 pages could be read (75.00 %), less than")
    assert not verdict.ok


def test_a_lone_source_only_warns(extracted: StageContext, tmp_path: Path) -> None:
    (tmp_path / "pdfs" / "good" / "a.pdf").unlink()
    extract(extracted)
    verdict = judge(extracted)
    assert codes(verdict) == ["source-below-rate"]
    assert verdict.findings[0].message.endswith("it stays, because it is the only source")
    assert verdict.ok


def test_all_is_well_where_every_source_passes(extracted: StageContext, tmp_path: Path) -> None:
    (tmp_path / "pdfs" / "bad" / "c.pdf").unlink()
    extract(extracted)
    verdict = judge(extracted)
    assert verdict.ok
    assert verdict.findings == ()


def raise_rate(row: dict[str, Any]) -> None:
    if row["kind"] == "source":
        row.update(pages_passed=row["n_pages"], passed=True)


def take_back(row: dict[str, Any]) -> None:
    if row.get("removed") == "source_below_rate":
        row.update(removed=None, in_benchmark=True)


def remove_good(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(removed="source_below_rate", in_benchmark=False, gold_eligible=False)


def count_more(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(n_pages=5, pages_ok=5)


def call_failed(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(status="failed")


def count_words(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(n_words=1)


def forbid_golds(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(gold_eligible=False)


def hide_placeholder(row: dict[str, Any]) -> None:
    if row["kind"] == "document" and row["source"] == "good":
        row.update(flags=["placeholder_text"], gold_eligible=False)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (raise_rate, ["quality-counts-differ"]),
        (take_back, ["removal-differs"]),
        (remove_good, ["removal-differs"]),
        (count_more, ["page-rows-differ", "quality-counts-differ"]),
        (call_failed, ["outcome-differs"]),
        (count_words, ["quality-counts-differ"]),
        (forbid_golds, ["outcome-differs"]),
        (hide_placeholder, ["outcome-differs", "outcome-differs"]),
    ],
)
def test_a_quality_file_that_was_edited_is_found_out(
    extracted: StageContext, change: Callable[[dict[str, Any]], None], found: list[str]
) -> None:
    edit(extracted.build.quality, change)
    verdict = judge(extracted)
    assert codes(verdict) == ["source-below-rate", *found]
    assert {one.path for one in verdict.findings[1:]} == {"inventory/main/documents_quality.jsonl"}
    assert not verdict.ok


def test_what_nobody_says_of_a_document_is_found(extracted: StageContext) -> None:
    """A folder of PDFs says nothing of licences, each PDF has its own digest, and each text on a page has one."""
    documents, pages = extracted.build.documents, extracted.build.pages
    true = documents.read_bytes()
    lies: list[tuple[dict[str, Any], str]] = [
        ({"sha256": "0" * 64}, "digest-differs"),
        ({"sha256": None}, "digest-differs"),
        ({"bytes": 12}, "size-differs"),
        ({"license": "CC0"}, "document-rows-differ"),
        ({"retrieved_at": "2020"}, "document-rows-differ"),
    ]
    for lie, code in lies:
        lines = [json.loads(line) for line in true.splitlines()]
        documents.write_text(
            "".join(json.dumps(row | (lie if row["source"] == "good" else {})) + "\n" for row in lines)
        )
        told = [(one.code, one.path) for one in judge(extracted).findings[1:]]
        assert told == [(code, "inventory/main/documents.jsonl")]
    documents.write_bytes(true)
    (pages / "other.jsonl").write_text("")
    (good,) = [path for path in pages.glob("*.jsonl") if "good" in path.read_text()]
    edit(good, lambda row: row["blocks"][0].update(text=row["blocks"][0]["text"].replace("plans", "plots")))
    assert [(one.code, one.path) for one in judge(extracted).findings[1:]] == [
        ("unknown-document", "inventory/main/pages/other.jsonl"),
        *[("page-rows-differ", f"inventory/main/pages/{good.name}")] * 4,
    ]


def test_a_build_that_travels_without_its_documents_passes(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]
) -> None:
    make_pdf(tmp_path / "pdfs" / "a.pdf", [[text(72, 100, ENGLISH)]])
    (tmp_path / "pdfs" / "corpus.jsonl").write_text('{"doc_id": "a", "source": "s", "file_name": "a.pdf"}\n')
    context = make_build('file = "../pdfs/corpus.jsonl"')
    extract(context)
    (tmp_path / "pdfs" / "a.pdf").unlink()
    assert judge(context).findings == ()
    edit(context.build.documents, lambda row: row.update(file_name="b.pdf", published="2020"))
    assert codes(judge(context)) == ["document-rows-differ", "document-rows-differ"]


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_quality_file_that_was_cut_short_is_found_out(extracted: StageContext, kept: int) -> None:
    lines = extracted.build.quality.read_text().splitlines(keepends=True)
    extracted.build.quality.write_text("".join(lines[:kept]))
    verdict = judge(extracted)
    assert [(rate.source, rate.n_pages, rate.pages_passed) for rate in verdict.rates] == [("bad", 4, 3), ("good", 4, 4)]
    assert codes(verdict).count("unknown-document") == 3 - kept
    assert codes(verdict).count("quality-counts-differ") == 2  # neither source has a row
    assert not verdict.ok


def test_documents_that_all_files_leave_out_are_missed_in_the_corpus(extracted: StageContext) -> None:
    """The failing source cut out of everything that extraction wrote."""
    for path in (extracted.build.documents, extracted.build.quality):
        rows = [line for line in path.read_text().splitlines() if json.loads(line)["source"] == "good"]
        path.write_text("".join(row + "\n" for row in rows))
    verdict = judge(extracted)
    assert codes(verdict) == ["unknown-document"] * 4
    assert [one.message.split(":")[0] for one in verdict.findings[:2]] == ["bad/b.pdf", "bad/c.pdf"]
    assert {str(one.path).rpartition("/")[0] for one in verdict.findings[2:]} == {"inventory/main/pages"}
    assert not verdict.ok


def test_a_document_of_another_source_is_found_by_its_folder(extracted: StageContext) -> None:
    def rename(row: dict[str, Any]) -> None:
        row["source"] = "good"

    edit(extracted.build.documents, rename)
    verdict = judge(extracted)
    assert codes(verdict).count("document-rows-differ") == 4  # two against the quality file, two against the folder


def test_a_corpus_that_is_gone_is_a_finding(extracted: StageContext, tmp_path: Path) -> None:
    (tmp_path / "pdfs").rename(tmp_path / "elsewhere")
    assert "corpus-missing" in codes(judge(extracted))


def test_a_corpus_file_is_what_documents_are_compared_with(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]
) -> None:
    for name in "ab":
        make_pdf(tmp_path / "pdfs" / f"{name}.pdf", [[text(72, 100, f"{name}: {ENGLISH}")]])
    listed = [{"doc_id": name, "source": "one", "file_name": f"{name}.pdf", "license": "CC0"} for name in "ab"]
    corpus = tmp_path / "pdfs" / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in listed))
    context = make_build('file = "../pdfs/corpus.jsonl"')
    extract(context)
    assert judge(context).findings == ()

    def relicense(row: dict[str, Any]) -> None:
        if row["doc_id"] == "a":
            row["license"] = None

    edit(context.build.documents, relicense)
    corpus.write_text("".join(json.dumps(row) + "\n" for row in [*listed, listed[0] | {"doc_id": "c"}]))
    verdict = judge(context)
    assert codes(verdict) == ["document-rows-differ", "unknown-document"]
    assert verdict.findings[0].message == "a: license is None here, 'CC0' in ../pdfs/corpus.jsonl"
    assert verdict.findings[1].id == "c"


@pytest.fixture
def copies(tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]) -> StageContext:
    """A document, the same bytes, the same text in other bytes, nearly the same text, and another document."""
    words = [f"word{number}" for number in range(200)]
    lines = [" ".join(words[start : start + 8]) for start in range(0, 200, 8)]

    def pages(lines: list[str]) -> list[Any]:
        return [[text(72, 100 + 20 * at, line) for at, line in enumerate(lines)]]

    folder = tmp_path / "pdfs"
    make_pdf(folder / "a.pdf", pages([*lines, ENGLISH]))
    (folder / "b.pdf").write_bytes((folder / "a.pdf").read_bytes())
    (folder / "c.pdf").write_bytes((folder / "a.pdf").read_bytes() + b"\n%\n")
    make_pdf(folder / "d.pdf", pages([*lines, "Another end."]))
    make_pdf(folder / "e.pdf", pages(["Quite another text about something else, of a few words.", ENGLISH]))
    context = make_build('pdfs = "../pdfs"')
    extract(context)
    return context


def test_groups_of_copies_are_made_again(copies: StageContext) -> None:
    path = copies.build.inventory / "duplicates.jsonl"
    assert [json.loads(line)["kind"] for line in path.read_text().splitlines()] == ["exact", "near", "same_text"]
    assert judge(copies).findings == ()


@pytest.mark.parametrize(
    ("kind", "found"),
    [("exact", ["duplicates-differ"]), ("same_text", ["duplicates-differ"]), ("near", ["removal-differs"])],
)
def test_a_group_that_is_missing_is_found(copies: StageContext, kind: str, found: list[str]) -> None:
    path = copies.build.inventory / "duplicates.jsonl"
    rows = [line for line in path.read_text().splitlines() if json.loads(line)["kind"] != kind]
    path.write_text("".join(row + "\n" for row in rows))
    assert codes(judge(copies)) == found


def test_documents_that_have_little_in_common_are_no_near_duplicates(copies: StageContext) -> None:
    """A document removed by a group made up for it."""
    (other,) = [path.stem for path in copies.build.pages.glob("e_*.jsonl")]

    def add(row: dict[str, Any]) -> None:
        if row["kind"] == "near":
            row.update(doc_ids=sorted([*row["doc_ids"], other]), removed=sorted([*row["removed"], other]))

    def remove(row: dict[str, Any]) -> None:
        if row.get("doc_id") == other:
            row.update(removed="duplicate", in_benchmark=False, gold_eligible=False)

    edit(copies.build.inventory / "duplicates.jsonl", add)
    edit(copies.build.quality, remove)
    verdict = judge(copies)
    assert codes(verdict)[0] == "duplicates-differ"
    assert "shares 7 percent of its runs of words" in verdict.findings[0].message


def test_pages_that_fail_later_are_counted(extracted: StageContext) -> None:
    (path,) = extracted.build.pages.glob("a_*.jsonl")

    def fail(row: dict[str, Any]) -> None:
        row["status"] = "failed" if row["page"] == 1 else row["status"]

    edit(path, fail)
    verdict = judge(extracted)
    assert [rate.pages_passed for rate in verdict.rates] == [3, 3]
    assert codes(verdict).count("quality-counts-differ") == 2


def test_a_page_file_that_is_gone_is_a_finding(extracted: StageContext) -> None:
    (path,) = extracted.build.pages.glob("a_*.jsonl")
    path.unlink()
    verdict = judge(extracted)
    assert "file-missing" in codes(verdict)
    assert not verdict.ok


def test_without_an_extraction_there_is_nothing_to_judge(make_build: Callable[..., StageContext]) -> None:
    context = make_build('pdfs = "../pdfs"')
    with pytest.raises(UsageError, match="there is nothing to judge: extract has not run yet"):
        judge(context)


def test_a_file_of_extraction_that_is_gone_is_bad_data(extracted: StageContext) -> None:
    extracted.build.quality.unlink()
    with pytest.raises(DataError, match="run 'nclue-build extract' first"):
        judge(extracted)
