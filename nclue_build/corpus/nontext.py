"""Blocks that stand where text stands and are none: code, placeholder text, lines of contents.

A page is no evidence for what its listings or sample paragraphs happen to name. These are told by what they consist of,
whatever the reader made of their type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nclue_build.records.corpus import Role

_SIGNS: Final = re.compile(r"([\\{}=<>@#|~^\u27e8\u27e9])\1*|(?<=[^\W_])_(?=[^\W_])|\$(?=[^\W\d_]|[\\({@*#?])")
"""Signs of code and markup. A ruling or a row of them counts once, an underscore between letters and a dollar before a
letter only: blanks of forms and sums of money are no code."""
_SIGN_STARTS: Final = "\\{}=<>@#|~^\u27e8\u27e9_$"
"""What each of these signs starts with: found many times faster than they are."""
_MIN_SIGNS: Final = 2
_MIN_SIGNS_PERCENT: Final = 8
"""Of all characters but white space. In 36 government reports one block of 26,755 reaches this (an address with
underscores), in 300 technical manuals 5% of all text, of which 70 blocks that were looked at are all code."""
_CODE_ROLES: Final = frozenset({"text", "list", "footnote"})
_PLACEHOLDER_ROLES: Final = frozenset({"title", "text", "list", "table", "caption", "footnote"})

_LEADER: Final = re.compile(r"(?:\.[ \t\u00a0]?){3,}\s*\d{1,4}(?!\S)")
"""Dots that lead to the number of a page."""
_MIN_LEADERS: Final = 2
_CONTENTS_ROLES: Final = frozenset({"text", "list", "table"})

_WORD: Final = re.compile(r"[^\W\d_]+")
_GENERATED: Final = """
    lorem ipsum dolor amet consectetur adipiscing adipisicing eiusmod tempor incididunt labore magna aliqua
    veniam nostrud exercitation ullamco laboris aliquip commodo consequat duis aute irure reprehenderit
    voluptate velit cillum fugiat nulla pariatur excepteur occaecat cupidatat proident deserunt mollit
    vestibulum pellentesque curabitur vivamus phasellus ultricies
"""
GENERATED: Final = frozenset(_GENERATED.split())
"""Words of placeholder text that English does not have."""
_LATIN_WORDS: Final = """
    ac aenean aliquam aliquet atque autem bibendum consectetuer convallis cras cum cursus dapibus donec
    efficitur egestas eget elementum elit enim erat esse etiam eu euismod facilisis faucibus felis
    fermentum feugiat fringilla haec hanc hendrerit hoc huic iaculis idem ille imperdiet lacinia laoreet
    lectus ligula lobortis luctus maecenas malesuada mattis maximus mi molestie mollis morbi nam nec neque
    nibh nisi nisl non nullam nunc odio ornare pharetra placerat porttitor posuere potest praesent pretium
    pulvinar purus quam quis quisque quod rhoncus sagittis scelerisque sed semper sit sodales sollicitudin
    suscipit suspendisse tincidunt tortor tristique ullamcorper ultrices urna ut varius vehicula vel
    venenatis vitae viverra volutpat vulputate
"""
LATIN: Final = GENERATED.union(_LATIN_WORDS.split())
"""These, with the function words and others of Latin that stand between them."""
MIN_LATIN: Final = 4
"""Distinct words of Latin that placeholder text has at least."""
_MIN_LATIN_PERCENT: Final = 20
"""Of all words: no block in English has so many, whatever phrase it quotes."""


def is_placeholder(text: str) -> bool:
    """Whether a block, or a page, consists of the words that placeholder text is made of."""
    words = _WORD.findall(text.lower())
    found = [word for word in words if word in LATIN]
    return len(set(found)) >= MIN_LATIN and 100 * len(found) >= _MIN_LATIN_PERCENT * len(words)


def is_code(text: str, starts: Iterable[str] = _SIGN_STARTS) -> bool:
    """Whether a block has as many signs of code or markup as only code has.

    Args:
        text: Of the block.
        starts: Characters that such signs start with, as far as the block can have them.
    """
    at_most = sum(map(text.count, starts))
    if at_most < _MIN_SIGNS:
        return False
    needed = _MIN_SIGNS_PERCENT * sum(map(len, text.split()))
    if 100 * at_most < needed:
        return False
    signs = sum(1 for _ in _SIGNS.finditer(text))
    return signs >= _MIN_SIGNS and 100 * signs >= needed


def is_contents(text: str) -> bool:
    """Whether a block has several lines with dots that lead to a page."""
    if text.count(".") < 3 * _MIN_LEADERS or not _may_have_leaders(text):
        return False
    return sum(1 for _ in _LEADER.finditer(text)) >= _MIN_LEADERS


def _may_have_leaders(text: str) -> bool:
    return "..." in text.replace(" ", "")


class TrueRoles:
    """The roles of a page's blocks once their texts are looked at.

    What the page as a whole has nothing of is looked for in none of its blocks.

    Args:
        text: Of all blocks.
        latin: Whether the page may hold placeholder text beside text of its own.
    """

    def __init__(self, text: str, *, latin: bool) -> None:
        """Look for what blocks that are no text consist of."""
        self._sign_starts = [start for start in _SIGN_STARTS if start in text]
        self._leaders = _may_have_leaders(text)
        self._latin = latin
        self._is_plain = not (self._sign_starts or self._leaders or latin)

    def of(self, role: Role, text: str) -> Role:
        """``code``, ``toc``, ``other`` for placeholder text, or as it was.

        Args:
            role: By its shape, or as another reader has it.
            text: Of the block.
        """
        if self._is_plain:
            return role
        if self._sign_starts and role in _CODE_ROLES and is_code(text, self._sign_starts):
            return "code"
        if self._leaders and role in _CONTENTS_ROLES and is_contents(text):
            return "toc"
        return "other" if self._latin and role in _PLACEHOLDER_ROLES and is_placeholder(text) else role
