"""What is known of English words: its function words, and a light singular and plural.

The lists are data (``english.toml``), read when first asked for. All words are case-folded.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final, Literal

WordKind = Literal["articles", "prepositions", "conjunctions", "pronouns", "auxiliaries", "others"]
_KINDS: Final[tuple[WordKind, ...]] = (
    "articles",
    "prepositions",
    "conjunctions",
    "pronouns",
    "auxiliaries",
    "others",
)
_MIN_PLURAL: Final = 4


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("english.toml").read_text(encoding="utf-8"))


@cache
def function_words(*kinds: WordKind) -> frozenset[str]:
    """Function words of some kinds, of all kinds when none is named.

    Args:
        kinds: ``pronouns`` include question words and "there", ``others`` are determiners and adverbs of degree.
    """
    return frozenset(word for kind in kinds or _KINDS for word in _data()[kind].split())


@cache
def _irregular() -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """Plural to singular, singular to plural, and words that only look like plurals."""
    plurals: dict[str, str] = _data()["plurals"]
    return plurals, {base: word for word, base in reversed(plurals.items())}, frozenset(_data()["ends_in_s"].split())


@lru_cache(maxsize=1 << 17)
def singular(word: str) -> str:
    """Light singular of a word; unchanged when in doubt."""
    singular_of, _, ends_in_s = _irregular()
    if word in singular_of:
        return singular_of[word]
    if (
        len(word) < _MIN_PLURAL
        or word in ends_in_s
        or not word.endswith("s")
        or word.endswith(("ss", "us", "is", "'s"))
    ):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > _MIN_PLURAL else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def plural(word: str) -> str:
    """Regular (or listed irregular) plural of a singular word."""
    plural_of = _irregular()[1]
    if word in plural_of:
        return plural_of[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "sh", "ch", "x", "z")):
        return word + "es"
    return word + "s"
