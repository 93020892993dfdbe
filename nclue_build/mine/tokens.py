r"""A document as arrays of word tokens.

An n-gram is a run of tokens that stand in one block with exactly one space between
neighbours, so that the n-gram is a verbatim piece of the matching text and never
crosses punctuation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.text import fold, matching_text
from nclue_build.mine.spelling import is_acronym

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from nclue_build.records.corpus import PageRow

TOKEN: Final = re.compile(r"[^\W_]+(?:['\-&/.][^\W_]+)*")
_SENTENCE_END = frozenset(".!?:;")
_CODE_BEFORE = frozenset("\\_@$=<{^|~#%")
_CODE_AFTER = frozenset("\\_@$=>}^|~({")

GAP_SPACE = 1
"""The next token follows after exactly one space, in the same block."""
GAP_COLON = 2
"""A colon follows."""
STARTS_SENTENCE = 4
"""First token of a block or after sentence punctuation."""
ENDS_BLOCK = 8
"""Last token of its block."""
IN_TITLE = 16
"""The block is a title."""
CAPITALISED = 32
"""First letter is a capital."""
ALL_CAPITALS = 64
"""Written like an acronym, or in capitals throughout."""
STARTS_BLOCK = 128
"""First token of its block, list items excepted: a short list item is no label."""
NUMERIC = 256
"""Starts with a digit."""
AFTER_CODE = 512
"""Directly after a sign that stands before words in code and markup only (a backslash, an at sign, a brace)."""
BEFORE_CODE = 1024
"""Directly before one that stands after words there (an equals sign, an opening parenthesis without a space)."""


@dataclass(frozen=True, slots=True)
class TokenStream:
    """The tokens of one document's allowed blocks, in reading order.

    Args:
        words: The tokens as they stand in the joined reading.
        folded: The same, case-folded.
        flags: uint16, bits of this module.
        pages: int32, 1-based physical page of each token.
    """

    words: list[str]
    folded: list[str]
    flags: NDArray[np.uint16]
    pages: NDArray[np.int32]


def tokenize(pages: Iterable[PageRow], allowed_roles: frozenset[str]) -> TokenStream:
    """Turn the allowed blocks of a document's pages into one token stream."""
    words: list[str] = []
    flags: list[int] = []
    page_numbers: list[int] = []
    for page in pages:
        for block in page.blocks:
            if block.role not in allowed_roles:
                continue
            before = len(words)
            base = IN_TITLE if block.role == "title" else 0
            first = base if block.role == "list" else base | STARTS_BLOCK
            _tokenize_block(matching_text(block.text), base, first, words, flags)
            page_numbers.extend([page.page] * (len(words) - before))
    return TokenStream(
        words, [fold(word) for word in words], np.array(flags, dtype=np.uint16), np.array(page_numbers, dtype=np.int32)
    )


def _tokenize_block(text: str, base: int, first: int, words: list[str], flags: list[int]) -> None:
    previous_end = -1
    for match in TOKEN.finditer(text):
        word, start = match.group(), match.start()
        flag = base
        if previous_end < 0:
            flag = first | STARTS_SENTENCE
        else:
            gap = text[previous_end:start]
            if gap == " ":
                flags[-1] |= GAP_SPACE
            else:
                if gap.startswith(":"):
                    flags[-1] |= GAP_COLON
                if not _SENTENCE_END.isdisjoint(gap):
                    flag |= STARTS_SENTENCE
        end = match.end()
        if start and text[start - 1] in _CODE_BEFORE:
            flag |= AFTER_CODE
        if end < len(text) and text[end] in _CODE_AFTER:
            flag |= BEFORE_CODE
        words.append(word)
        flags.append(flag | _spelling(word))
        previous_end = end
    if previous_end >= 0:
        flags[-1] |= ENDS_BLOCK
        if text.startswith(":", previous_end):
            flags[-1] |= GAP_COLON


def _spelling(word: str) -> int:
    """The bits that say how a word is written."""
    if word[0].isupper():
        return CAPITALISED | (ALL_CAPITALS if is_acronym(word) else 0)
    return NUMERIC if word[0].isdigit() else 0


def word_ids(folded: list[str], vocabulary: Mapping[str, int]) -> NDArray[np.int64]:
    """Vocabulary id of each token, 0 for words outside the vocabulary."""
    get = vocabulary.get
    return np.fromiter((get(word, 0) for word in folded), dtype=np.int64, count=len(folded))
