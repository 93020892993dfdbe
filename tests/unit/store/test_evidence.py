"""Evidence in bulk: exactly what the record accepts, at a fraction of its cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from nclue_build.core.findings import Findings
from nclue_build.records.inventory import EvidenceRow
from nclue_build.store.evidence import columns_of, read_evidence, write_evidence
from nclue_build.store.jsonl import encode

if TYPE_CHECKING:
    from pathlib import Path

GOOD: dict[str, Any] = {
    "condition_id": "c", "doc_id": "d", "pages": [1, 4], "mentions": [2, 1], "in_heading": [True, False],
}  # fmt: skip
WITHOUT_PAGES = GOOD | {"pages": None, "mentions": [], "in_heading": []}
BAD: list[object] = [
    GOOD | {"pages": [4, 1]},
    GOOD | {"pages": [1, 1]},
    GOOD | {"pages": [0, 1]},
    GOOD | {"pages": [1, 2**31]},
    GOOD | {"pages": [1, 2**64]},
    GOOD | {"pages": [True, 4]},
    GOOD | {"pages": [1.0, 4]},
    GOOD | {"pages": ["1", 4]},
    GOOD | {"pages": [[1], 4]},
    GOOD | {"pages": "14"},
    GOOD | {"pages": [], "mentions": [], "in_heading": []},
    GOOD | {"pages": None},
    GOOD | {"mentions": [0, 1]},
    GOOD | {"mentions": [1]},
    GOOD | {"mentions": None},
    GOOD | {"mentions": [None, 1]},
    GOOD | {"in_heading": [1, 0]},
    GOOD | {"in_heading": [True]},
    GOOD | {"condition_id": "a b"},
    GOOD | {"condition_id": 1},
    GOOD | {"condition_id": None},
    GOOD | {"doc_id": "d_p0001"},
    GOOD | {"doc_id": ""},
    GOOD | {"more": 1},
    {key: value for key, value in GOOD.items() if key != "doc_id"},
    {key: value for key, value in GOOD.items() if key != "doc_id"} | {"document": "d"},
    [],
    None,
]


def write(path: Path, rows: list[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("bad", BAD, ids=json.dumps)
def test_a_bad_row_is_named_with_its_line_and_the_others_are_read(tmp_path: Path, bad: object) -> None:
    path = tmp_path / "evidence.jsonl"
    write(path, [GOOD, bad, WITHOUT_PAGES])
    found = Findings()
    columns = read_evidence(path, found)
    assert {(finding.code, finding.line, finding.path) for finding in found.kept} == {("bad-record", 2, str(path))}
    assert [(item.line, item.pages) for item in columns.items()] == [(1, (1, 4)), (3, None)]


def test_lines_that_are_no_json_or_blank(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    line = json.dumps(GOOD)
    path.write_bytes(f"{line}\r\n\n{line},{line}\n{{\n{line}".encode())
    found = Findings()
    assert [item.line for item in read_evidence(path, found).items()] == [1, 5]
    assert [finding.line for finding in found.kept] == [3, 4]


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    found = Findings()
    assert read_evidence(tmp_path / "evidence.jsonl", found, advice="run it").n_rows == 0
    assert [(finding.code, finding.message) for finding in found.kept] == [("file-missing", "file not found: run it")]


def test_many_rows_go_through_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "evidence.jsonl"
    rows = [
        GOOD | {"condition_id": f"c{number % 7}", "doc_id": f"d{number}", "pages": [number + 1, number + 9]}
        for number in range(2500)
    ]
    write(path, [*rows])
    found = Findings()
    columns = read_evidence(path, found)
    assert not found.total
    assert [(item.condition_id, item.doc_id, item.pages) for item in columns.items()] == [
        (row["condition_id"], row["doc_id"], tuple(row["pages"])) for row in rows
    ]
    again = tmp_path / "again.jsonl"
    assert write_evidence(again, columns) == 2500
    assert again.read_text("utf-8") == path.read_text("utf-8").replace(" ", "")


SMALL = st.one_of(st.integers(-1, 4), st.booleans(), st.none(), st.just(2**31), st.text("ab", max_size=2))
LISTS = st.one_of(st.lists(SMALL, max_size=3), st.lists(st.integers(1, 9), max_size=3), SMALL)
ROWS = st.fixed_dictionaries({
    "condition_id": st.sampled_from(["c", "c d", "", 1]),
    "doc_id": st.sampled_from(["d", "d_p1", None]),
    "pages": LISTS,
    "mentions": LISTS,
    "in_heading": st.one_of(st.lists(st.booleans(), max_size=3), LISTS),
})  # fmt: skip
LIKELY = st.integers(1, 3).flatmap(
    lambda n: st.fixed_dictionaries({
        "condition_id": st.just("c"),
        "doc_id": st.just("d"),
        "pages": st.one_of(st.none(), st.lists(st.integers(1, 5), min_size=n, max_size=n)),
        "mentions": st.lists(st.integers(0, 5), min_size=n, max_size=n),
        "in_heading": st.lists(st.booleans(), min_size=n, max_size=n),
    })
)  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(ROWS, LIKELY), min_size=1, max_size=4))
def test_reading_in_bulk_accepts_what_the_record_accepts(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    path = tmp_path / "evidence.jsonl"
    write(path, [*rows])
    good, bad = [], []
    for line, row in enumerate(rows, start=1):
        try:
            good.append(EvidenceRow.model_validate_json(json.dumps(row)))
        except ValidationError:
            bad.append(line)
    found = Findings()
    columns = read_evidence(path, found)
    assert sorted({finding.line or 0 for finding in found.kept}) == bad
    assert [item[1:] for item in columns.items()] == [item[1:] for item in columns_of(good).items()]
    write_evidence(path, columns)
    assert path.read_bytes() == b"".join(encode(row) + b"\n" for row in good)
