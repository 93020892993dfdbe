from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.excerpt import MARK, excerpt
from nclue_build.core.text import matching_text

FILL = "one two three four five six seven eight nine ten"


def test_the_concept_at_the_end_is_shown() -> None:
    shown = excerpt(f"{FILL} {FILL} {FILL} {FILL} the hiring of Veterans.", ["veteran", "veterans"], 60)
    assert shown.startswith("...")
    assert shown.endswith(" the hiring of **Veterans**.")
    assert len(shown) <= 60 + 7


def test_the_concept_in_the_middle_has_words_on_both_sides() -> None:
    shown = excerpt(f"{FILL} {FILL} oak trees {FILL} {FILL}", ["oak trees"], 40)
    assert shown == "...eight nine ten **oak trees** one two three..."


def test_a_short_quote_is_whole() -> None:
    assert excerpt("All about oak trees.", ["oak trees"]) == "All about **oak trees**."


def test_lines_are_joined_as_matching_joins_them() -> None:
    assert excerpt("community col-\nleges and\nothers", ["community colleges"]) == "**community colleges** and others"
    assert excerpt("low-\ncost homes", ["low-cost"]) == "**low-cost** homes"


def test_words_that_only_hold_the_concept_are_not_it() -> None:
    assert excerpt("Seaports near a port", ["port"]) == "Seaports near a **port**"


def test_without_the_concept_the_beginning_is_shown() -> None:
    assert excerpt(f"{FILL} {FILL}", ["oak"], 20) == "one two three four..."
    assert excerpt("x" * 30, ["oak"], 20) == "x" * 20 + "..."


@pytest.mark.parametrize("width", [1, 5, 30, 400])
@given(before=st.text(max_size=80), after=st.text(max_size=80))
def test_the_concept_is_always_whole_and_marked_once(width: int, before: str, after: str) -> None:
    text = matching_text(f"{before.replace('*', '')} oak trees {after.replace('*', '')}")
    shown = excerpt(text, ["oak trees"], width)
    assert shown.count(MARK) == 2
    assert shown.split(MARK)[1].casefold() == "oak trees"
    assert shown.replace(MARK, "").removeprefix("...").removesuffix("...").strip() in text
    assert len(shown) <= max(width, len("oak trees")) + 2 * len(MARK) + 6
