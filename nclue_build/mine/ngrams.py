"""N-grams of a token stream as 64-bit keys, all at once.

Keys are polynomials over vocabulary ids modulo 2**64. With the 30 million distinct n-grams of the
study's size, the chance that any two share a key is about 3 in 100,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import find_sorted
from nclue_build.mine import tokens, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_WORDS: Final = 5
"""Longest candidate, in words. Longer names enter through acronym definitions."""
TEMPLATE_WORDS: Final = 8
"""Length of the word runs whose repetition across documents marks template text."""

_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_MASK: Final = (1 << 64) - 1
_SALT: Final = np.uint64(0xD6E8FEB86659FD93)


def mix(ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Spread vocabulary ids over 64 bits (the finaliser of SplitMix64)."""
    value = ids.astype(np.uint64) * _MULTIPLIER
    value ^= value >> np.uint64(30)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    value ^= value >> np.uint64(27)
    value *= np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def keys(mixed: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Key of the ``length`` tokens starting at each position.

    Args:
        mixed: :func:`mix` of the ids, length T.
        length: Words per n-gram.

    Returns:
        uint64 of length max(0, T - length + 1).
    """
    count = len(mixed) - length + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    # The salt tells lengths apart; Python integers wrap without a warning.
    value = np.full(count, (length * int(_SALT)) & _MASK, dtype=np.uint64)
    for offset in range(length):
        value = value * _MULTIPLIER + mixed[offset : offset + count]
    return value


def runs(flags: NDArray[np.uint16], length: int) -> NDArray[np.bool_]:
    """Whether ``length`` tokens from each position on are joined by single spaces."""
    count = len(flags) - length + 1
    if count <= 0:
        return np.zeros(0, dtype=np.bool_)
    joined = (flags & tokens.GAP_SPACE) != 0
    result = np.ones(count, dtype=np.bool_)
    for offset in range(length - 1):
        result &= joined[offset : offset + count]
    return result


def template_runs(ids: NDArray[np.int64], flags: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Whether :data:`TEMPLATE_WORDS` known words from each position on stand in one block, punctuation allowed.

    A word outside the vocabulary is in too few documents for a repeated run.
    """
    count = len(flags) - TEMPLATE_WORDS + 1
    if count <= 0:
        return np.zeros(0, dtype=np.bool_)
    inside = (flags & tokens.ENDS_BLOCK) == 0
    result = np.ones(count, dtype=np.bool_)
    for offset in range(TEMPLATE_WORDS):
        result &= ids[offset : offset + count] > 0
        if offset < TEMPLATE_WORDS - 1:
            result &= inside[offset : offset + count]
    return result


def noun_phrases(classes: NDArray[np.uint32], flags: NDArray[np.uint16], length: int) -> NDArray[np.bool_]:
    """Whether the ``length`` tokens from each position on can be a noun phrase.

    The pattern is Justeson & Katz (1995) widened by link words: modifiers and nouns, ending on a
    noun, with at most one inner link ("of", "and", "for the", ...), nothing that can only be a verb
    or adverb.
    """
    result = runs(flags, length)
    count = len(result)
    if not count:
        return result

    def has(bits: int, offset: int) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (classes[offset : offset + count] & np.uint32(bits)) != 0
        return found

    result &= has(words.NOUN, length - 1)
    result &= ~has(words.NEVER_LAST, length - 1)
    result &= ~has(words.NEVER_FIRST, 0)
    if length == 1:
        return result
    links = np.zeros(count, dtype=np.int8)
    for offset in range(1, length - 1):
        link = has(words.LINK, offset)
        result &= link | ~has(words.NEVER_INSIDE, offset)
        starts_link = link & ~has(words.LINK, offset - 1)
        links += starts_link
    return result & (links <= 1)


def candidate_places(
    mixed: NDArray[np.uint64],
    classes: NDArray[np.uint32],
    flags: NDArray[np.uint16],
    length: int,
    named: NDArray[np.uint64],
) -> NDArray[np.bool_]:
    """Whether the ``length`` tokens from each position on are a noun phrase, or a form that was named.

    Args:
        mixed: From :func:`mix`.
        classes: uint32 per token.
        flags: uint16 per token.
        length: In words.
        named: uint64, sorted keys of forms that count whatever their words look like.
    """
    result = noun_phrases(classes, flags, length)
    if len(named) and len(result):
        result |= runs(flags, length) & (find_sorted(named, keys(mixed, length)) >= 0)
    return result


def count_documents(
    arrays: Sequence[NDArray[np.uint64]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Document frequency of keys, from one array of distinct keys per document.

    Returns:
        Sorted distinct keys, how many documents hold each, and the index of the first one that does.
    """
    if not arrays:
        empty = np.zeros(0, dtype=np.int64)
        return np.zeros(0, dtype=np.uint64), empty, empty
    joined = np.concatenate(arrays)
    owner = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    unique, first, counts = np.unique(joined, return_index=True, return_counts=True)
    return unique, counts, owner[first]
