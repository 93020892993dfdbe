"""The list of findings, and the table of their codes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError, Finding
from nclue_build.core.findings import CODES, GROUPS, MAX_FINDINGS, Findings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CODE = re.compile(r"[a-z]+(-[a-z]+)*")
MAKERS = {"Finding", "add", "_unreadable"}
"""What is called with a code as its first argument."""


def test_all_are_counted_and_the_first_are_kept() -> None:
    found = Findings()
    for number in range(MAX_FINDINGS + 5):
        found.add("missing-qrel", f"number {number}", path="qrels.jsonl", line=number + 1, id="q")
    found.add("extra-qrel", "late")
    assert found.total == MAX_FINDINGS + 6
    assert found.by_code == {"extra-qrel": 1, "missing-qrel": MAX_FINDINGS + 5}
    assert len(found.kept) == MAX_FINDINGS
    assert str(found.kept[0]) == "qrels.jsonl:1: number 0 [missing-qrel]"


def test_lists_merge_with_their_counts() -> None:
    one, two = Findings([Finding("extra-qrel", "a")]), Findings()
    for number in range(MAX_FINDINGS + 5):
        two.add("missing-qrel", f"number {number}")
    one.merge(two)
    assert one.by_code == {"extra-qrel": 1, "missing-qrel": MAX_FINDINGS + 5}
    assert len(one.kept) == MAX_FINDINGS
    assert one.kept[0].message == "a"


def test_everything_found_is_one_error_that_counts_what_it_does_not_show() -> None:
    Findings().raise_any()
    found = Findings()
    for number in range(MAX_FINDINGS + 5):
        found.add("missing-qrel", f"number {number}")
    with pytest.raises(DataError, match=rf"number 0 \[missing-qrel\]\n(.*\n)+\.\.\. and {MAX_FINDINGS + 5 - 20} more"):
        found.raise_any()


def test_a_code_must_be_in_the_table() -> None:
    with pytest.raises(KeyError):
        Findings().add("no-such-code", "message")
    with pytest.raises(KeyError):
        Findings([Finding("no-such-code", "message")])


def test_the_documentation_is_the_table(repository: Path) -> None:
    text = (repository / "docs" / "findings.md").read_text("utf-8")
    assert re.findall(r"^## (.+)$|^\| `([a-z-]+)` \| (.+) \|$", text, re.MULTILINE) == [
        row
        for group, codes in GROUPS.items()
        for row in [(group, "", ""), *(("", code, meaning) for code, meaning in codes.items())]
    ]
    assert f"first {MAX_FINDINGS:,} are listed" in text


def test_codes_are_unique_kebab_case_and_meanings_are_sentences() -> None:
    assert len(CODES) == sum(map(len, GROUPS.values()))
    assert len(set(CODES.values())) == len(CODES)
    for code, meaning in CODES.items():
        assert CODE.fullmatch(code)
        assert meaning.endswith(".")


def strings(node: ast.AST) -> Iterator[str]:
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def test_every_code_that_is_used_is_in_the_table_and_the_reverse(repository: Path) -> None:
    made: set[str] = set()
    mentioned: set[str] = set()
    for path in sorted((repository / "nclue_build").rglob("*.py")):
        if path.name == "findings.py":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        mentioned.update(strings(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                if name in MAKERS:
                    made.update(code for code in strings(node.args[0]) if "-" in code and CODE.fullmatch(code))
    assert made - CODES.keys() == set()
    assert CODES.keys() - mentioned == set()
