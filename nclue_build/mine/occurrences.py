"""Where aliases occur: one Aho-Corasick pass per block, whatever the number of aliases.

Aho & Corasick (1975). The law and the meaning of an occurrence are in :mod:`nclue_build.core.text`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nclue_build.core.text import fold, is_word, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.corpus import PageRow
    from nclue_build.records.inventory import Match


@dataclass(frozen=True, slots=True)
class Pattern:
    """An alias to look for: ``owner`` is the index of its condition."""

    form: str
    match: Match
    owner: int


@dataclass(frozen=True, slots=True)
class DocumentOccurrences:
    """What occurs in one document.

    Args:
        evidence: int64 rows (owner, page, mentions, in_heading), sorted by owner and page.
        alias_pages: int64 rows (pattern index, number of pages), only where at least one.
        spellings: (pattern index, text as it stands, mentions outside titles and not at a sentence start) of
            every distinct spelling.
    """

    evidence: NDArray[np.int64]
    alias_pages: NDArray[np.int64]
    spellings: tuple[tuple[int, str, int], ...]


class Matcher:
    """All patterns, compiled once."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        """Compile the patterns.

        Args:
            patterns: Aliases; each (folded form, match) belongs to one owner only.
        """
        self.patterns = tuple(patterns)
        self._owner = [pattern.owner for pattern in self.patterns]
        exact = [index for index, pattern in enumerate(self.patterns) if pattern.match == "exact"]
        folded = [index for index, pattern in enumerate(self.patterns) if pattern.match == "folded"]
        self._exact = _compile([self.patterns[index].form for index in exact], exact)
        self._folded = _compile([fold(self.patterns[index].form) for index in folded], folded)

    def find(self, reading: str) -> list[tuple[int, int, int]]:
        """(pattern index, start, end) of every occurrence in one reading, overlaps included."""
        found = []
        for automaton, text in ((self._exact, reading), (self._folded, fold(reading))):
            if automaton is None:
                continue
            machine, indices = automaton
            size = len(text)
            for number, start, end in machine.find_matches_as_indexes(text, overlapping=True):
                if (start and is_word(text[start - 1])) or (end < size and is_word(text[end])):
                    continue
                found.append((indices[number], start, end))
        return found

    def scan(self, pages: Iterable[PageRow], allowed_roles: frozenset[str]) -> DocumentOccurrences:
        """Find every alias on every page of a document, in blocks of allowed roles only."""
        mentions: dict[tuple[int, int], int] = {}
        headings: set[tuple[int, int]] = set()
        alias_pages: set[tuple[int, int]] = set()
        spellings: dict[tuple[int, str], int] = {}
        for page in pages:
            for block in page.blocks:
                if block.role not in allowed_roles:
                    continue
                in_title = block.role == "title"
                best: dict[int, int] = {}
                for reading in readings(block.text):
                    starts: dict[int, set[int]] = {}
                    for pattern, start, end in self.find(reading):
                        alias_pages.add((pattern, page.page))
                        starts.setdefault(self._owner[pattern], set()).add(start)
                        spelling = (pattern, reading[start:end])
                        plain = not in_title and start > 1 and reading[start - 2] not in ".!?:;"
                        spellings[spelling] = spellings.get(spelling, 0) + plain
                    for owner, places in starts.items():
                        best[owner] = max(best.get(owner, 0), len(places))
                for owner, count in best.items():
                    key = (owner, page.page)
                    mentions[key] = mentions.get(key, 0) + count
                    if in_title:
                        headings.add(key)
        evidence = [
            (owner, page, count, (owner, page) in headings) for (owner, page), count in sorted(mentions.items())
        ]
        pattern_pages: dict[int, int] = {}
        for pattern, _ in alias_pages:
            pattern_pages[pattern] = pattern_pages.get(pattern, 0) + 1
        return DocumentOccurrences(
            np.array(evidence, dtype=np.int64).reshape(-1, 4),
            np.array(sorted(pattern_pages.items()), dtype=np.int64).reshape(-1, 2),
            tuple((pattern, text, count) for (pattern, text), count in sorted(spellings.items())),
        )


def _compile(forms: list[str], indices: list[int]) -> tuple[Any, list[int]] | None:
    if not forms:
        return None
    import ahocorasick_rs  # noqa: PLC0415 - heavy

    return ahocorasick_rs.AhoCorasick(forms, matchkind=ahocorasick_rs.MatchKind.Standard), indices
