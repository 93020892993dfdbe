"""Whether a page can have a heading of some kind at all: asked once, before each of its segments is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_HEADING: Final = 60
"""Characters that a heading has at most."""
_LIKE_ASCII: Final = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
"""Letters that patterns take for these when they ignore case."""
_LOWER: Final = bytes(range(128)).lower() + bytes(range(128, 256))
_BLANKS: Final = bytes(code for code in range(128) if chr(code).isspace())


def may_have_heading(lines: Iterable[str], stems: Sequence[bytes]) -> bool:
    """Whether one of the lines that a heading can consist of has one of some stems.

    Args:
        lines: Those that a heading can be.
        stems: Lower-case ASCII letters. Every heading that is looked for has one of them, spaced type ("R e f e r e n
            c e s") as well, since only ASCII characters count that are no white space.
    """
    said = "".join([line for line in lines if len(line) <= MAX_HEADING])
    if not said.isascii():
        for letter, plain in _LIKE_ASCII.items():
            said = said.replace(letter, plain)
    letters = said.encode("ascii", "ignore").translate(_LOWER, _BLANKS)
    return any(map(letters.__contains__, stems))
