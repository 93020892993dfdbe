"""The words of a page, and what is known of each of them.

Pages share most of their words, and most of the pieces between white space: what these are, is found out once and kept
as bytes, so that a page is counted by joining what is kept instead of by asking each of its words.
"""

from __future__ import annotations

import hashlib
import re
import threading
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from nclue_build.corpus.nontext import GENERATED, LATIN

if TYPE_CHECKING:
    from collections.abc import Iterable

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
"""Words to know at most, and pieces of text: some 20 MiB each."""


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


_NO_TRAIT: Final = (0,) * len(Trait)
_LANGUAGE_COUNTS: Final = [
    tuple(int(number == language) for number in range(1, len(LANGUAGES) + 1)) for language in range(len(LANGUAGES) + 1)
]
"""By number of a language, 0 for none: what its function words count for."""


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

    def __init__(self, words: Iterable[str]) -> None:
        """Look them up; those that are new are remembered."""
        self._take(b"".join(map(_kept.known().__getitem__, words)))

    @classmethod
    def of(cls, text: str) -> Self:
        """Those that :func:`words_of` finds in a matching text, many times faster."""
        words = cls.__new__(cls)
        words._take(b"".join(map(_kept.known().pieces.__getitem__, text.split())))  # noqa: SLF001 - of this class
        return words

    def _take(self, entries: bytes) -> None:
        table = np.frombuffer(entries, dtype="<u8").reshape(-1, 2)
        self.hashes: NDArray[np.uint64] = table[:, 0].astype(np.uint64)
        """Of each word, 64 bits of its BLAKE2b digest."""
        self._kinds = table[:, 1].astype(np.intp)
        self._counted = _kept.vocabulary.counted()
        self.counts = self._count(self._kinds)
        """How many of the words have each trait, then how many are function words of each language."""

    def __len__(self) -> int:
        """How many words there are."""
        return len(self._kinds)

    def distinct_counts(self) -> list[int]:
        """The same as ``counts``, each word counted once."""
        _, firsts = np.unique(self.hashes, return_index=True)
        return self._count(self._kinds[firsts])

    def _count(self, kinds: NDArray[np.intp]) -> list[int]:
        n_of_kind = np.bincount(kinds)
        counts: list[int] = (n_of_kind @ self._counted[: len(n_of_kind)]).tolist()
        return counts


class _Vocabulary(dict[str, bytes]):
    """What is known of words: 64 bits of the digest, then the number of the kind of word.

    Words of one kind count for the same: there are some dozens of kinds. A word asked for the first time is added.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pieces = _Pieces(self)
        self._kinds: dict[tuple[int, ...], int] = {}
        self._counted = np.zeros((0, len(Trait) + len(LANGUAGES)), dtype=np.intp)

    def __missing__(self, word: str) -> bytes:
        kind = self._kinds.setdefault(_counts_for(word), len(self._kinds))
        entry = self[word] = hashlib.blake2b(word.encode(), digest_size=8).digest() + kind.to_bytes(8, "little")
        return entry

    def counted(self) -> NDArray[np.intp]:
        """By kind, what a word of it counts for: each trait, then each language."""
        if len(self._counted) < len(self._kinds):
            self._counted = np.array(list(self._kinds), dtype=np.intp)
        return self._counted


class _Pieces(dict[str, bytes]):
    """What is known of the words of pieces of text without white space, one after the other."""

    def __init__(self, vocabulary: _Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, piece: str) -> bytes:
        entries = self[piece] = b"".join(map(self._vocabulary.__getitem__, words_of(piece)))
        return entries


def _counts_for(word: str) -> tuple[int, ...]:
    if not word.isalpha():
        return _NO_TRAIT + _LANGUAGE_COUNTS[0]
    is_long = len(word) >= _MIN_LONG
    traits = (
        1,
        int(word < _FIRST_NON_LATIN),
        int(is_long),
        int(len(word) == 1),
        int(is_long and not _VOWEL.search(word)),
        int(word in GENERATED),
        int(word in LATIN),
    )
    return traits + _LANGUAGE_COUNTS[_LANGUAGE_OF.get(word, 0)]


class _Kept(threading.local):
    """One vocabulary per thread: two that add words at once would give two words one number."""

    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()

    def known(self) -> _Vocabulary:
        """The vocabulary, emptied where it has grown too large."""
        if max(len(self.vocabulary), len(self.vocabulary.pieces)) > _MAX_KNOWN:
            self.vocabulary = _Vocabulary()
        return self.vocabulary


_kept: Final = _Kept()
