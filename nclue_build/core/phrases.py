"""Figures in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, as messages say it: ``1 document``, ``2 queries``.

    Args:
        number: How many.
        noun: In the singular; it takes -s, or -ies for -y after a consonant.
    """
    if number == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{number} {noun[:-1]}ies" if ends_in_y else f"{number} {noun}s"
