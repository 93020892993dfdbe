"""The list of differences, and the table of their codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nclue_build.rederive.differences import CODES, MAX_FINDINGS, Differences

if TYPE_CHECKING:
    from pathlib import Path


def test_all_are_counted_and_the_first_are_kept() -> None:
    out = Differences()
    for number in range(MAX_FINDINGS + 5):
        out.add("missing-qrel", f"number {number}", path="qrels.jsonl", line=number + 1, id="q")
    out.add("extra-qrel", "late")
    assert out.total == MAX_FINDINGS + 6
    assert out.by_code == {"extra-qrel": 1, "missing-qrel": MAX_FINDINGS + 5}
    assert len(out.kept) == MAX_FINDINGS
    assert str(out.kept[0]) == "qrels.jsonl:1: number 0 [missing-qrel]"


def test_a_code_must_be_in_the_table() -> None:
    with pytest.raises(KeyError):
        Differences().add("no-such-code", "message")


def test_the_documentation_lists_every_code_with_its_meaning(repository: Path) -> None:
    text = (repository / "docs" / "gate.md").read_text("utf-8")
    assert dict(re.findall(r"^\| `([a-z-]+-[a-z-]+)` \| (.+) \|$", text, re.MULTILINE)) == dict(CODES)
    assert f"first {MAX_FINDINGS:,} are listed" in text


def test_codes_are_kebab_case_and_meanings_are_sentences() -> None:
    for code, meaning in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", code)
        assert meaning.endswith(".")
