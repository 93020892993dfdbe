from __future__ import annotations

import pickle

import pytest

from nclue_build.core import errors
from nclue_build.core.errors import DataError, Finding


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("c", "wrong"), "wrong [c]"),
        (Finding("c", "wrong", "a.jsonl"), "a.jsonl: wrong [c]"),
        (Finding("c", "wrong", "a.jsonl", 3, "x"), "a.jsonl:3: wrong [c]"),
    ],
)
def test_findings_say_where(finding: Finding, text: str) -> None:
    assert str(finding) == text


def test_many_findings_make_one_error() -> None:
    error = DataError.from_findings([Finding("c", f"row {number}") for number in range(25)])
    assert len(error.findings) == 25
    assert error.message.splitlines()[-1] == "... and 5 more"
    assert len(error.message.splitlines()) == 21


@pytest.mark.parametrize("name", ["UsageError", "DataError", "OutcomeError", "InternalError"])
def test_errors_survive_the_way_between_processes(name: str) -> None:
    error = getattr(errors, name)("broken", [Finding("c", "wrong", line=1)])
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is type(error)
    assert (again.message, again.findings, again.exit_code) == (error.message, error.findings, error.exit_code)
