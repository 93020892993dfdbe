"""The documentation and the code agree on the codes of ``validate``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nclue_build.rederive.differences import CODES as GATE_CODES
from nclue_build.workflow.validation.codes import CODES

if TYPE_CHECKING:
    from pathlib import Path


def test_every_code_that_is_used_is_declared(repository: Path) -> None:
    sources = "".join(path.read_text() for path in (repository / "nclue_build/workflow/validation").glob("*.py"))
    used = set(re.findall(r'(?:report|self)\.add\(\s*"([a-z-]+)"', sources))
    used |= set(re.findall(r'"((?:duplicate|output|stale)-[a-z]+)"', sources))
    assert len(used) > 15
    assert used - CODES.keys() == set()


def test_every_code_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [code for code, meaning in CODES.items() if f"| `{code}` | {meaning} |" not in text] == []


def test_codes_shared_with_the_gate_exist_there() -> None:
    shared = {"digest-differs", "duplicate-document", "duplicate-qrel", "unknown-condition", "page-rows-differ"}
    assert shared <= CODES.keys() & GATE_CODES.keys()
