from __future__ import annotations

import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from nclue_build.corpus import words as module
from nclue_build.corpus.nontext import LATIN
from nclue_build.corpus.words import LANGUAGES, Trait, Words, words_of

KNOWN = [
    "the",
    "und",
    "het",
    "lorem",
    "ipsum",
    "gdp",
    "x",
    "7",
    "w2",
    "\u0432\u0435\u0440",
    "\u0432",
    "\u00e9t\u00e9",
    "bcd\u0250",
]
TEXTS = st.lists(st.sampled_from(KNOWN) | st.text(min_size=1, max_size=5).map(str.lower), max_size=60)


def plain_counts(words: list[str]) -> list[int]:
    alphabetic = [word for word in words if word.isalpha()]
    long = [word for word in alphabetic if len(word) >= 3]
    return [
        len(alphabetic),
        sum(word < "\u0250" for word in alphabetic),
        len(long),
        sum(len(word) == 1 for word in alphabetic),
        sum(not any(char in "aeiouy" or "\u00c0" <= char <= "\uffff" for char in word) for word in long),
        sum(word in {"lorem", "ipsum"} for word in words if word in KNOWN or word.isascii()),
        sum(word in LATIN for word in words),
        *(sum(module._LANGUAGE_OF.get(word) == number for word in words) for number, _ in enumerate(LANGUAGES, 1)),
    ]


@given(TEXTS)
def test_words_are_counted_as_if_each_were_asked(words: list[str]) -> None:
    found = Words(words)
    assert len(found) == len(words)
    assert found.counts == plain_counts(words)
    assert found.distinct_counts() == plain_counts([*dict.fromkeys(words)])
    assert len(found.counts) == len(Trait) + len(LANGUAGES)
    digests = [hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words]
    assert found.hashes.astype("<u8").tobytes() == b"".join(digests)


@given(st.text() | st.text(st.characters(max_codepoint=127)))
def test_words_are_runs_of_letters_and_digits(text: str) -> None:
    assert words_of(text) == re.findall(r"[^\W_]+", text.lower())


def test_a_vocabulary_grows_and_is_given_up_when_it_is_large() -> None:
    many = [f"word{number}" for number in range(module._MAX_KNOWN + 2)]
    before = Words(many[:3]).hashes.tolist()
    assert Words(many).hashes.tolist()[:3] == before
    full = module._kept.vocabulary
    assert Words(many[:3]).hashes.tolist() == before
    assert module._kept.vocabulary is not full
    assert len(module._kept.vocabulary) == 3
