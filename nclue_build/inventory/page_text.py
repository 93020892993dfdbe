"""The text of a page as quotes are looked up in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.text import matching_text, readings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from nclue_build.records.corpus import PageRow

MIN_WORDS: Final = 3
"""Words from which a quote of people says something."""


def page_readings(page: PageRow, allowed_roles: Collection[str]) -> tuple[str, ...]:
    """The readings of all allowed blocks of a page, one after the other: a quote may run on over blocks.

    Returns:
        One text, or two where a word is broken at a line end: with all such words joined, and with all hyphenated.
    """
    blocks = [readings(block.text) for block in page.blocks if block.role in allowed_roles]
    joined = " ".join(found[0] for found in blocks if found[0])
    hyphenated = " ".join(found[-1] for found in blocks if found[-1])
    return (joined,) if joined == hyphenated else (joined, hyphenated)


def quote_stands(quote: str, page: Iterable[str]) -> bool:
    """Whether a quote stands verbatim in the readings of a page (:func:`page_readings`), both normalised."""
    wanted = [reading for reading in readings(quote) if reading]
    return any(part in text for text in page for part in wanted)


def is_short(quote: str) -> bool:
    """Whether a quote has fewer than :data:`MIN_WORDS` words."""
    return len(matching_text(quote).split()) < MIN_WORDS
