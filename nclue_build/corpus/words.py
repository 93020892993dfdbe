"""The words of a page, and what is known of each of them.

Pages share most of their words: what a word is, is found out once and kept in arrays, so that a page is
counted by looking numbers up instead of by asking each of its words.
"""

from __future__ import annotations

import hashlib
import re
import threading
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.corpus.nontext import GENERATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WORD: Final = re.compile(r"[^\W_]+")
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
_ASCII_SEPARATORS: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_OTHER_SEPARATORS: Final = ("\u2013", "\u2014", "\u2022", "\u00a7", "\u00ae")
"""What most texts that are not ASCII have beyond it."""
_FIRST_NON_LATIN: Final = "\u0250"
_MIN_LONG: Final = 3
_MAX_KNOWN: Final = 1 << 17
"""Words to know at most: some 20 MiB."""


class Trait(IntEnum):
    """What a word can be; beside these, a function word of one of :data:`LANGUAGES`. Rare traits come last."""

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


_LANGUAGE_BITS: Final = len(LANGUAGES).bit_length()
"""The lowest bits of a kind say which language has the word for a function word, from 1 on; then come the traits."""
_KINDS: Final = np.arange(1 << (_LANGUAGE_BITS + len(Trait)))
_COUNTED: Final = np.column_stack(
    [
        *(_KINDS >> (_LANGUAGE_BITS + trait) & 1 for trait in Trait),
        *(np.equal(_KINDS % (1 << _LANGUAGE_BITS), number) for number in range(1, len(LANGUAGES) + 1)),
    ]
)
"""By kind, what a word of it counts for: each trait, then each language."""


def words_of(text: str) -> list[str]:
    """Lower-case words of a matching text."""
    lowered = text.lower()
    if not lowered.isascii():
        for separator in _OTHER_SEPARATORS:
            lowered = lowered.replace(separator, " ")
    if lowered.isascii():  # the same words many times faster
        return lowered.translate(_ASCII_SEPARATORS).split()
    return _WORD.findall(lowered)


class Words:
    """Words in their order, looked up.

    Args:
        words: Lower-case.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """Look them up; those that are new are remembered."""
        known = _kept.vocabulary
        if len(known) > _MAX_KNOWN:
            known = _kept.vocabulary = _Vocabulary()
        self._numbers = np.fromiter(map(known.__getitem__, words), dtype=np.intp, count=len(words))
        self._kinds = known.kinds
        self.hashes: NDArray[np.uint64] = known.hashes[self._numbers]
        """Of each word, 64 bits of its BLAKE2b digest."""
        self.counts = _count(known.kinds[self._numbers])
        """How many of the words have each trait, then how many are function words of each language."""

    def __len__(self) -> int:
        """How many words there are."""
        return len(self._numbers)

    def distinct_counts(self) -> list[int]:
        """The same as ``counts``, each word counted once."""
        ordered = np.sort(self._numbers)
        is_first = np.ones(len(ordered), dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
        return _count(self._kinds[ordered[is_first]])


def _count(kinds: NDArray[np.uint16]) -> list[int]:
    n_of_kind = np.bincount(kinds)
    counts: list[int] = (n_of_kind @ _COUNTED[: len(n_of_kind)]).tolist()
    return counts


class _Vocabulary(dict[str, int]):
    """Numbers of words, and by number what is known of them. A word asked for the first time gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = np.zeros(1 << 12, dtype=np.uint16)
        self.hashes = np.zeros(1 << 12, dtype=np.uint64)

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        if number == len(self.kinds):
            self.kinds = np.concatenate((self.kinds, np.zeros_like(self.kinds)))
            self.hashes = np.concatenate((self.hashes, np.zeros_like(self.hashes)))
        self.kinds[number] = _kind(word)
        self.hashes[number] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return number


def _kind(word: str) -> int:
    is_alphabetic = word.isalpha()
    is_long = is_alphabetic and len(word) >= _MIN_LONG
    has = {
        Trait.ALPHABETIC: is_alphabetic,
        Trait.LATIN: is_alphabetic and word < _FIRST_NON_LATIN,
        Trait.LETTER: is_alphabetic and len(word) == 1,
        Trait.LONG: is_long,
        Trait.NO_VOWEL: is_long and not _VOWEL.search(word),
        Trait.PLACEHOLDER: word in GENERATED,
    }
    traits = sum(1 << trait for trait, is_so in has.items() if is_so)
    return traits << _LANGUAGE_BITS | _LANGUAGE_OF.get(word, 0)


class _Kept(threading.local):
    """One vocabulary per thread: two that add words at once would give two words one number."""

    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()


_kept: Final = _Kept()
