from __future__ import annotations

import pytest

from nclue_build.corpus.quality import count_language, is_broken, text_flags
from nclue_build.corpus.words import Words, words_of

ENGLISH = "The office of the director is to report on the progress that was made with its plans for this year. " * 4
GERMAN = (
    "Die Verwaltung hat den Bericht nicht mit der Planung von dem Vorjahr und auch nicht mit dem Ziel verglichen. " * 4
)
LATIN = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. " * 4


def flags(text: str) -> set[str]:
    words = Words(words_of(text))
    return text_flags(text, words, count_language(words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENGLISH, set()),
        (GERMAN, {"non_english"}),
        (LATIN, {"placeholder_text"}),
        (ENGLISH + "\ufffd", {"replacement_chars"}),
        (ENGLISH + "(cid:12)(cid:44)", {"cid_text"}),
        ("\u0432\u0435\u0440\u043e\u044f\u0442\u043d\u043e " * 50, {"non_english"}),
        ("bcdf ghjk lmnp " * 2, set()),
    ],
)
def test_flags_say_what_is_wrong_with_a_page(text: str, expected: set[str]) -> None:
    assert flags(text) == expected


def test_text_without_vowels_is_no_text() -> None:
    consonants = "bcdfghjklmnpqrstvwxz"
    words = [a + b + c for a in consonants[:4] for b in consonants[4:8] for c in consonants[8:12]]
    assert "low_word_ratio" in flags(" ".join(words))


def test_k_and_s_are_no_vowels() -> None:
    words = [f"{first}{second}{third}" for first in "ks" for second in "ksbdfg" for third in "bcdfghjk"]
    assert "low_word_ratio" in flags(" ".join(words))
    accented = [f"{first}{vowel}{third}" for first in "ks" for vowel in "\u00e9\u00f8\u0430" for third in "bcdfghjk"]
    assert "low_word_ratio" not in flags(" ".join(accented))


@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (GERMAN, "de"), ("12 34 56", None), ("of", None)])
def test_function_words_tell_the_language(text: str, language: str | None) -> None:
    assert count_language(Words(words_of(text))).language() == language


def test_a_text_layer_of_meaningless_characters_is_broken() -> None:
    assert is_broken(["\ufffd\ufffd\ue001 ab"])
    assert not is_broken(["\ufffd abc"])
    assert not is_broken([""])
    assert is_broken(["\ue074he \ue06fffice of \ue074he di\ue072ec\ue074o\ue072"])  # some letters alone are lost
    assert not is_broken(["\uf0b7 Yes\n\uf0b7 No\n\uf0b7 All"])  # the marks of a list
