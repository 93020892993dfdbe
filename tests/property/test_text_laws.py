r"""LAW: a form occurs in a text where the text equals it and no word character (``\w``) touches either end."""

from __future__ import annotations

import re
from typing import Final

from hypothesis import example, given
from hypothesis import strategies as st

from nclue_build.core.text import fold, is_word, matching_text, occurs, readings

CHARACTERS = st.text(st.sampled_from(list("aAb1_ -.'\u00e9\u00df\u0130\u0301\u00b2\u4e00\uff21")), max_size=24)


@example("a", "aa a")
@example("a-a", "a-a-a-a b")
@example("aa a", "aaa a aa a")
@given(CHARACTERS.filter(lambda form: bool(form) and is_word(form[0]) and is_word(form[-1])), CHARACTERS)
def test_occurs_is_what_a_regular_expression_with_word_bounds_finds(form: str, text: str) -> None:
    for one, reading in ((form, text), (fold(form), fold(text)), (matching_text(form), matching_text(text))):
        assert occurs(one, reading) == bool(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", reading))


@given(CHARACTERS, st.sampled_from(["", " ", ". ", "- "]), st.sampled_from(["", " ", ", ", " b"]))
def test_a_form_occurs_where_it_stands_alone(form: str, before: str, after: str) -> None:
    if form and is_word(form[0]) and is_word(form[-1]):
        assert occurs(form, before + form + after)


BROKEN: Final = st.text(
    st.sampled_from(list("aA1_ -.\n\r\u00a0\u00ad\u2011\u200b\u00b9\u2019\ufb01\u0301\ue000")), max_size=24
)


@given(BROKEN)
def test_a_text_reads_the_same_whichever_hyphens_stand_elsewhere(text: str) -> None:
    """A text without rare hyphens is searched by a pattern of its own."""
    rare, plain = f"{text} \u2010 .", f"{text} - ."
    assert readings(rare) == readings(plain)
    assert matching_text(rare) == matching_text(plain)


@given(BROKEN)
def test_white_space_of_a_reading_is_single_blanks(text: str) -> None:
    for reading in (matching_text(text), *readings(text)):
        assert reading == " ".join(reading.split())
