"""The words of a page, and what is known of each of them.

Pages share most of their words: what a word is, is found out once and kept as bytes, so that a page is counted by
joining what is kept instead of by asking each of its words.
"""

from __future__ import annotations

import hashlib
import re
import threading
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.corpus.nontext import GENERATED, LATIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_WORD: Final = re.compile(r"[^\W_]+")
_ASCII_VOWELS: Final = frozenset("aeiouy")
_VOWEL: Final = re.compile(r"[aeiouy\u00c0-\uffff]")
"""Of lower-case words. Without regard to case the range would have "k" and "s", which go with the Kelvin sign and the
long s."""

# Function words that tell these languages apart; none stands in two lists.
_PROFILES: Final = {
    "en": "the of and to is that for with was are by this from which be have has at were their its it not will",
    "de": "der und das von zu mit ist im f\u00fcr dem nicht eine ein auf werden wird sich auch sind oder als",
    "fr": "le les des est dans pour une que qui sur sont avec aux cette \u00eatre ont ou leur ces",
    "es": "el los las y del se por como su m\u00e1s este pero sus lo entre esta",
    "it": "il di che \u00e8 della non sono gli nel alla dei delle anche questo degli nella",
    "pt": "os da dos em n\u00e3o uma ao mais pela pelo foi s\u00e3o das",
    "nl": "het een en niet zijn voor aan wordt ook deze bij naar",
}
LANGUAGES: Final = tuple(_PROFILES)
_LANGUAGE_OF: Final = {word: number for number, words in enumerate(_PROFILES.values(), 1) for word in words.split()}
_ASCII_WORDS: Final = bytes(ord(char.lower() if char.isalnum() else " ") for char in map(chr, range(128))).ljust(256)
"""What is left of each ASCII character."""
_OTHER_SEPARATORS: Final = ("\u2013", "\u2014", "\u2022", "\u00a7", "\u00ae")
"""What most texts that are not ASCII have beyond it."""
_FIRST_NON_LATIN: Final = "\u0250"
_MIN_LONG: Final = 3
_MAX_KNOWN: Final = 1 << 17
"""Words to know at most: some 20 MiB."""


class Trait(IntEnum):
    """What a word can be; beside these, a function word of one of :data:`LANGUAGES`."""

    ALPHABETIC = 0
    """Letters alone."""
    LATIN = 1
    """Letters alone, and the first one is Latin."""
    LONG = 2
    """At least three letters, and nothing else."""
    LETTER = 3
    """A single letter."""
    NO_VOWEL = 4
    """At least three letters, none of them a vowel, and nothing else."""
    PLACEHOLDER = 5
    """Of the texts that layouts are tried out with."""
    SAMPLE = 6
    """Of these texts, or a word of Latin that stands between those."""


class _Shape(IntEnum):
    """What a word of letters alone is by its letters."""

    LETTER = 0
    SHORT = 1
    LONG = 2
    NO_VOWEL = 3


_SHAPE_TRAITS: Final = {
    _Shape.LETTER: {Trait.LETTER},
    _Shape.SHORT: set(),
    _Shape.LONG: {Trait.LONG},
    _Shape.NO_VOWEL: {Trait.LONG, Trait.NO_VOWEL},
}
_SETS: Final[list[set[Trait]]] = [set(), {Trait.SAMPLE}, {Trait.SAMPLE, Trait.PLACEHOLDER}]
"""Traits of words that are listed."""
_LISTED: Final = {
    word: (word in LATIN) + (word in GENERATED) << 3 | _LANGUAGE_OF.get(word, 0) for word in {*LATIN, *_LANGUAGE_OF}
}
"""Which of these sets a word has, and whose function word it is."""


def _kind(word: str) -> int:
    """A number for all that is known of a word: words of one kind count for the same."""
    if not word.isalpha():
        return 0
    shape = len(word) - 1  # _Shape.LETTER or _Shape.SHORT
    if len(word) >= _MIN_LONG:
        # The plain test first: many times faster, and it settles nearly every word.
        has_vowel = not _ASCII_VOWELS.isdisjoint(word) or (not word.isascii() and _VOWEL.search(word))
        shape = 2 if has_vowel else 3
    return 1 + (_LISTED.get(word, 0) << 3 | shape << 1 | (word < _FIRST_NON_LATIN))


def _counts_of_kinds() -> NDArray[np.intp]:
    counts = np.zeros((1 + (len(_SETS) << 6), len(Trait) + len(LANGUAGES)), dtype=np.intp)
    for kind in range(1, len(counts)):
        traits = _SETS[kind - 1 >> 6] | _SHAPE_TRAITS[_Shape(kind - 1 >> 1 & 3)] | {Trait.ALPHABETIC}
        counts[kind, list(traits)] = 1
        counts[kind, Trait.LATIN] = kind - 1 & 1
        if language := kind - 1 >> 3 & 7:
            counts[kind, len(Trait) + language - 1] = 1
    return counts


_COUNTED: Final = _counts_of_kinds()
"""By kind, what a word of it counts for: each trait, then each language."""


def words_of(text: str) -> list[str]:
    """Lower-case words of a matching text."""
    if not text.isascii():
        for separator in _OTHER_SEPARATORS:
            text = text.replace(separator, " ")
    if text.isascii():  # the same words many times faster
        return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()
    return _WORD.findall(text.lower())


class Words:
    """Words in their order, looked up.

    Args:
        words: Lower-case.
    """

    def __init__(self, words: Iterable[str]) -> None:
        """Look them up; those that are new are remembered."""
        entries = b"".join(map(_kept.known().__getitem__, words))
        table = np.frombuffer(entries, dtype="<u8").reshape(-1, 2)
        self.hashes: NDArray[np.uint64] = table[:, 0].astype(np.uint64)
        """Of each word, 64 bits of its BLAKE2b digest."""
        self._kinds = table[:, 1].astype(np.intp)
        self.counts = _count(self._kinds)
        """How many of the words have each trait, then how many are function words of each language."""

    def __len__(self) -> int:
        """How many words there are."""
        return len(self._kinds)

    def distinct_counts(self) -> list[int]:
        """The same as ``counts``, each word counted once."""
        _, firsts = np.unique(self.hashes, return_index=True)
        return _count(self._kinds[firsts])


def _count(kinds: NDArray[np.intp]) -> list[int]:
    n_of_kind = np.bincount(kinds)
    counts: list[int] = (n_of_kind @ _COUNTED[: len(n_of_kind)]).tolist()
    return counts


class _Vocabulary(dict[str, bytes]):
    """Of words, 64 bits of the digest, then the number of their kind. A word asked for the first time is added."""

    def __missing__(self, word: str) -> bytes:
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        entry = self[word] = digest + _kind(word).to_bytes(8, "little")
        return entry


class _Kept(threading.local):
    """One vocabulary per thread: two that add words at once would give two words one number."""

    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()

    def known(self) -> _Vocabulary:
        """The vocabulary, emptied where it has grown too large."""
        if len(self.vocabulary) > _MAX_KNOWN:
            self.vocabulary = _Vocabulary()
        return self.vocabulary


_kept: Final = _Kept()
