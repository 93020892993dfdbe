"""Quotes: a verbatim piece of a page that shows a condition being written about.

The rules item judge reads no meaning. It refuses what a careful reader would refuse at a glance: pages of
placeholder text, cells and lists of names, fragments with no words around them, headings that head nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.core.english import function_words
from nclue_build.core.text import fold, matching_text, occurs, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nclue_build.records.corpus import Block, PageRow, Role
    from nclue_build.records.inventory import Alias

MIN_LENGTH: Final = 40
MAX_LENGTH: Final = 300
"""Characters of a quote; a heading may be shorter."""

Refusal = Literal["not_on_page", "placeholder", "bare_heading", "names_only", "part_of_name", "fragment"]

_REFUSAL_ORDER: Final[tuple[Refusal, ...]] = (
    "not_on_page",
    "fragment",
    "bare_heading",
    "placeholder",
    "names_only",
    "part_of_name",
)
_PLACEHOLDER_FLAG: Final = "placeholder_text"
"""Flag of a page (docs/extract.md)."""
ROLE_RANK: Final = {"text": 0, "list": 0, "caption": 1, "footnote": 1, "table": 2, "title": 3}
_OTHER_ROLE: Final = 2
_RUNNING_ROLES: Final = frozenset({"text", "list"})
_MIN_CONTEXT_WORDS: Final = 4
_MIN_PLAIN_WORDS: Final = 3
_MIN_PLAIN_PERCENT: Final = 35
_MIN_BODY_WORDS: Final = 12
_MIN_HEADING_WORDS: Final = 4
"""Words from which a heading says something by itself."""
_MIN_HEADED_WORDS: Final = 8
"""Words of running text below a shorter heading that make it the title of that text."""
_MIN_LETTER_PERCENT: Final = 60
_MANY_ACRONYMS: Final = 5
"""Acronyms from which a sentence is a list of offices or programs."""

# A token ends at white space, except inside a word broken at a line end.
_TOKEN = re.compile(r"(?:\S*\w[-\u2010\u2011\u00ad][ \t\u00a0]*\r?\n\s*(?=\w))*\S+")
_SENTENCE_END = re.compile(r"[.!?:;][\"'\u201d\u2019)\]]*$")
_ABBREVIATION = re.compile(
    r"^[(\"']*(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|St|No|Nos|vs|etc|e\.g|i\.e|cf|pp|Fig|Sec|Inc|Corp|Co|Jr|Sr|Gov|Sen|Rep|al)\.$"
)
_ACRONYM = re.compile(r"\b[A-Z][A-Z&]+\b")
_CAPITALISED = re.compile(r"[A-Z][a-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")


@dataclass(frozen=True, slots=True, order=True)
class FoundQuote:
    """A good quote; the smallest one is the best: by role, completeness, length, then place on the page."""

    rank: tuple[int, ...]
    page: int
    text: str

    @property
    def is_running_text(self) -> bool:
        """Whether it stands in a paragraph or a list rather than a heading, a caption or a cell."""
        return self.rank[0] == ROLE_RANK["text"]

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading, with no sentence around the condition."""
        return self.rank[0] == ROLE_RANK["title"]


class BlockText:
    """A block prepared for looking up many conditions.

    Args:
        block: The block; quotes are pieces of its raw text.
    """

    def __init__(self, block: Block) -> None:
        self.role = block.role
        self.raw = block.text
        self.readings = readings(block.text)
        self.folded = tuple(fold(reading) for reading in self.readings)

    @cached_property
    def n_words(self) -> int:
        """Words of at least two letters."""
        return len(_WORD.findall(self.readings[0]))

    @cached_property
    def tokens(self) -> list[tuple[int, int]]:
        """Spans of the raw text between white space; a word broken at a line end is one token."""
        return [match.span() for match in _TOKEN.finditer(self.raw)]

    @cached_property
    def folded_tokens(self) -> list[str]:
        """Folded readings of every token, in one string each."""
        return [" ".join(fold(reading) for reading in readings(self.raw[slice(*span)])) for span in self.tokens]

    def token(self, index: int) -> str:
        """Raw text of a token."""
        return self.raw[slice(*self.tokens[index])]

    def piece(self, first: int, last: int) -> str:
        """Raw text of the tokens from ``first`` up to, not including, ``last``."""
        return self.raw[self.tokens[first][0] : self.tokens[last - 1][1]]


@dataclass(frozen=True, slots=True)
class PageText:
    """A page prepared for looking up many conditions.

    Args:
        page: 1-based.
        blocks: Its allowed blocks, in reading order.
        is_placeholder: Whether it is flagged as placeholder text: then nothing of it is quoted.
    """

    page: int
    blocks: tuple[BlockText, ...]
    is_placeholder: bool


def prepare_page(row: PageRow, allowed_roles: frozenset[Role]) -> PageText:
    """Normalise a page's allowed blocks once."""
    blocks = tuple(BlockText(block) for block in row.blocks if block.role in allowed_roles)
    return PageText(row.page, blocks, _PLACEHOLDER_FLAG in row.flags)


def alias_occurs(alias: Alias, texts: Sequence[str], folded: Sequence[str]) -> bool:
    """Whether an alias occurs in any of several readings, given as they stand and folded."""
    if alias.match == "exact":
        return any(occurs(alias.form, text) for text in texts)
    form = _folded(alias.form)
    return any(form in text and occurs(form, text) for text in folded)


_folded = lru_cache(maxsize=1 << 16)(fold)
"""Forms are few, and asked about again on every page."""


def find_quote(page: PageText, aliases: Sequence[Alias]) -> FoundQuote | Refusal:
    """Find the best quote for a condition on a page.

    Returns:
        The quote, or why the best occurrence was refused.
    """
    found: list[FoundQuote] = []
    refusals: set[Refusal] = set()
    for place, block in enumerate(page.blocks):
        present = [alias for alias in aliases if alias_occurs(alias, block.readings, block.folded)]
        if not present:
            continue
        quote: FoundQuote | Refusal = "placeholder"
        if not page.is_placeholder:
            quote = _quote_block(page, place, block, present)
        if isinstance(quote, FoundQuote):
            found.append(quote)
        else:
            refusals.add(quote)
    if found:
        return min(found)
    return worst_refusal(refusals)


def worst_refusal(refusals: Iterable[Refusal]) -> Refusal:
    """The one that says most of several places, ``not_on_page`` when there is none."""
    return max(refusals, key=_REFUSAL_ORDER.index, default="not_on_page")


def _quote_block(page: PageText, place: int, block: BlockText, aliases: Sequence[Alias]) -> FoundQuote | Refusal:
    if block.role == "title":
        return _quote_heading(page, place)
    best: FoundQuote | Refusal = "fragment"
    for alias in aliases:
        for start, stop in _occurrences(block, alias):
            first, last = _widen(block, start, stop)
            quote = block.piece(first, last)
            refusal = _refuse(quote, alias, block.role)
            in_name = _is_part_of_name(block, start, stop)
            if refusal is None and in_name:
                refusal = "part_of_name"
            if refusal is None and not stands_on_page(quote, alias, block.readings):
                refusal = "fragment"
            if refusal is not None:
                if not isinstance(best, FoundQuote):
                    best = max(best, refusal, key=_REFUSAL_ORDER.index)
                continue
            whole = _starts_sentence(block, first) and _ends_sentence(block, last - 1)
            rank = (
                ROLE_RANK.get(block.role, _OTHER_ROLE),
                int(not whole),
                abs(len(quote) - 160) // 60,
                place,
                start,
            )
            candidate = FoundQuote(rank, page.page, quote)
            best = min(best, candidate) if isinstance(best, FoundQuote) else candidate
    return best


def _quote_heading(page: PageText, place: int) -> FoundQuote | Refusal:
    """A heading shows what the page is about if there is a page below it; a short one must head running text."""
    quote = page.blocks[place].raw.strip()
    n_body_words = sum(block.n_words for block in page.blocks if block.role != "title")
    if n_body_words < _MIN_BODY_WORDS or len(quote) > MAX_LENGTH:
        return "fragment"
    following = page.blocks[place + 1] if place + 1 < len(page.blocks) else None
    heads_text = following is not None and following.role in _RUNNING_ROLES and following.n_words >= _MIN_HEADED_WORDS
    if page.blocks[place].n_words < _MIN_HEADING_WORDS and not heads_text:
        return "bare_heading"
    return FoundQuote((ROLE_RANK["title"], 0, 0, place, 0), page.page, quote)


def _occurrences(block: BlockText, alias: Alias) -> Iterator[tuple[int, int]]:
    """Token windows that hold the alias: as many tokens as the alias has parts between spaces."""
    form = fold(alias.form)
    head, size = form.split(" ", 1)[0], form.count(" ") + 1
    for start in range(len(block.tokens) - size + 1):
        if head in block.folded_tokens[start]:
            texts = readings(block.piece(start, start + size))
            if alias_occurs(alias, texts, [fold(reading) for reading in texts]):
                yield start, start + size


def _ends_sentence(block: BlockText, index: int) -> bool:
    if index == len(block.tokens) - 1:
        return True
    token, following = block.token(index), block.token(index + 1)
    if not _SENTENCE_END.search(token) or _ABBREVIATION.match(token):
        return False
    first = next(filter(str.isalnum, following), None)
    return first is None or not first.islower()


def _starts_sentence(block: BlockText, index: int) -> bool:
    return index == 0 or _ends_sentence(block, index - 1)


def _widen(block: BlockText, start: int, stop: int) -> tuple[int, int]:
    """Widen a window to its sentence, then to neighbours while too short, never over the limit."""
    tokens = block.tokens

    def length(first: int, last: int) -> int:
        return tokens[last - 1][1] - tokens[first][0]

    first, last = start, stop
    while not _starts_sentence(block, first) and length(first - 1, last) <= MAX_LENGTH:
        first -= 1
    if not _starts_sentence(block, first):  # a long sentence: leave room behind the occurrence too
        while first < start and length(first, last) > MAX_LENGTH * 2 // 3:
            first += 1
    while not _ends_sentence(block, last - 1) and length(first, last + 1) <= MAX_LENGTH:
        last += 1
    while length(first, last) < MIN_LENGTH and last < len(tokens) and length(first, last + 1) <= MAX_LENGTH:
        last += 1
    while length(first, last) < MIN_LENGTH and first > 0 and length(first - 1, last) <= MAX_LENGTH:
        first -= 1
    return first, last


def stands_on_page(quote: str, alias: Alias, texts: Sequence[str]) -> bool:
    """The mechanical check: the normalised quote is a piece of a reading of the block, and the alias is in it.

    Args:
        quote: Raw.
        alias: That it should show.
        texts: Readings of the block it was taken from.
    """
    pieces = readings(quote)
    contained = any(piece in text for piece in pieces for text in texts)
    return contained and alias_occurs(alias, pieces, [fold(piece) for piece in pieces])


def _is_part_of_name(block: BlockText, start: int, stop: int) -> bool:
    """Whether a capitalised form stands inside a longer name ("Immunization" in "Immunization Practices")."""
    first, last = block.token(start), block.token(stop - 1)
    if not _CAPITALISED.match(first) or not _CAPITALISED.match(last):
        return False
    if last[-1].isalnum() and stop < len(block.tokens) and _CAPITALISED.match(block.token(stop)):
        return True
    before = block.token(start - 1) if start > 0 else ""
    return bool(
        before[-1:].isalnum()
        and _CAPITALISED.match(before)
        and before.lower() not in function_words()
        and not _starts_sentence(block, start - 1)
    )


def _refuse(quote: str, alias: Alias, role: str) -> Refusal | None:
    text = matching_text(quote)
    words = _WORD.findall(_ADDRESS.sub("", text))  # the words of an address say nothing of what stands beside it
    n_context = len(words) - len(_WORD.findall(alias.form))
    n_plain = sum(1 for word in words if word.islower()) - sum(
        1 for word in _WORD.findall(alias.form) if word.islower()
    )
    n_letters = sum(map(str.isalpha, text))
    strictness = 2 if role == "table" else 1
    if n_context < _MIN_CONTEXT_WORDS * strictness:
        return "fragment"
    if len(_ACRONYM.findall(text)) >= _MANY_ACRONYMS:
        return "names_only"
    if n_plain < _MIN_PLAIN_WORDS * strictness or 100 * n_plain < _MIN_PLAIN_PERCENT * n_context:
        return "names_only"
    if 100 * n_letters < _MIN_LETTER_PERCENT * len(text.replace(" ", "")) or len(text) < MIN_LENGTH:
        return "fragment"
    return None
