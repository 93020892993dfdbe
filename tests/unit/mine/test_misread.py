"""Misread words: what is joined, what stays apart, and the law of it against all pairs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.mine.misread import MIN_LENGTH, TIMES_RARER, is_recognised, misreadings, skeleton

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.corpus import PageRow

ENGLISH = {"regarding", "rewarding", "groundwater", "monitoring", "phosphate", "modern", "burning"}


def find(**words: tuple[int, bool]) -> dict[str, tuple[str, ...]]:
    frequency = {word: n for word, (n, _) in words.items()}
    recognised = {word for word, (_, only) in words.items() if only}
    return misreadings(frequency, recognised, ENGLISH.__contains__)


def test_shapes_that_engines_confuse_are_one_word() -> None:
    found = find(
        groundwater=(12, False),
        groundwatcr=(1, True),
        groundvvater=(2, True),
        gr0undwater=(4, True),
        monitoring=(5, True),
        monitorlng=(1, True),
    )
    assert found == {
        "groundwater": ("gr0undwater", "groundvvater", "groundwatcr"),
        "monitoring": ("monitorlng",),
    }


@pytest.mark.parametrize(
    ("word", "other"),
    [
        pytest.param((("regarding", 9, False)), ("rewarding", 1, True), id="two-english-words"),
        pytest.param((("phosphate", 9, False)), ("phosphite", 1, True), id="another-vowel"),
        pytest.param((("groundwater", 9, False)), ("groundwatcr", 1, False), id="in-a-text-layer-too"),
        pytest.param((("groundwater", 9, False)), ("groundwatcr", 4, True), id="not-rare-enough"),
        pytest.param((("modern", 9, False)), ("modem", 1, True), id="short"),
        pytest.param((("groundwater", 9, False)), ("groundwater-s", 1, True), id="longer"),
    ],
)
def test_what_stays_apart(word: tuple[str, int, bool], other: tuple[str, int, bool]) -> None:
    assert find(**{text: (n, only) for text, n, only in (word, other)}) == {}


def test_a_word_that_can_be_two_is_neither() -> None:
    assert find(aquifier=(9, False), aqulfier=(9, False), aqu1fier=(1, True)) == {}


words = st.text("rnmcl1ieo", min_size=MIN_LENGTH - 1, max_size=MIN_LENGTH + 1)


@given(st.dictionaries(words, st.tuples(st.integers(1, 12), st.booleans()), max_size=16))
def test_misreadings_look_alike_are_rare_and_end_chains(given_words: dict[str, tuple[int, bool]]) -> None:
    found = find(**given_words)
    joined = [(word, variant) for word, variants in found.items() for variant in variants]
    assert len({variant for _, variant in joined}) == len(joined)
    for word, variant in joined:
        assert skeleton(word) == skeleton(variant)
        assert given_words[variant][1]
        assert given_words[word][0] >= TIMES_RARER * given_words[variant][0]
        assert variant not in found
    # And nothing that plainly should be joined is missed: a lone doubtful word beside a lone sound one.
    for (word, (n, only)), (variant, (m, doubtful)) in product(given_words.items(), repeat=2):
        alone = [other for other in given_words if skeleton(other) == skeleton(word)] in (
            [word, variant],
            [variant, word],
        )
        if alone and word != variant and not only and doubtful and word.isalpha() and n >= TIMES_RARER * m:
            assert (variant in found.get(word, ())) == (len(variant) >= MIN_LENGTH and len(word) >= MIN_LENGTH - 1)


def test_pages_say_whether_they_were_recognised(make_page_row: Callable[..., PageRow]) -> None:
    page = make_page_row(("text", "x"))
    assert not is_recognised(page)
    assert is_recognised(page.model_copy(update={"backend": "tesseract"}))
    assert is_recognised(page.model_copy(update={"flags": ("ocr",)}))
