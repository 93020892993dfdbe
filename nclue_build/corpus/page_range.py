"""Telling that another program read only a range of pages and began to count at its first one.

MinerU 2.x and 3.x cut the PDF first (``-s``, ``-e``), so that their page numbers begin at 0 again. A content list
leaves empty pages out as well: by its numbers, a range of pages looks like a document that ends in empty ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.text import matching_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAX_COMPARED: Final = 24
"""Pages that are looked at: those with most words."""
_CLEARLY: Final = 2
"""How many times as many words have to stand on the other pages: heads and common words are on all of them."""


def first_page_of_range(given: Mapping[int, Sequence[str]], known: Sequence[Sequence[str]]) -> int:
    """The page of the PDF that what was given as page 0 is, by the words on both; 0 where nothing speaks against it.

    Args:
        given: Texts by 0-based number, as the other program counts.
        known: Texts of every page of the PDF.
    """
    last = max(given, default=-1)
    n_more = len(known) - last - 1
    if n_more <= 0 or not any(map(any, known[last + 1 :])):
        return 0
    words = {index: _words(texts) for index, texts in given.items()}
    compared = sorted(words, key=lambda index: (-len(words[index]), index))[:_MAX_COMPARED]
    on_pages = [_words(texts) for texts in known]
    shared = [sum(len(words[index] & on_pages[index + offset]) for index in compared) for offset in range(n_more + 1)]
    best = max(range(n_more + 1), key=lambda offset: (shared[offset], -offset))
    return best if shared[best] > _CLEARLY * shared[0] else 0


def stands_on_its_pages(given: Mapping[int, Sequence[str]], known: Sequence[Sequence[str]]) -> bool:
    """Whether the PDF's own text shows that pages are numbered as in the PDF: half of their words are on them.

    Args:
        given: Texts by 0-based number, as the other program counts.
        known: Texts of every page of the PDF; none on scans.
    """
    n_words = n_found = 0
    for index, texts in given.items():
        words = _words(texts)
        n_words += len(words)
        n_found += len(words & _words(known[index])) if index < len(known) else 0
    return 2 * n_found >= n_words


class PlaceOfText:
    """Tells on which page of the PDF a text stands, by the words there.

    Args:
        known: Texts of every page of the PDF.
    """

    def __init__(self, known: Sequence[Sequence[str]]) -> None:
        """Look at no page yet."""
        self._known = known
        self._words: dict[int, set[str]] = {}

    def __call__(self, text: str, first: int, last: int | None) -> int | None:
        """The page that has most words of a text, at least half of them; None where there is no such one.

        Args:
            text: What is looked for.
            first: 0-based number of the first page it may be on.
            last: The same of the last, None for that of the PDF.
        """
        words = _words([text])
        end = len(self._known) if last is None else min(last + 1, len(self._known))
        shared = {index: len(words & self._words_on(index)) for index in range(first, end)}
        best = max(shared.values(), default=0)
        pages = [index for index, n_words in shared.items() if n_words == best]
        return pages[0] if len(pages) == 1 and 2 * best >= len(words) > 0 else None

    def _words_on(self, index: int) -> set[str]:
        if index not in self._words:
            self._words[index] = _words(self._known[index])
        return self._words[index]


def _words(texts: Sequence[str]) -> set[str]:
    return set(matching_text("\n".join(texts)).casefold().split())
