"""Flags of pages and documents: broken text, other languages, placeholder text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.nontext import MIN_LATIN
from nclue_build.corpus.words import LANGUAGES, Trait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.corpus.words import Words

_CID: Final = re.compile(r"\(cid:\d+\)")
_MEANINGLESS: Final = re.compile("[\ufffd-\uffff\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Signs of no meaning: for what is unknown, no characters at all, for private use."""
_BLANKS: Final = frozenset("_.-\u00b7\u2010\u2011\u2012\u2013\u2014\u2015\u2026")
"""What the blanks of forms are drawn with."""
_MIN_ODD: Final = 20
"""Signs from which a page without a letter or a figure is broken."""
_MIN_WORDS: Final = 40
"""Words from which a page can be judged."""
_MIN_DOCUMENT_WORDS: Final = 15
"""Words from which the language of a document can be told."""
_MIN_PLACEHOLDER: Final = 6


@dataclass(slots=True)
class LanguageCount:
    """How many words of a piece of text are letters alone, and Latin ones, and function words of each language."""

    n_words: int = 0
    n_latin: int = 0
    by_language: list[int] = field(default_factory=lambda: [0] * len(LANGUAGES))

    def add(self, other: LanguageCount) -> None:
        """Add the counts of another piece."""
        self.n_words += other.n_words
        self.n_latin += other.n_latin
        self.by_language = [mine + its for mine, its in zip(self.by_language, other.by_language, strict=True)]

    def language(self, min_words: int = _MIN_DOCUMENT_WORDS) -> str | None:
        """``en`` or another language with clearly more function words, None when they cannot tell."""
        if self.n_words < min_words:
            return None
        most = max(self.by_language)
        best = LANGUAGES[self.by_language.index(most)]
        share = 5 if best == "en" else 8
        return best if most * 100 >= share * self.n_words else None


def count_language(words: Words) -> LanguageCount:
    """Count words by the language whose function words they are."""
    counts = words.counts
    return LanguageCount(counts[Trait.ALPHABETIC], counts[Trait.LATIN], counts[len(Trait) :])


def text_flags(text: str, words: Words, counts: LanguageCount) -> set[str]:
    """Flags of a page's text.

    Args:
        text: The text of all blocks.
        words: Its words.
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
        flags |= _word_flags(words)
        language = counts.language(_MIN_WORDS)
        if language not in {None, "en"} or 2 * counts.n_latin < counts.n_words:
            flags.add("non_english")
    return flags


def may_have_placeholder(words: Words) -> bool:
    """Whether a page with these words can hold placeholder text at all."""
    # Distinct words are not more than words are: on nearly every page that settles it.
    return words.counts[Trait.SAMPLE] >= MIN_LATIN and words.distinct_counts()[Trait.SAMPLE] >= MIN_LATIN


def is_broken(texts: Sequence[str]) -> bool:
    """Whether the text layer of a page is of no use.

    Most characters have no meaning, or most words have such a one among their letters, and the blocks without such
    characters are no text to speak of: the labels of a diagram in a font without a Unicode mapping do not spoil the
    paragraphs around it. So it is where there is no letter and no figure, and what is there is no blanks of a form.

    Args:
        texts: Of the page's blocks.
    """
    if not any(any(map(str.isalnum, text)) for text in texts):
        signs = [sign for text in texts for sign in text if not sign.isspace()]
        n_odd = sum(sign not in _BLANKS for sign in signs)
        return n_odd >= _MIN_ODD and 2 * n_odd > len(signs)
    if not any(map(_MEANINGLESS.search, [text for text in texts if not text.isascii()])):
        return False
    n_broken = n_all = n_words_whole = n_words = n_torn = 0
    for text in texts:
        broken = len(_MEANINGLESS.findall(text))
        words = text.split()
        n_broken += broken
        n_all += sum(map(len, words))
        n_words += len(words)
        if broken:
            n_torn += sum(any(map(str.isalpha, word)) for word in words if _MEANINGLESS.search(word))
        else:
            n_words_whole += len(words)
    return n_words_whole < _MIN_WORDS and (2 * n_broken > n_all or 2 * n_torn > n_words)


def _word_flags(words: Words) -> set[str]:
    """What the words of a page show: many of placeholder texts, many without a vowel, or mostly single letters."""
    flags: set[str] = set()
    counts = words.counts
    if 2 * counts[Trait.LETTER] > len(words):
        flags.add("low_word_ratio")
    # Distinct words are not more than words are: on nearly every page that settles it.
    if counts[Trait.PLACEHOLDER] >= _MIN_PLACEHOLDER or 4 * counts[Trait.NO_VOWEL] > _MIN_WORDS:
        distinct = words.distinct_counts()
        if distinct[Trait.PLACEHOLDER] >= _MIN_PLACEHOLDER:
            flags.add("placeholder_text")
        if distinct[Trait.LONG] >= _MIN_WORDS and 4 * distinct[Trait.NO_VOWEL] > distinct[Trait.LONG]:
            flags.add("low_word_ratio")
    return flags
