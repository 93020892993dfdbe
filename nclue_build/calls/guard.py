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
    ("an API key", re.compile(rb"\bsk-[A-Za-z0-9_-]{20,}")),
    ("an API key", re.compile(rb"\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b")),
    ("a bearer token", re.compile(rb"\bBearer\s+[A-Za-z0-9._~+/-]{20,}", re.IGNORECASE)),
    ("an x-api-key header", re.compile(rb"x-api-key[\"']?\s*[:=]\s*[\"']?[A-Za-z0-9._-]{16,}", re.IGNORECASE)),
    ("an authorization header", re.compile(rb"authorization[\\\"']*\s*[:=][\\\"'\s]*(basic|bearer)\b", re.IGNORECASE)),
    ("an AWS key", re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36,}")),
    ("a JSON Web Token", re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("a private key", re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
)  # fmt: skip


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
    return next((kind for kind, pattern in PATTERNS if pattern.search(data)), None)
