"""The extract stage on 36 US government reports."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.progress import NullProgress
from nclue_build.corpus.stage import Extract
from nclue_build.records.corpus import CorpusRow, PageRow, Role
from nclue_build.store.config_file import load_config
from nclue_build.store.jsonl import read_jsonl
from nclue_build.store.stage import StageContext, StageResult
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("usgov pages")  # the reports are read once for all tests


@pytest.fixture(scope="module")
def extracted(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, StageResult]:
    root = tmp_path_factory.mktemp("usgov")
    (root / "configs").mkdir()
    (root / "configs" / "workspace.toml").write_text("schema = 1\n")
    listing = os.path.relpath(real_data / "usgov" / "corpus.jsonl", root)
    (root / "configs" / "main.toml").write_text(f'schema = 1\n[corpus]\nfile = "{listing}"\n')
    build = Build(Workspace(root), "main")
    with LocalMapper(2) as mapper:
        context = StageContext(build, load_config(build.config_path), mapper, NullProgress())
        result = Extract().run(context)
    return build, result


@pytest.fixture(scope="module")
def pages(extracted: tuple[Build, StageResult]) -> dict[str, list[PageRow]]:
    build, _ = extracted
    return {path.stem: list(read_jsonl(path, PageRow)) for path in sorted(build.pages.iterdir())}


def find(pages: dict[str, list[PageRow]], part: str) -> list[PageRow]:
    (found,) = [rows for doc_id, rows in pages.items() if part in doc_id]
    return found


def test_every_page_is_read(
    real_data: Path, extracted: tuple[Build, StageResult], pages: dict[str, list[PageRow]]
) -> None:
    build, result = extracted
    listed = {row.doc_id: row for row in read_jsonl(real_data / "usgov" / "corpus.jsonl", CorpusRow)}
    assert {doc_id: len(rows) for doc_id, rows in pages.items()} == {key: row.n_pages for key, row in listed.items()}
    assert result.counts["pages"] == 1078
    assert result.counts["pages_failed"] == 0
    assert result.counts["documents_in_benchmark"] == 36  # filled-in forms of one kind are no duplicates
    assert result.findings == ()
    documents = list(read_jsonl(build.documents, CorpusRow))
    assert {row.language for row in documents} == {"en"}
    assert {row.title for row in documents} == {row.title for row in listed.values()}


@pytest.mark.parametrize(
    ("part", "pattern"),
    [
        ("gao-06-1046", r"GAO-06-1046\s+Grants Management|Page \d+"),
        ("gao-06-282", r"GAO-06-282\s+Breastfeeding|Page \d+"),
        ("gao-07-106", r"GAO-07-106\s+DOE's Energy Challenges|Page \d+"),
        ("gao-07-283", r"GAO-07-283\s+Peak Oil Production|Page \d+"),
        ("DHS2020", r"U\.S\. Department of Homeland Security|Strategic Plan|Page \d+"),
        ("EPA2022", r"Strategic Plan|Page \d+"),
        ("2013-annual", r"FY 2013 Annual Performance Report|OPM Fiscal Year 2013 Annual Performance Report|\d+"),
        ("20080124X00101", r"Page \d of \d|NYC08CA068"),
    ],
)
def test_no_running_head_or_page_number_is_left_as_text(
    pages: dict[str, list[PageRow]], part: str, pattern: str
) -> None:
    left = [
        (page.page, block.text)
        for page in find(pages, part)[1:]
        for block in page.blocks
        if block.role not in {"header", "footer", "page_number"}
        and block.bbox is not None
        and (block.bbox[3] < 0.1 * page.height or block.bbox[1] > 0.93 * page.height)
        and re.fullmatch(pattern, block.text)
    ]
    assert left == []


def test_contents_pages_and_bibliographies_are_told_from_text(pages: dict[str, list[PageRow]]) -> None:
    def roles(part: str, page: int) -> set[Role]:
        blocks = find(pages, part)[page - 1].blocks
        return {block.role for block in blocks if block.role not in {"header", "footer", "page_number"}}

    assert roles("EPA2022", 2) == roles("2013-annual", 5) == roles("gao-06-1046", 3) == {"toc"}
    assert roles("gao-06-1046", 49) == roles("gao-06-1046", 50) == {"reference"}
    assert "reference" not in roles("gao-06-1046", 52)  # how to order copies, behind the bibliography
    assert roles("gao-07-106", 4) == {"toc", "text", "table"}  # lists of tables and figures, then abbreviations
    assert "toc" not in roles("gao-06-1046", 6) | roles("EPA2022", 20) | roles("gao-07-283", 54)


def test_titles_are_found_by_type(pages: dict[str, list[PageRow]]) -> None:
    def titles(part: str, page: int) -> list[str]:
        return [block.text for block in find(pages, part)[page - 1].blocks if block.role == "title"]

    assert titles("20080124X00101", 2) == [
        "Factual Information",
        "Pilot Information",
        "Aircraft and Owner/Operator Information",
    ]
    assert titles("gao-07-283", 55) == [
        "Readiness",
        "Key Challenges",
        "Current Federal Involvement",
        "Deepwater and Ultra-\nDeepwater Drilling",
    ]


def test_label_and_value_of_a_form_are_blocks_of_their_own(pages: dict[str, list[PageRow]]) -> None:
    texts = [block.text for block in find(pages, "20080124X00101")[1].blocks]
    for label, value in [("Aircraft Make:", "Cessna"), ("Model/Series:", "170B"), ("ELT:", "Installed, not activated")]:
        assert label in texts
        assert value in texts


def test_note_marks_do_not_stick_to_words(pages: dict[str, list[PageRow]]) -> None:
    glued = [
        (doc_id, page.page, match.group())
        for doc_id, rows in pages.items()
        if doc_id.startswith("gao")
        for page in rows
        for block in page.blocks
        if block.role == "text"
        for match in re.finditer(r"\b[a-z]{4,}\d{1,2}\b(?!@)", block.text)
    ]
    assert glued == []


def test_identifiers_in_invisible_type_are_no_text(pages: dict[str, list[PageRow]]) -> None:
    roles = {
        block.role
        for rows in pages.values()
        for page in rows
        for block in page.blocks
        if re.fullmatch(r"_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", block.text)
        and block.bbox is not None
        and block.bbox[3] - block.bbox[1] < 300
    }
    assert roles == {"other"}


def test_nothing_of_this_machine_is_in_the_outputs(extracted: tuple[Build, StageResult]) -> None:
    build, _ = extracted
    root = json.dumps(str(build.workspace.root))[1:-1].encode()
    assert not any(root in path.read_bytes() for path in build.inventory.rglob("*.jsonl"))
