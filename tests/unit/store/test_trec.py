from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.store.trec import TrecQrel, read_numbered_qrels, read_trec_qrels, write_trec_qrels

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [TrecQrel("q1", "0", "d2", 2), TrecQrel("q1", "0", "d1", 1), TrecQrel("q2", "3", "d1", 1)]


def test_rows_are_four_fields_with_single_spaces(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    assert write_trec_qrels(path, ROWS) == 3
    assert path.read_bytes() == b"q1 0 d2 2\nq1 0 d1 1\nq2 3 d1 1\n"
    assert read_trec_qrels(path) == ROWS


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("q1 0 d1", "bad-qrels-row"),
        ("q1 0 d 1 1", "bad-qrels-row"),
        ("q1 0 d1 1.5", "bad-qrels-row"),
        ("# a comment here", "bad-qrels-row"),
        ("q1 0 d2 --1", "bad-qrels-row"),
        ("q1 0 d2 -", "bad-qrels-row"),
        ("q1 0 d2 +1", "bad-qrels-row"),
        ("q1 0 d2 01", "bad-qrels-row"),
        ("q1 0 d2 \u0661", "bad-qrels-row"),
        ("q1 0 d2 " + "9" * 5000, "bad-qrels-row"),
        ("q1\t0\td2\t1", "bad-qrels-row"),
        ("q1  0 d2 1", "bad-qrels-row"),
        (" q1 0 d2 1", "bad-qrels-row"),
        ("q1 0 d2 1 ", "bad-qrels-row"),
        ("q1 0 d2 1\r", "bad-qrels-row"),
        ("q1 0 d\u00a02 1", "bad-qrels-row"),
        ("q1 0 d\u00e9 1", "bad-qrels-row"),
        ("", "bad-qrels-row"),
        ("q1 0 d1 2", "duplicate-qrel"),
    ],
)
def test_what_other_tools_stumble_over_is_refused(tmp_path: Path, line: str, code: str) -> None:
    path = tmp_path / "qrels.trec"
    path.write_bytes(f"q1 0 d1 1\n{line}\nq1 1 d1 1\n".encode())
    with pytest.raises(DataError) as caught:
        read_trec_qrels(path)
    assert [(finding.code, finding.line) for finding in caught.value.findings] == [(code, 2)]


def test_a_byte_order_mark_would_become_part_of_the_first_id(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_bytes(b"\xef\xbb\xbfq1 0 d1 1\n")
    with pytest.raises(DataError, match="byte order mark"):
        read_trec_qrels(path)


def test_rows_come_with_their_lines_whatever_stands_between(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text("q1 0 d1 1\n\n# no\nq1 0 d2 -1\n", encoding="utf-8")
    found = Findings()
    rows = list(read_numbered_qrels(path, found))
    assert rows == [(1, TrecQrel("q1", "0", "d1", 1)), (4, TrecQrel("q1", "0", "d2", -1))]
    assert [(finding.code, finding.line) for finding in found.kept] == [("bad-qrels-row", 2), ("bad-qrels-row", 3)]
