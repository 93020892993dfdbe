from __future__ import annotations

import os

import pytest

from nclue_build.core.printable import escaped, printable_problem, without_controls


@pytest.mark.parametrize(
    ("text", "problem", "shown"),
    [
        ("caf\u00e9 report.pdf", None, "caf\u00e9 report.pdf"),
        (os.fsdecode(b"caf\xe9.pdf"), "is not UTF-8", r"caf\xe9.pdf"),
        ("\ud83d", "is not UTF-8", r"\ud83d"),
        ("a\nb", "has control characters", r"a\nb"),
        ("a\u2028b", "has control characters", r"a\u2028b"),
        ("\x1b[31m", "has control characters", r"\x1b[31m"),
    ],
)
def test_what_cannot_be_written_is_told_and_escaped(text: str, problem: str | None, shown: str) -> None:
    assert printable_problem(text) == problem
    assert escaped(text) == shown
    assert printable_problem(escaped(text)) is None


def test_line_ends_become_spaces_and_other_controls_go() -> None:
    assert without_controls("\tAnnual\r\nRe\x01port\x7f  2020\u2028") == "Annual Report  2020"
