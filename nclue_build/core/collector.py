"""How often Python looks for reference cycles."""

from __future__ import annotations

import gc
from typing import Final

_THRESHOLD: Final = 50_000


def collect_rarely() -> None:
    """Let this process look for cycles seldom, and never among what it has loaded by now.

    Lines, spans and rows are small objects by the million that point at each other in one direction only: a search
    after every 700 of them, Python's default before 3.14, frees nothing and takes a fifth of the time it takes to
    make page rows. Reference counts free them all the same.
    """
    gc.freeze()
    gc.set_threshold(_THRESHOLD)
