"""Flags of pages and documents: broken text, other languages, placeholder text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_CID: Final = re.compile(r"\(cid:\d+\)")
_WORD: Final = re.compile(r"[^\W_]+")
_VOWEL: Final = re.compile(r"[aeiouy\u00c0-\uffff]")
"""Of lower-case words. Without regard to case the range would have "k" and "s", which go with the Kelvin sign and the
long s."""
_MEANINGLESS: Final = re.compile("[\ufffd\ue000-\uf8ff]")
_MIN_WORDS: Final = 40
"""Words from which a page can be judged."""
_MIN_DOCUMENT_WORDS: Final = 15
"""Words from which the language of a document can be told."""
_PLACEHOLDER_WORDS: Final = """
    lorem ipsum dolor amet consectetur adipiscing adipisicing eiusmod tempor incididunt labore magna aliqua
    veniam nostrud exercitation ullamco laboris aliquip commodo consequat duis aute irure reprehenderit
    voluptate velit cillum fugiat nulla pariatur excepteur occaecat cupidatat proident deserunt mollit
    vestibulum pellentesque curabitur vivamus phasellus ultricies
"""
_PLACEHOLDER: Final = frozenset(_PLACEHOLDER_WORDS.split())
_MIN_PLACEHOLDER: Final = 6

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
_ASCII_SEPARATORS: Final = {code: " " for code in range(128) if not chr(code).isalnum()}
_OTHER_SEPARATORS: Final = ("\u2013", "\u2014", "\u2022", "\u00a7", "\u00ae")
"""What most texts that are not ASCII have beyond it."""
_FIRST_NON_LATIN: Final = "\u0250"
_LANGUAGE_OF: Final = {word: code for code, words in _PROFILES.items() for word in words.split()}


@dataclass(slots=True)
class LanguageCount:
    """Words, and function words by language, of a piece of text."""

    n_words: int = 0
    n_latin: int = 0
    by_language: Counter[str] = field(default_factory=Counter)

    def add(self, other: LanguageCount) -> None:
        """Add the counts of another piece."""
        self.n_words += other.n_words
        self.n_latin += other.n_latin
        self.by_language.update(other.by_language)

    def language(self, min_words: int = _MIN_DOCUMENT_WORDS) -> str | None:
        """``en`` or another language with clearly more function words, None when they cannot tell."""
        if self.n_words < min_words:
            return None
        best = max(_PROFILES, key=lambda code: self.by_language[code])
        share = 5 if best == "en" else 8
        return best if self.by_language[best] * 100 >= share * self.n_words else None


def count_language(words: Sequence[str]) -> LanguageCount:
    """Count lower-case words by the language whose function words they are."""
    by_language = Counter(filter(None, map(_LANGUAGE_OF.get, words)))
    n_words = sum(map(str.isalpha, words))
    if "".join(words).isascii() or max(words, default="") < _FIRST_NON_LATIN:
        return LanguageCount(n_words, n_words, by_language)
    return LanguageCount(n_words, sum(word.isalpha() for word in words if word < _FIRST_NON_LATIN), by_language)


def words_of(text: str) -> list[str]:
    """Lower-case words of a matching text."""
    lowered = text.lower()
    if not lowered.isascii():
        for separator in _OTHER_SEPARATORS:
            lowered = lowered.replace(separator, " ")
    if lowered.isascii():  # the same words many times faster
        return lowered.translate(_ASCII_SEPARATORS).split()
    return _WORD.findall(lowered)


def text_flags(text: str, words: Sequence[str], counts: LanguageCount) -> set[str]:
    """Flags of a page's text.

    Args:
        text: The text of all blocks.
        words: Its words, lower-case.
        counts: Their languages.

    Returns:
        Some of ``replacement_chars``, ``cid_text``, ``low_word_ratio``, ``placeholder_text``, ``non_english``.
    """
    flags: set[str] = set()
    if "\ufffd" in text:
        flags.add("replacement_chars")
    if "(cid:" in text and _CID.search(text):
        flags.add("cid_text")
    if counts.n_words >= _MIN_WORDS:
        distinct = set(words)
        if len(distinct & _PLACEHOLDER) >= _MIN_PLACEHOLDER:
            flags.add("placeholder_text")
        if _is_low_word_ratio(words, distinct):
            flags.add("low_word_ratio")
        language = counts.language(_MIN_WORDS)
        if language not in {None, "en"} or 2 * counts.n_latin < counts.n_words:
            flags.add("non_english")
    return flags


def is_broken(texts: Sequence[str]) -> bool:
    """Whether the text layer of a page is of no use.

    Most characters have no meaning, and the blocks without such characters are no text to speak of: the labels of a
    diagram in a font without a Unicode mapping do not spoil the paragraphs around it.

    Args:
        texts: Of the page's blocks.
    """
    if not any(not text.isascii() and _MEANINGLESS.search(text) for text in texts):
        return False
    n_broken = n_all = n_words_whole = 0
    for text in texts:
        broken = len(_MEANINGLESS.findall(text))
        words = text.split()
        n_broken += broken
        n_all += sum(map(len, words))
        if not broken:
            n_words_whole += len(words)
    return 2 * n_broken > n_all and n_words_whole < _MIN_WORDS


def _is_low_word_ratio(words: Sequence[str], distinct: set[str]) -> bool:
    """Whether many of the distinct words have no vowel, or most words are single letters."""
    candidates = [word for word in distinct if len(word) > 2 and word.isalpha()]  # noqa: PLR2004 - long enough to be one
    without = sum(1 for word in candidates if not _VOWEL.search(word))
    if len(candidates) >= _MIN_WORDS and 4 * without > len(candidates):
        return True
    if 2 * [*map(len, words)].count(1) <= len(words):
        return False
    return 2 * sum(1 for word in words if len(word) == 1 and word.isalpha()) > len(words)
