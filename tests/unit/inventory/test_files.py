"""Inventory versions on disk: round trip, same bytes, and damage noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError
from nclue_build.inventory.files import CONDITIONS, EVIDENCE, VERSION, read_version, write_version
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import Alias, Condition, EvidenceRow, Verdict

if TYPE_CHECKING:
    from pathlib import Path

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


def inventory(level: str = "page") -> Inventory:
    pages = (1, 4) if level == "page" else None
    values = (2, 1) if pages else ()
    rows = [
        EvidenceRow(
            condition_id=key, doc_id="d2", pages=pages, mentions=values, in_heading=tuple(v > 1 for v in values)
        )
        for key in ("bb", "aa")
    ]
    return Inventory.from_rows(rows, ["aa", "bb"], DOCUMENTS, level)


def write(folder: Path, level: str = "page") -> None:
    write_version(folder, conditions(), inventory(level), number=0, allowed_roles=("text",), text_version=1)


@pytest.mark.parametrize("level", ["page", "document"])
def test_a_version_reads_back_as_it_was_written(tmp_path: Path, level: str) -> None:
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
    with pytest.raises(DataError, match="unknown document"):
        read_version(tmp_path, ["d1", "d3"])
