"""How long to wait before a place is tried again.

A loop of its own, because the library that retries (tenacity) belongs to the calls of language models, and because the
rule here is another one: an attempt that brought something does not count as a failure.
"""

from __future__ import annotations

from typing import Final

MAX_WAIT_S: Final = 60.0
"""A server that wants to be left alone for longer is not waited for."""
_FIRST_WAIT_S: Final = 0.5


def backoff_s(failures: int) -> float:
    """Seconds to wait after a number of failures in a row: half a second, doubled each time."""
    return min(_FIRST_WAIT_S * 2.0 ** (failures - 1), MAX_WAIT_S)
