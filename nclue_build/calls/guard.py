"""The guard at the door of the store: nothing that looks like a credential is written."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MIN_VALUE: Final = 8
"""Shorter values of a key variable are no keys (tests set them to "x")."""

PATTERNS: Final = (
    ("an API key", b"sk-", re.compile(rb"\bsk-[A-Za-z0-9_-]{20,}")),
    ("an API key", b".", re.compile(rb"\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b")),
    ("a bearer token", b"bearer", re.compile(rb"\bBearer\s+[A-Za-z0-9._~+/-]{20,}", re.IGNORECASE)),
    (
        "an x-api-key header", b"x-api-key",
        re.compile(rb"x-api-key[\"']?\s*[:=]\s*[\"']?[A-Za-z0-9._-]{16,}", re.IGNORECASE),
    ),
    (
        "an authorization header", b"authorization",
        re.compile(rb"authorization[\\\"']*\s*[:=][\\\"'\s]*(basic|bearer)\b", re.IGNORECASE),
    ),
    ("an AWS key", b"akia", re.compile(rb"\bAKIA[0-9A-Z]{16}\b")),
    ("an AWS key", b"asia", re.compile(rb"\bASIA[0-9A-Z]{16}\b")),
    ("a GitHub token", b"gh", re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36,}")),
    ("a JSON Web Token", b"eyj", re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("a private key", b"private key-----", re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
)  # fmt: skip
"""What it is; what any such text holds, in small letters: the search for that alone takes little time; and its form."""


def secret_in(data: bytes, variables: Iterable[str] = ()) -> str | None:
    """What kind of secret a piece of text seems to hold, or None; never the secret itself.

    Args:
        data: What is about to be written.
        variables: Environment variables whose values are secrets, whatever they look like.
    """
    for name in variables:
        value = os.environ.get(name, "")
        if len(value) >= _MIN_VALUE and value.encode("utf-8", "surrogateescape") in data:
            return f"the value of {name}"
    lowered = data.lower()
    return next((kind for kind, mark, pattern in PATTERNS if mark in lowered and pattern.search(data)), None)
