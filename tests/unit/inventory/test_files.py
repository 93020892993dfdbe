"""Inventory versions on disk: round trip, same bytes, and damage noticed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.inventory.files import read_version, write_version
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import Alias, Condition, EvidenceRow, Verdict
from nclue_build.store.layout import CONDITIONS, EVIDENCE, VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.records.base import Level

DOCUMENTS = ("d1", "d2", "d3")


def conditions() -> list[Condition]:
    return [
        Condition(
            condition_id=key,
            name=key,
            aliases=(Alias(form=key, match="folded", document_frequency=1, page_frequency=1),),
            document_frequency=1,
            page_frequency=1,
            verdict=Verdict(judge="rules", reason="test"),
        )
        for key in ("bb", "aa")
    ]


def inventory(level: Level = "page") -> Inventory:
    pages = (1, 4) if level == "page" else None
    values = (2, 1) if pages else ()
    rows = [
        EvidenceRow(
            condition_id=key, doc_id="d2", pages=pages, mentions=values, in_heading=tuple(v > 1 for v in values)
        )
        for key in ("bb", "aa")
    ]
    return Inventory.from_rows(rows, ["aa", "bb"], DOCUMENTS, level)


def write(folder: Path, level: Level = "page") -> None:
    write_version(folder, conditions(), inventory(level), number=0, allowed_roles=("text",), text_version=1)


@pytest.mark.parametrize("level", ["page", "document"])
def test_a_version_reads_back_as_it_was_written(tmp_path: Path, level: Level) -> None:
    write(tmp_path / "P0", level)
    stored = read_version(tmp_path / "P0", DOCUMENTS)
    assert stored.version.level == level
    assert stored.version.counts == {
        "conditions": 2,
        "documents": 3,
        "evidence": 2,
        "pages": 4 if level == "page" else 0,
    }
    assert [row.condition_id for row in stored.conditions] == ["aa", "bb"]
    assert list(stored.inventory.rows()) == list(inventory(level).rows())


def test_the_same_inventory_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write_version(tmp_path / "two", conditions()[::-1], inventory(), number=0, allowed_roles=("text",), text_version=1)
    for name in (CONDITIONS, EVIDENCE, VERSION):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("name", [CONDITIONS, EVIDENCE])
def test_a_changed_file_no_longer_matches_its_digest(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\n")
    with pytest.raises(DataError, match="digest"):
        read_version(tmp_path, DOCUMENTS)


def test_a_missing_version_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="file not found"):
        read_version(tmp_path / "P0", DOCUMENTS)


@pytest.mark.parametrize("name", [CONDITIONS, EVIDENCE])
def test_a_missing_file_of_a_version_is_an_error(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match="file not found"):
        read_version(tmp_path, DOCUMENTS)


def test_evidence_of_a_document_outside_the_benchmark_is_an_error(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(DataError, match=r"evidence.jsonl:1: .*benchmark's corpus \[unknown-document\]"):
        read_version(tmp_path, ["d1", "d3"])


@pytest.mark.parametrize(("folder", "advice"), [("P0", "'nclue-build mine' again"), ("P1", "parent version")])
def test_only_p0_can_be_mined_again(tmp_path: Path, folder: str, advice: str) -> None:
    with pytest.raises(DataError, match=advice):
        read_version(tmp_path / folder, DOCUMENTS)
    write(tmp_path / folder)
    (tmp_path / folder / EVIDENCE).unlink()
    with pytest.raises(DataError, match=advice):
        read_version(tmp_path / folder, DOCUMENTS)


def test_a_condition_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    write_version(
        tmp_path, [*conditions(), conditions()[0]], inventory(), number=0, allowed_roles=("text",), text_version=1
    )
    with pytest.raises(DataError, match=r"conditions.jsonl:3: .*\[duplicate-condition\]"):
        read_version(tmp_path, DOCUMENTS)


def test_bad_rows_and_rows_that_do_not_fit_come_in_one_report(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / EVIDENCE
    path.write_text(path.read_text() + "{}\n" + path.read_text(), encoding="utf-8")
    version = json.loads((tmp_path / VERSION).read_text("utf-8"))
    version["digests"][EVIDENCE] = sha256_file(path)
    (tmp_path / VERSION).write_text(json.dumps(version), "utf-8")
    with pytest.raises(DataError) as caught:
        read_version(tmp_path, DOCUMENTS)
    assert {(finding.code, finding.line) for finding in caught.value.findings} == {
        ("bad-record", 3),
        ("duplicate-evidence", 4),
        ("duplicate-evidence", 5),
    }
