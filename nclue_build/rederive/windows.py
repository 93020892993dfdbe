r"""Finding aliases by token windows: the second algorithm behind every P(d, c).

An occurrence starts and ends at the edge of a run of word characters, because an alias starts and
ends with one and none may touch it (the definition is in :mod:`nclue_build.core.text`). So every occurrence
is a window of whole runs ("tokens"), and looking windows up in a table of forms finds all of them, nested and
overlapping ones included. The first token of a form says how many tokens such windows have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from nclue_build.core.text import fold, is_word, matching_text, occurs, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nclue_build.records.corpus import Block
    from nclue_build.records.inventory import Alias, Condition

_TOKEN = re.compile(r"\w+")


class AliasKey(NamedTuple):
    """An alias by the positions of its condition and of itself in that condition."""

    condition: int
    alias: int


def compared_form(alias: Alias) -> str:
    """The string that has to stand in a (folded) reading for an alias to occur."""
    return alias.form if alias.match == "exact" else fold(alias.form)


def is_matchable(alias: Alias) -> bool:
    """Whether a form is normalised, and starts and ends with a word character."""
    form = alias.form
    return matching_text(form) == form and is_word(form[0]) and is_word(form[-1])


class _Windows:
    """Forms of one match kind, by their text and by the token they start with."""

    def __init__(self) -> None:
        self.owners: dict[str, list[AliasKey]] = {}
        self._sizes: dict[str, list[int]] = {}

    def add(self, form: str, key: AliasKey) -> None:
        self.owners.setdefault(form, []).append(key)
        tokens = _TOKEN.findall(form)
        sizes = self._sizes.setdefault(tokens[0], [])
        if len(tokens) not in sizes:
            sizes.append(len(tokens))
            sizes.sort()

    def find(self, text: str) -> Iterator[tuple[int, AliasKey]]:
        """Yield (start offset, alias) of every occurrence in a text."""
        if not self.owners:
            return
        spans = [match.span() for match in _TOKEN.finditer(text)]
        for index, (start, end) in enumerate(spans):
            for size in self._sizes.get(text[start:end], ()):
                if index + size > len(spans):
                    break
                for key in self.owners.get(text[start : spans[index + size - 1][1]], ()):
                    yield start, key


class FormTable:
    """The aliases of all conditions, ready to be looked up in texts."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Index the forms; forms that cannot be matched are left out (they are findings of their own)."""
        self._exact, self._folded = _Windows(), _Windows()
        for index, condition in enumerate(conditions):
            for position, alias in enumerate(condition.aliases):
                if is_matchable(alias):
                    windows = self._exact if alias.match == "exact" else self._folded
                    windows.add(compared_form(alias), AliasKey(index, position))

    def find(self, reading: str) -> Iterator[tuple[int, AliasKey]]:
        """Yield (start offset, alias) of every occurrence of any alias in one reading."""
        yield from self._exact.find(reading)
        yield from self._folded.find(fold(reading))


@dataclass(slots=True)
class PageEvidence:
    """How one condition stands on one page."""

    mentions: int = 0
    in_heading: bool = False


def scan_page(
    blocks: Iterable[Block], allowed_roles: frozenset[str], table: FormTable
) -> tuple[dict[int, PageEvidence], set[AliasKey]]:
    """Find every condition and alias on a page.

    Returns:
        By condition position: mentions (the sum over allowed blocks of the number of distinct start offsets in the
        reading with most of them) and whether one is in a title. And the aliases that occur at all.
    """
    conditions: dict[int, PageEvidence] = {}
    aliases: set[AliasKey] = set()
    for block in blocks:
        if block.role not in allowed_roles:
            continue
        most: dict[int, int] = {}
        for reading in readings(block.text):
            starts: dict[int, set[int]] = {}
            for start, key in table.find(reading):
                aliases.add(key)
                starts.setdefault(key.condition, set()).add(start)
            for condition, offsets in starts.items():
                most[condition] = max(most.get(condition, 0), len(offsets))
        for condition, mentions in most.items():
            found = conditions.setdefault(condition, PageEvidence())
            found.mentions += mentions
            found.in_heading |= block.role == "title"
    return conditions, aliases


def place_of_quote(
    blocks: Iterable[Block], allowed_roles: frozenset[str], quote: str
) -> Literal["nowhere", "piece", "block"]:
    """Where a reading of a quote stands: in no allowed block, as whole words of one, or as all there is of one."""
    wanted = [reading for reading in readings(quote) if reading]
    found: Literal["nowhere", "piece"] = "nowhere"
    for block in blocks:
        if block.role not in allowed_roles:
            continue
        for reading in readings(block.text):
            if reading in wanted:
                return "block"
            if any(occurs(part, reading) for part in wanted):
                found = "piece"
    return found


def stands_on_page(blocks: Iterable[Block], allowed_roles: frozenset[str], quote: str) -> bool:
    """Whether a person's quote stands on a page: such a one may run on over blocks, and begin and end anywhere."""
    texts = [readings(block.text) for block in blocks if block.role in allowed_roles]
    pages = (" ".join(text[place] for text in texts if text[place]) for place in (0, -1))
    wanted = [reading for reading in readings(quote) if reading]
    return any(part in page for page in pages for part in wanted)


def conditions_in(text: str, table: FormTable) -> set[int]:
    """Positions of the conditions of which an alias occurs in any reading of a text."""
    return {key.condition for reading in readings(text) for _, key in table.find(reading)}
