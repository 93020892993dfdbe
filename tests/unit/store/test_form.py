"""The one form of a file: what differs is told in words, once a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.findings import Findings
from nclue_build.store.evidence import read_evidence
from nclue_build.store.form import ends_with_newline, explain_difference

if TYPE_CHECKING:
    from pathlib import Path

ROW = '{"condition_id":"c","doc_id":"%s","pages":[1],"mentions":[2],"in_heading":[false]}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"a":1}\r', "a line end of another system (CR LF)"),
        (b'{"a":0,"a":1}', "the key 'a' stands twice in an object"),
        (b'{"b":{"a":0,"a":1}}', "the key 'a' stands twice in an object"),
        (b'{"a": 1}', "spacing, order of keys or escapes are not ours: '{\"a\": 1}' at byte 1, expected '{\"a\":1}'"),
        (b'{"a":1} ', "spacing, order of keys or escapes are not ours: '{\"a\":1} ' at byte 1, expected '{\"a\":1}'"),
    ],
)
def test_differences_in_words(text: bytes, said: str) -> None:
    assert explain_difference(text, b'{"a":1}') == said


def test_whether_the_last_line_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for data, whole in ((b"", True), (b"\n", True), (b"a\n", True), (b"a", False), (b"a\nb", False)):
        path.write_bytes(data)
        assert ends_with_newline(path) == whole


@pytest.mark.parametrize(
    ("change", "line", "more"),
    [
        (lambda rows: rows.replace(":", ": "), 1, " (and 1999 lines more)"),
        (lambda rows: rows.replace('"d1500",', '"d1500" ,'), 1501, ""),
        (lambda rows: rows + "\n", 2001, ""),
        (lambda rows: rows.removesuffix("\n"), None, ""),
        (lambda rows: rows.replace('"d9",', '"x","doc_id":"d9",'), 10, ""),
        (lambda rows: rows, 0, ""),
    ],
)
def test_evidence_in_bulk_is_compared_line_by_line(tmp_path: Path, change: object, line: int | None, more: str) -> None:
    path = tmp_path / "evidence.jsonl"
    assert callable(change)
    path.write_text(change("".join(ROW % f"d{number}" for number in range(2000))), "utf-8")
    found, form = Findings(), Findings()
    assert read_evidence(path, found, form=form).n_rows == 2000
    assert not found.total
    if line == 0:
        assert not form.total
    else:
        [finding] = form.kept
        assert (finding.code, finding.line) == ("not-canonical", line)
        assert f"{more}: restore" in finding.message
    assert not read_evidence(path, found).n_rows - 2000
