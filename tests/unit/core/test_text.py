from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.text import clean_raw, fold, is_word, matching_text, readings


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  a \t b\nc  ", "a b c"),
        ("ﬁscal oﬃce", "fiscal office"),
        ("co\u00adoperate", "cooperate"),
        ("\u201cquoted\u201d \u2018it\u2019s\u2019", "\"quoted\" 'it's'"),
        ("non\u2011profit \u2010", "non-profit -"),
        ("Congress\u00b9 met", "Congress 1 met"),
        ("e\u200b\u0301t\u00e9", "été"),
        ("\uff21\uff22\uff23", "ABC"),
        ("x\x00y\x07z", "xyz"),
        ("govern-\nment", "government"),
        ("govern-  \n  ment", "government"),
        ("3 - \n4", "3 - 4"),
    ],
)
def test_matching_text(raw: str, expected: str) -> None:
    assert matching_text(raw) == expected


def test_a_broken_word_has_two_readings() -> None:
    assert readings("cost-\neffective plan") == ("costeffective plan", "cost-effective plan")
    assert readings("plain text\nof two lines") == ("plain text of two lines",)
    assert readings("co\u00ad\noperate") == ("cooperate", "co-operate")


@given(st.text(max_size=60))
def test_matching_text_is_idempotent_and_the_first_reading(text: str) -> None:
    once = matching_text(text)
    assert matching_text(once) == once
    assert readings(text)[0] == once


@given(st.text(max_size=60))
def test_fold_keeps_the_length_and_is_idempotent(text: str) -> None:
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded
    assert fold("Straße") == "straße"


@given(st.characters())
def test_word_characters_are_those_of_re(char: str) -> None:
    assert is_word(char) == bool(re.match(r"\w", char))


def test_raw_text_is_made_storable_and_says_so() -> None:
    assert clean_raw("fine") == ("fine", frozenset())
    text, flags = clean_raw("a\x00b\ud800c")
    assert text == "ab\ufffdc"
    assert flags == {"nul_removed", "surrogates_removed"}
    text.encode("utf-8")
