"""The extraction gate: rates counted again from the page files, on builds of which a source fails or somebody lies."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.corpus.stage import Extract
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.extraction import ExtractionVerdict, judge_extraction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.store.stage import StageContext

ENGLISH = "The office of the director is to report on the progress that was made with its plans for this year."


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


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (raise_rate, "quality-counts-differ"),
        (take_back, "removal-differs"),
        (remove_good, "removal-differs"),
        (count_more, "quality-counts-differ"),
    ],
)
def test_a_quality_file_that_was_edited_is_found_out(
    extracted: StageContext, change: Callable[[dict[str, Any]], None], code: str
) -> None:
    edit(extracted.build.quality, change)
    verdict = judge(extracted)
    assert codes(verdict) == ["source-below-rate", code]
    assert verdict.findings[1].path == "inventory/main/documents_quality.jsonl"
    assert not verdict.ok


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
    with pytest.raises(DataError, match="run 'nclue-build extract' first"):
        judge(context)
