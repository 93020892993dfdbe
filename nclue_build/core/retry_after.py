"""How long a server wants to be left alone."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import Final

_SECONDS: Final = re.compile(r"[0-9]+(\.[0-9]+)?\Z")


def retry_after_s(value: str | None, now: float | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for; None when it says nothing that can be understood.

    Args:
        value: Seconds, or a date (RFC 9110, section 10.2.3).
        now: The time of day in seconds since 1970, for tests.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.match(text):
        # Some send fractions, though that is not in the standard.
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment - (time.time() if now is None else now))
