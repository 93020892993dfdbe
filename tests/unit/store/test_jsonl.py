from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter

from nclue_build.core.errors import DataError
from nclue_build.core.findings import MAX_FINDINGS, Findings
from nclue_build.records.base import Count, Id, Record
from nclue_build.store.jsonl import iter_lines, read_json, read_jsonl, read_numbered, write_json, write_jsonl

if TYPE_CHECKING:
    from pathlib import Path


class Row(Record):
    row_id: Id
    count: Count


ROWS = [Row(row_id="b", count=2), Row(row_id="a", count=1)]


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert write_jsonl(path, ROWS) == 2
    assert path.read_bytes() == b'{"row_id":"b","count":2}\n{"row_id":"a","count":1}\n'
    assert list(read_jsonl(path, Row)) == ROWS


def test_one_record_a_file(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    write_json(path, ROWS[0])
    assert path.read_bytes() == b'{\n  "row_id": "b",\n  "count": 2\n}\n'
    assert read_json(path, Row) == ROWS[0]


def test_blank_lines_and_crlf_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"row_id":"b","count":2}\r\n\n  \n{"row_id":"a","count":1}')
    assert [line for line, _ in iter_lines(path)] == [1, 4]
    assert list(read_jsonl(path, Row)) == ROWS


def test_all_bad_rows_come_in_one_report_with_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"row_id":"a","count":-1}\n{"row_id":"a b","count":1}\n{"row_id":"c","count":1}\n'
        '{"row_id":"d","count":"1"}\n{"row_id":"e","count":1,"x":2}\nnot json\n[]\n',
        encoding="utf-8",
    )
    with pytest.raises(DataError) as caught:
        list(read_jsonl(path, Row))
    found = caught.value.findings
    assert [finding.line for finding in found] == [1, 2, 4, 5, 6, 7]
    assert {finding.code for finding in found} == {"bad-record"}
    assert {finding.path for finding in found} == {str(path)}
    assert found[0].message.startswith("count: ")
    assert "(got '-1')" in found[0].message
    assert all("\n" not in finding.message for finding in found)


@pytest.mark.parametrize(
    ("content", "code"), [(None, "file-missing"), (b'\xef\xbb\xbf{"row_id":"a","count":1}\n', "byte-order-mark")]
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_jsonl(path, Row))
    assert [finding.code for finding in caught.value.findings] == [code]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        list(iter_lines(tmp_path))


def test_good_rows_come_with_their_lines_and_bad_ones_go_to_the_list(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"row_id":"a","count":1}\n\nnot json\n{"row_id":"b","count":2}\n', encoding="utf-8")
    found = Findings()
    assert [(line, row.row_id) for line, row in read_numbered(path, Row, found=found)] == [(1, "a"), (4, "b")]
    assert [(finding.code, finding.line) for finding in found.kept] == [("bad-record", 3)]
    found = Findings()
    assert list(read_numbered(tmp_path / "none.jsonl", TypeAdapter(Row), found=found)) == []
    assert found.by_code == {"file-missing": 1}


def test_every_bad_row_is_counted_though_not_every_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("[]\n" * (MAX_FINDINGS + 10), encoding="utf-8")
    with pytest.raises(DataError, match=f"and {MAX_FINDINGS + 10 - 20} more") as caught:
        list(read_jsonl(path, Row))
    assert len(caught.value.findings) == MAX_FINDINGS


def test_a_missing_file_comes_with_advice(tmp_path: Path) -> None:
    advice = "run 'nclue-build mine' first"
    with pytest.raises(DataError, match=f"row.json: file not found: {advice}"):
        read_json(tmp_path / "row.json", Row, advice=advice)
    with pytest.raises(DataError, match=f"rows.jsonl: file not found: {advice}"):
        list(read_jsonl(tmp_path / "rows.jsonl", Row, advice=advice))
