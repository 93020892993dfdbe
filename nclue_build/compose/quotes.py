"""Quotes: a verbatim piece of a page that shows a condition being written about.

The rules item judge reads no meaning. It refuses what a careful reader would refuse at a glance: placeholder
text, contents lines, cells and lists of names, fragments with no words around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.core.english import function_words
from nclue_build.core.text import fold, is_word, matching_text, readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nclue_build.records.corpus import Block
    from nclue_build.records.inventory import Alias

MIN_LENGTH: Final = 40
MAX_LENGTH: Final = 300
"""Characters of a quote; a heading may be shorter."""

Refusal = Literal["not_on_page", "placeholder", "contents_line", "names_only", "part_of_name", "fragment"]

_REFUSAL_ORDER: Final[tuple[Refusal, ...]] = (
    "not_on_page",
    "fragment",
    "contents_line",
    "placeholder",
    "names_only",
    "part_of_name",
)
_ROLE_RANK: Final = {"text": 0, "list": 0, "caption": 1, "footnote": 1, "table": 2, "title": 3}
_OTHER_ROLE: Final = 2
_MIN_CONTEXT_WORDS: Final = 4
_MIN_PLAIN_WORDS: Final = 3
_MIN_PLAIN_PERCENT: Final = 35
_MIN_BODY_WORDS: Final = 12
_MIN_LETTER_PERCENT: Final = 60

# A token ends at white space, except inside a word broken at a line end.
_TOKEN = re.compile(r"(?:\S*\w[-\u2010\u2011\u00ad][ \t\u00a0]*\r?\n\s*(?=\w))*\S+")
_SENTENCE_END = re.compile(r"[.!?:;][\"'\u201d\u2019)\]]*$")
_ABBREVIATION = re.compile(
    r"^[(\"']*(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|St|No|Nos|vs|etc|e\.g|i\.e|cf|pp|Fig|Sec|Inc|Corp|Co|Jr|Sr|Gov|Sen|Rep|al)\.$"
)
_SENTENCE_START = re.compile(r"[\"'\u201c\u2018(\[]*[A-Z0-9\u2022\u25aa\u25cf\u2013\u2014-]")
_BULLET = re.compile(r"^[\u2022\u25aa\u25cf\u25cb\u2023\u2043\uf0b7*\u2013\u2014-]$")
_PLACEHOLDER = re.compile(
    r"\blorem ipsum\b|\bdolor sit amet\b|\bconsectetu\w+ adipisc|\bsed do eiusmod\b|\bquick brown fox\b"
)
_LEADERS = re.compile(r"(?:\.\s?){4,}|\u2026\s*\d+\s*$")
_CAPITALISED = re.compile(r"[A-Z][a-z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, order=True)
class FoundQuote:
    """A good quote; the smallest one is the best: by role, completeness, length, then place on the page."""

    rank: tuple[int, ...]
    page: int
    text: str

    @property
    def is_running_text(self) -> bool:
        """Whether it stands in a paragraph or a list rather than a heading, a caption or a cell."""
        return self.rank[0] == 0


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
        blocks: Its allowed blocks.
        n_body_words: Words in blocks that are no heading.
    """

    page: int
    blocks: tuple[BlockText, ...]
    n_body_words: int


def prepare_page(page: int, blocks: Iterable[Block], allowed_roles: Iterable[str]) -> PageText:
    """Normalise a page's allowed blocks once."""
    allowed = frozenset(allowed_roles)
    prepared = tuple(BlockText(block) for block in blocks if block.role in allowed)
    n_body_words = sum(len(_WORD.findall(block.readings[0])) for block in prepared if block.role != "title")
    return PageText(page, prepared, n_body_words)


def occurs(alias: Alias, texts: Sequence[str], folded: Sequence[str]) -> bool:
    """Whether an alias occurs in any reading, as core.text defines an occurrence."""
    form = alias.form if alias.match == "exact" else fold(alias.form)
    return any(_occurs_in(form, text) for text in (texts if alias.match == "exact" else folded))


def _occurs_in(form: str, text: str) -> bool:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if (start == 0 or not is_word(text[start - 1])) and (end == len(text) or not is_word(text[end])):
            return True
        start = text.find(form, start + 1)
    return False


def find_quote(page: PageText, aliases: Sequence[Alias]) -> FoundQuote | Refusal:
    """Find the best quote for a condition on a page.

    Returns:
        The quote, or why the best occurrence was refused.
    """
    found: list[FoundQuote] = []
    refusals: set[Refusal] = set()
    for place, block in enumerate(page.blocks):
        present = [alias for alias in aliases if occurs(alias, block.readings, block.folded)]
        if not present:
            continue
        verdict = _quote_block(page, place, block, present)
        if isinstance(verdict, FoundQuote):
            found.append(verdict)
        else:
            refusals.add(verdict)
    if found:
        return min(found)
    return max(refusals, key=_REFUSAL_ORDER.index, default="not_on_page")


def _quote_block(page: PageText, place: int, block: BlockText, aliases: Sequence[Alias]) -> FoundQuote | Refusal:
    if block.role == "title":
        return _quote_heading(page, place, block)
    best: FoundQuote | Refusal = "fragment"
    for alias in aliases:
        for start, stop in _occurrences(block, alias):
            first, last = _widen(block, start, stop)
            quote = block.piece(first, last)
            refusal = _refuse(quote, alias, block.role)
            in_name = _is_part_of_name(block, start, stop)
            if refusal is None and in_name and stop - start == 1:
                refusal = "part_of_name"
            if refusal is None and not stands_on_page(quote, alias, block.readings):
                refusal = "fragment"
            if refusal is not None:
                if not isinstance(best, FoundQuote):
                    best = max(best, refusal, key=_REFUSAL_ORDER.index)
                continue
            whole = _starts_sentence(block, first) and _ends_sentence(block, last - 1)
            rank = (
                _ROLE_RANK.get(block.role, _OTHER_ROLE),
                int(in_name),
                int(not whole),
                abs(len(quote) - 160) // 60,
                place,
                start,
            )
            candidate = FoundQuote(rank, page.page, quote)
            best = min(best, candidate) if isinstance(best, FoundQuote) else candidate
    return best


def _quote_heading(page: PageText, place: int, block: BlockText) -> FoundQuote | Refusal:
    """A heading shows what the page is about, if there is a page below it."""
    quote = block.raw.strip()
    text = fold(matching_text(quote))
    if _PLACEHOLDER.search(text):
        return "placeholder"
    if _LEADERS.search(text):
        return "contents_line"
    if page.n_body_words < _MIN_BODY_WORDS or len(quote) > MAX_LENGTH:
        return "fragment"
    return FoundQuote((_ROLE_RANK["title"], 0, 0, 0, place, 0), page.page, quote)


def _occurrences(block: BlockText, alias: Alias) -> Iterator[tuple[int, int]]:
    """Token windows that hold the alias: as many tokens as the alias has parts between spaces."""
    form = fold(alias.form)
    head, size = form.split(" ", 1)[0], form.count(" ") + 1
    for start in range(len(block.tokens) - size + 1):
        if head in block.folded_tokens[start]:
            texts = readings(block.piece(start, start + size))
            if occurs(alias, texts, [fold(reading) for reading in texts]):
                yield start, start + size


def _ends_sentence(block: BlockText, index: int) -> bool:
    if index == len(block.tokens) - 1:
        return True
    token, following = block.token(index), block.token(index + 1)
    if _BULLET.match(following):
        return True
    return bool(_SENTENCE_END.search(token) and not _ABBREVIATION.match(token) and _SENTENCE_START.match(following))


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
    return contained and occurs(alias, pieces, [fold(piece) for piece in pieces])


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
    if _PLACEHOLDER.search(fold(text)):
        return "placeholder"
    if _LEADERS.search(text):
        return "contents_line"
    words = _WORD.findall(text)
    n_context = len(words) - len(_WORD.findall(alias.form))
    n_plain = sum(1 for word in words if word.islower()) - sum(
        1 for word in _WORD.findall(alias.form) if word.islower()
    )
    n_letters = sum(map(str.isalpha, text))
    strictness = 2 if role == "table" else 1
    if n_context < _MIN_CONTEXT_WORDS * strictness:
        return "fragment"
    if n_plain < _MIN_PLAIN_WORDS * strictness or 100 * n_plain < _MIN_PLAIN_PERCENT * n_context:
        return "names_only"
    if 100 * n_letters < _MIN_LETTER_PERCENT * len(text.replace(" ", "")) or len(text) < MIN_LENGTH:
        return "fragment"
    return None
