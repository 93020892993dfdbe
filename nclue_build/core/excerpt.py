"""Quotes as people read them: the matching text around a concept, and the concept marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.text import fold, is_word, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH: Final = 160
"""Characters of quoted text, without marks and dots."""
MARK: Final = "**"
DOTS: Final = "..."


def excerpt(quote: str, forms: Sequence[str], width: int = WIDTH) -> str:
    """Cut a quote to a window around the first occurrence of a concept.

    Cutting from the right alone would often lose the very words that the quote is there for.

    Args:
        quote: As it stands on the page, line ends and all.
        forms: Surface forms of the concept, any case.
        width: Characters shown, at most; the concept itself is never cut.

    Returns:
        One line, the concept between two :data:`MARK`, words whole.
    """
    text, span = _locate(quote, forms)
    if span is None:
        end = _to_word(text, 0, min(width, len(text))) or min(width, len(text))
        return text[:end] + (DOTS if end < len(text) else "")
    start, end = span
    spare = max(width - (end - start), 0)
    first = max(min(start - spare // 2, len(text) - width), 0)
    last = min(max(first + width, end), len(text))
    before, after = _from_word(text, first, start), _to_word(text, end, last)
    head = (DOTS if before else "") + text[before:start]
    tail = text[end:after] + (DOTS if after < len(text) else "")
    return f"{head}{MARK}{text[start:end]}{MARK}{tail}"


def _locate(quote: str, forms: Sequence[str]) -> tuple[str, tuple[int, int] | None]:
    """The first reading that has a form, and where; of several at one place the longest."""
    texts = readings(quote)
    for text in texts:
        folded = fold(text)
        found = [span for form in forms if (span := _find(fold(form), folded)) is not None]
        if found:
            return text, min(found, key=lambda span: (span[0], -span[1]))
    return texts[0], None


def _find(form: str, text: str) -> tuple[int, int] | None:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not (start and is_word(text[start - 1])) and not (end < len(text) and is_word(text[end])):
            return start, end
        start = text.find(form, start + 1)
    return None


def _from_word(text: str, first: int, limit: int) -> int:
    """The first word start from ``first`` on, at most ``limit``."""
    if first == 0 or text[first - 1] == " ":
        return first
    space = text.find(" ", first, limit)
    return limit if space < 0 else space + 1


def _to_word(text: str, limit: int, last: int) -> int:
    """The last word end up to ``last``, at least ``limit``."""
    if last == len(text) or text[last] == " ":
        return last
    space = text.rfind(" ", limit, last)
    return limit if space < 0 else space
