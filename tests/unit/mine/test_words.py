from __future__ import annotations

import pytest

from nclue_build.mine import words


def classes(word: str) -> int:
    return int(words.classify([word])[0])


@pytest.mark.parametrize(
    ("word", "has", "lacks"),
    [
        ("groundwater", words.NOUN, words.GENERIC | words.COMMON | words.STOP),
        ("policy", words.NOUN | words.GENERIC | words.COMMON, words.VERB),
        ("of", words.STOP | words.LINK, words.NOUN),
        ("the", words.STOP | words.LINK, words.NOUN),
        ("because", words.STOP, words.LINK),
        ("provide", words.VERB, words.NOUN),
        ("quickly", words.ADVERB, words.NOUN),
        ("embodied", words.ADJECTIVE, words.PARTICIPLE),
        ("provided", words.PARTICIPLE, words.NOUN),
        ("january", words.CALENDAR, words.PROPER),
        ("2024", words.NUMBER, words.NOUN),
        ("covid-19", words.NOUN | words.PROPER, words.NUMBER),
        ("www.example.org", words.ODD, words.NOUN),
        ("agency's", words.POSSESSIVE | words.GENERIC, words.STOP),
        ("compliance", words.VAGUE | words.NOUN, words.GENERIC),
        ("suppliers", words.VAGUE | words.PLURAL, words.GENERIC),
        ("vacancy", words.FAMILIAR, words.COMMON | words.UNKNOWN),
        ("asthma", words.NOUN, words.FAMILIAR | words.COMMON | words.VAGUE),
        ("increase", words.NOUN | words.VERB_TOO, words.ODD),
    ],
)
def test_word_classes(word: str, has: int, lacks: int) -> None:
    assert classes(word) & has == has
    assert not classes(word) & lacks


def test_lists_hold_single_folded_words() -> None:
    for name, entries in words.LISTS.items():
        assert entries, name
        assert all(entry == entry.casefold() and " " not in entry for entry in entries), name
