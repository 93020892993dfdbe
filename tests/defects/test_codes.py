"""Every code there is has a fault that provokes it: planted in this folder, or in a test of what alone can find it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nclue_build.core.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

ELSEWHERE = {
    "tests/unit/calls/client": ("call-failed",),
    "tests/unit/fetch": (
        "system-error", "fetch-gone", "fetch-not-pdf", "fetch-too-large", "fetch-cut-short", "fetch-failed",
        "not-fetched",
    ),
    "tests/unit/calls": (
        "call-conflict", "call-misplaced", "call-torn", "call-rejected", "call-secret", "call-status-differs",
        "call-unknown", "frozen-miss",
    ),
    "tests/unit/corpus": (
        "document-failed", "source-below-rate", "removal-differs", "password-unused", "page-failed",
        "page-count-differs", "page-range-unknown", "text-only-in-pdf", "unknown-item-type", "bad-file-name",
    ),
    "tests/defects": (
        "bad-response", "decision-conflict", "decision-page", "decisions-differ", "duplicate-decision",
        "override-differs", "query-missing", "repair-differs",
    ),
    "tests/unit/store": ("bad-run-row", "bad-run-score", "duplicate-run-row"),
    "tests/unit/cli": (
        "run-query-missing", "table-drift", "unknown-run-id",
        "usage-error", "unknown-key", "bad-value", "not-fit", "nothing-to-deliver",
        "interrupted", "internal-error", "output-altered", "output-missing", "stale-stage",
        "outdated-benchmark",
    ),
}  # fmt: skip
"""Codes that need more than a build on disk: a server, a PDF, a command line, the receipt of a run."""
WITHOUT_A_FAULT = {
    "data-error": "the name of an error that brings findings with codes of their own",
    "call-error": "the name of an error whose findings have codes of their own",
    "release-error": "no stage makes a release yet",
}
FORMS = {"not-canonical", "byte-order-mark", "bad-record"}
"""Planted in every file by test_validated_faults.py."""


def test_every_code_is_planted(repository: Path, load_script: Callable[[Path], Any]) -> None:
    folder = repository / "tests" / "defects"
    planted = set(FORMS)
    for name in ("test_planted_faults", "test_validated_faults"):
        faults = load_script(folder / f"{name}.py").FAULTS
        planted |= set().union(*(codes for _, codes in faults.values()))
    elsewhere = {code for codes in ELSEWHERE.values() for code in codes}
    assert planted | elsewhere | WITHOUT_A_FAULT.keys() == CODES.keys()
    assert not planted & WITHOUT_A_FAULT.keys()


def test_what_is_said_to_be_planted_elsewhere_is(repository: Path) -> None:
    for folder, codes in ELSEWHERE.items():
        paths = [path for path in sorted((repository / folder).glob("*.py")) if path != Path(__file__)]
        sources = "".join(path.read_text("utf-8") for path in paths)
        assert [code for code in codes if code not in sources] == []


def test_there_are_many_kinds(repository: Path, load_script: Callable[[Path], Any]) -> None:
    folder = repository / "tests" / "defects"
    kinds = [load_script(folder / f"{name}.py").FAULTS for name in ("test_planted_faults", "test_validated_faults")]
    assert sum(map(len, kinds)) >= 200
