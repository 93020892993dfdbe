"""Run files: both engines say the same, and every bad row is named with its line."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nclue_build.core.errors import DataError
from nclue_build.store.runs import read_run

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.store.runs import RunColumns

ENGINES = [True, False]
GOOD = b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\nq2 Q0 d1 1 -3e2 x\n"


def rows_of(columns: RunColumns) -> list[tuple[str, str, float, int]]:
    return [
        (columns.query_ids[query], columns.doc_ids[doc], score, line)
        for query, doc, score, line in zip(
            columns.queries.tolist(),
            columns.docs.tolist(),
            columns.scores.tolist(),
            columns.lines.tolist(),
            strict=True,
        )
    ]


def findings_of(path: Path, *, fast: bool) -> list[Finding]:
    with pytest.raises(DataError) as caught:
        read_run(path, fast=fast)
    return list(caught.value.findings)


@pytest.mark.parametrize("fast", ENGINES)
@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD[:-1],
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  "),
        b"\n" + GOOD + b"\n\n",
        GOOD.replace(b"x\n", b"x \n"),
        gzip.compress(GOOD, mtime=0),
    ],
    ids=["plain", "no last line feed", "CRLF", "tabs", "two spaces", "empty lines", "space at the end", "gzip"],
)
def test_rows_come_in_the_order_of_the_file(tmp_path: Path, data: bytes, fast: bool) -> None:  # noqa: FBT001 - a parameter
    path = tmp_path / "a.trec"
    path.write_bytes(data)
    rows = rows_of(read_run(path, fast=fast))
    assert [row[:3] for row in rows] == [("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d1", -300.0)]
    shift = 1 if data.startswith(b"\n") else 0
    assert [row[3] for row in rows] == [1 + shift, 2 + shift, 3 + shift]


@pytest.mark.parametrize("fast", ENGINES)
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"q3 Q0 d1 1 2.5", "bad-run-row"),
        (b"q3 Q0 d 1 1 2.5 x", "bad-run-row"),
        (b"q3", "bad-run-row"),
        (b"q3 Q0 d\xff 1 2.5 x", "bad-run-row"),
        (b"q3 Q0 d1 1 high x", "bad-run-score"),
        (b"q3 Q0 d1 1 nan x", "bad-run-score"),
        (b"q3 Q0 d1 1 inf x", "bad-run-score"),
        (b"q3 Q0 d1 1 -Infinity x", "bad-run-score"),
        (b"q3 Q0 d1 1 1e999 x", "bad-run-score"),
        (b"q3 Q0 d1 1 1_000 x", "bad-run-score"),
        (b"q3 Q0 d1 1 0x10 x", "bad-run-score"),
        (b"q3 Q0 d1 1 1,5 x", "bad-run-score"),
        (b"q1 Q0 d1 9 0.5 x", "duplicate-run-row"),
    ],
)
def test_every_bad_row_is_named_with_its_line(tmp_path: Path, bad: bytes, code: str, fast: bool) -> None:  # noqa: FBT001 - a parameter
    path = tmp_path / "a.trec"
    path.write_bytes(GOOD + bad + b"\nq4 Q0 d1 1 1 x\n" + bad.replace(b"q3", b"q5") + b"\n")
    found = findings_of(path, fast=fast)
    assert [(one.code, one.path, one.line) for one in found] == [(code, str(path), 4), (code, str(path), 6)]


@pytest.mark.parametrize("fast", ENGINES)
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xef\xbb\xbf" + GOOD, "byte-order-mark"),
        (b"", "bad-run-row"),
        (b" \n\n", "bad-run-row"),
        (gzip.compress(GOOD, mtime=0)[:-9], "bad-run-row"),
        (gzip.compress(b"", mtime=0), "bad-run-row"),
        (b"\x1f\x8b", "bad-run-row"),
    ],
)
def test_files_that_are_no_runs_are_refused(tmp_path: Path, data: bytes, code: str, fast: bool) -> None:  # noqa: FBT001 - a parameter
    path = tmp_path / "a.trec"
    path.write_bytes(data)
    assert [one.code for one in findings_of(path, fast=fast)] == [code]


def test_neither_reading_nor_scoring_loads_what_it_has_no_use_for(tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_bytes(GOOD)
    program = (
        "import sys\nfrom pathlib import Path\nimport nclue_build.workflow.scoring\n"
        "from nclue_build.store.runs import read_run\n"
        "read_run(Path(sys.argv[1]), fast=True)\n"
        "print('pyarrow' in sys.modules, {'pandas', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program, tmp_path / "a.trec"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True set()\n"


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    assert [one.code for one in findings_of(tmp_path / "none.trec", fast=False)] == ["file-missing"]
    assert [one.code for one in findings_of(tmp_path, fast=False)] == ["bad-run-row"]


def test_json_rows_with_and_without_pages(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q1", "doc_id": "d 1", "score": 2, "pages": [[3, 0.5], [1, 0.25]]},
        {"query_id": "q1", "doc_id": "d2", "score": 1.5},
    ]
    for path, pack in ((tmp_path / "a.jsonl", bytes), (tmp_path / "b.jsonl.gz", gzip.compress)):
        path.write_bytes(pack("\n".join(map(json.dumps, rows)).encode()))
        columns = read_run(path)
        assert [row[:3] for row in rows_of(columns)] == [("q1", "d 1", 2.0), ("q1", "d2", 1.5)]
        assert columns.pages == (((3, 0.5), (1, 0.25)), ())
    (tmp_path / "c.jsonl").write_text(json.dumps(rows[1]))
    assert read_run(tmp_path / "c.jsonl").pages is None


@pytest.mark.parametrize(
    "bad",
    [
        {"query_id": "q1", "doc_id": "d1"},
        {"query_id": "", "doc_id": "d1", "score": 1},
        {"query_id": "q1", "doc_id": "d1", "score": "high"},
        {"query_id": "q1", "doc_id": "d1", "score": 1, "pages": [[0, 1.0]]},
        {"query_id": "q1", "doc_id": "d1", "score": 1, "pages": [[1, float("nan")]]},
        {"query_id": "q1", "doc_id": "d1", "score": float("inf")},
        {"query_id": "q1", "doc_id": "d1", "score": 1, "surplus": 1},
        [],
    ],
)
def test_bad_json_rows_are_named_with_their_line(tmp_path: Path, bad: object) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"query_id": "q1", "doc_id": "d2", "score": 1}) + "\n\n" + json.dumps(bad) + "\n")
    assert {(one.path, one.line) for one in findings_of(path, fast=False)} == {(str(path), 3)}


ids = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["+1", ".5", "5.", "1E3", "-0", "00012", "4.9e-324", "0.1000000000000000055511151231257827"]),
)
odd = st.sampled_from(["nan", "inf", "1_0", "", "x", "\u0663", "1e400", '"1"'])
gaps = st.sampled_from([" "] * 12 + ["  ", "\t", "\v", "\f"])
ends = st.sampled_from(["\n"] * 12 + ["\r\n", "\n\n", " \n", "\r", ""])


@settings(max_examples=300)
@given(st.data())
def test_both_engines_read_alike_or_refuse_alike(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "alike.trec"
    lines = []
    for _ in range(data.draw(st.integers(1, 8))):
        score = data.draw(st.one_of(numbers, numbers, numbers, odd))
        parts = [data.draw(ids), "Q0", data.draw(ids), "1", score, data.draw(ids)]
        lines.append(data.draw(gaps).join(parts) + data.draw(ends))
    path.write_bytes("".join(lines).encode())
    answers: list[object] = []
    for fast in ENGINES:
        try:
            columns = read_run(path, fast=fast)
        except DataError as error:
            answers.append(error.findings)
        else:
            rows = rows_of(columns)
            answers.append((columns.query_ids, columns.doc_ids, rows, np.signbit(columns.scores).tolist()))
    assert answers[0] == answers[1]
