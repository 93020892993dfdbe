"""How words are written: what marks an acronym."""

from __future__ import annotations

import re
from typing import Final

_ACRONYM: Final = re.compile(r"[A-Z][A-Za-z0-9&\-]*\Z")
_MIN_CAPITALS = 2


def is_acronym(word: str) -> bool:
    """Whether a word is written like an acronym: one token with at least two capitals."""
    return bool(_ACRONYM.match(word)) and sum(char.isupper() for char in word) >= _MIN_CAPITALS
