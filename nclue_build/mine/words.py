"""What a word can be: part-of-speech classes of the vocabulary, from HanTa and short word lists.

Wartena (2019), "A Probabilistic Morphology Model for German Lemmatization" describes the tagger; its
English model carries BNC tags. Words are tagged once per vocabulary, out of context, so a word has a *set* of
classes.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from nclue_build.core.english import function_words, singular

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

STOP = 1
NOUN = 2
ADJECTIVE = 4
VERB = 8
"""Only a verb form: no noun or adjective reading comes near it."""
ADJECTIVE_FIRST = 65536
"""Reads better as an adjective than as a noun."""
ADVERB = 16
PARTICIPLE = 32
NUMBER = 64
PROPER = 128
GENERIC = 256
"""A noun or adjective that names no topic by itself."""
ODD = 512
"""Not a plain word: web address, path, code."""
CALENDAR = 1024
LINK = 2048
"""A function word that may stand inside a name."""
PLURAL = 4096
POSSESSIVE = 32768
"""Ends in 's: inside a name at most ("Children's Health Insurance Program")."""
COMMON = 16384
"""So frequent in general English that it names no topic by itself (in the tagger's BNC counts)."""
UNKNOWN = 131072
"""The tagger has never seen it: a technical word, a brand, a new name."""
FAMILIAR = 262144
"""Frequent in general English, if not so much that it names no topic: it has to be said often to be one."""
VAGUE = 524288
"""An abstract noun, or the name of a role: a topic together with another word only ("compliance", "suppliers")."""
VERB_TOO = 8192
"""Also common as a verb: the context decides."""

_TagTable: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]

NEVER_FIRST = STOP | VERB | ADVERB | PARTICIPLE | NUMBER | ODD
NEVER_LAST = STOP | NUMBER | ODD | POSSESSIVE
NEVER_INSIDE = STOP | VERB | NUMBER | ODD


def _word_lists() -> dict[str, frozenset[str]]:
    text = resources.files(__package__).joinpath("english.toml").read_text(encoding="utf-8")
    lists = {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}
    return lists | {"stop": lists["stop"] | lists["placeholder"] | function_words()}


LISTS: Final = _word_lists()
"""Word lists by name (english.toml)."""
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['\-&][^\W\d_]+)*\Z")
_LETTER_AND_DIGIT = re.compile(r"(?=.*[^\W\d_]{2})(?=.*\d)[\w\-]+\Z")
_NUMERAL = re.compile(r"[\W\d_]*\d[\W\d_]*(?:st|nd|rd|th|s)?\Z")
_ROMAN = re.compile(r"[ivxl]{1,6}\Z")
_READINGS: Final[_TagTable] = ((NOUN, ("N",)), (PLURAL, ("NN2",)), (ADJECTIVE, ("AJ",)), (VERB_TOO, ("VV",)))
"""BNC tags of the readings that count when they come near the best one."""
_ONLY: Final[_TagTable] = (
    (PARTICIPLE, ("VVG", "VVN", "VVD")),
    (VERB, ("V",)),
    (ADVERB, ("AV",)),
    (STOP, ("PR", "CJ", "DT", "AT", "PN", "DP")),
)
"""What a word is whose best reading is neither noun nor adjective; first match wins."""
_NEAR = 1.5
"""Readings within this many nats of the best one count as possible."""
_COMMON = -11.5
"""Log probability of a word given its tag from which it is common; "procurement" has -11.5, "policy" -8.5."""
_FAMILIAR = -13.2
"""The same for familiar words: "vacancy" has -12.7, "asthma" -15."""
_UNKNOWN = -20.0
"""Below this, a reading is a guess from the word's shape."""
_MIN_LENGTH = 2


@lru_cache(maxsize=1)
def _tagger() -> Any:
    from HanTa.HanoverTagger import HanoverTagger  # noqa: PLC0415 - heavy: loads its model

    return HanoverTagger("morphmodel_en.pgz")


def classify(folded: Iterable[str]) -> NDArray[np.uint32]:
    """Classes of each word (bits of this module), out of context.

    Args:
        folded: Case-folded words.

    Returns:
        uint32, parallel to the words.
    """
    return np.array([_classify(word) for word in folded], dtype=np.uint32)


def _classify(word: str) -> int:
    if word in LISTS["stop"] or len(word) < _MIN_LENGTH:
        return STOP | (LINK if word in LISTS["links"] else 0)
    if word in LISTS["calendar"]:
        return NOUN | CALENDAR | GENERIC
    if _NUMERAL.match(word) or _ROMAN.match(word):
        return NUMBER
    if not _PLAIN_WORD.match(word):
        return NOUN | PROPER if _LETTER_AND_DIGIT.match(word) else ODD
    base = word.removesuffix("'s")
    generic = GENERIC if base in LISTS["generic_nouns"] or base in LISTS["generic_adjectives"] else 0
    if base != word:
        return NOUN | POSSESSIVE | generic
    vague = VAGUE if base in LISTS["vague_nouns"] or singular(base) in LISTS["vague_nouns"] else 0
    return _parts_of_speech(word) | generic | vague


def _parts_of_speech(word: str) -> int:
    # Rounded, so that a last bit that differs between processors decides nothing.
    readings = [(tag, round(float(score), 6)) for tag, score in _tagger().tag_word(word)]
    top, best = readings[0]
    possible = [tag for tag, score in readings if best - score <= _NEAR]
    result = _frequency(best)
    for bit, prefixes in _READINGS:
        if any(tag.startswith(prefixes) for tag in possible):
            result |= bit
    if top == "NP0":
        result |= PROPER
    if top.startswith("AJ"):
        result |= ADJECTIVE_FIRST
    if result & (NOUN | ADJECTIVE):
        return result
    if top == "VVN" and not result & COMMON:
        return result | ADJECTIVE  # "embodied carbon", "displaced persons": rare participles are modifiers
    for bit, prefixes in _ONLY:
        if top.startswith(prefixes):
            return result | bit
    return result | NOUN


def _frequency(score: float) -> int:
    if score >= _COMMON:
        return COMMON
    if score >= _FAMILIAR:
        return FAMILIAR
    return UNKNOWN if score < _UNKNOWN else 0
