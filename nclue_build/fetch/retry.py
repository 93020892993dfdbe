"""How long to wait before a place is tried again.

A loop of its own, because the library that retries (tenacity) belongs to the calls of language models, and because the
rule here is another one: an attempt that brought something does not count as a failure.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Final

MAX_WAIT_S: Final = 60.0
"""A server that wants to be left alone for longer is not waited for."""
_FIRST_WAIT_S: Final = 0.5


def backoff_s(failures: int) -> float:
    """Seconds to wait after a number of failures in a row: half a second, doubled each time."""
    return min(_FIRST_WAIT_S * 2.0 ** (failures - 1), MAX_WAIT_S)


def retry_after_s(value: str | None, now: float | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for; None when it says nothing that can be understood.

    Args:
        value: Seconds, or a date (RFC 9110, section 10.2.3).
        now: The time of day in seconds since 1970, for tests.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
