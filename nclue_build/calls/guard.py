"""The guard at the door of the store: nothing that looks like a credential is written."""

from __future__ import annotations

import base64
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_SECRET: Final = 8
"""Shorter values of a key variable are no keys (tests set them to "x")."""
_MOST_LAYERS: Final = 3
_ESCAPED: Final = re.compile(r"[\"\\/]")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|[^u])", re.DOTALL)

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
    (
        "a JSON Web Token", b"eyj",
        re.compile(rb"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ),
    ("a private key", b"private key-----", re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
)  # fmt: skip
"""What it is; what any such text holds, in small letters: the search for that alone takes little time; and its form."""


def secret_in(data: bytes, variables: Iterable[str] = ()) -> str | None:
    """What kind of secret a piece of text seems to hold, or None; never the secret itself.

    Args:
        data: What is about to be written.
        variables: Environment variables whose values are secrets, whatever they look like.
    """
    known = ((name, os.environ.get(name, "").strip()) for name in variables)
    values = [(name, value) for name, value in known if len(value) >= MIN_SECRET]
    views = _views(data, [value for _, value in values]) if values else []
    for name, value in values:
        if any(form in view for form in _forms(value) for view in views):
            return f"the value of {name}"
    lowered = data.lower()
    return next((kind for kind, mark, pattern in PATTERNS if mark in lowered and pattern.search(data)), None)


@lru_cache(maxsize=16)
def _forms(value: str) -> tuple[bytes, ...]:
    """A secret as it is, in hexadecimal digits, and in base64 from any byte of a longer text on."""
    plain = value.encode("utf-8", "surrogateescape")
    forms = [plain, plain.hex().encode("ascii")]
    for before in range(3):
        # Only the digits that depend on the secret alone.
        digits = base64.b64encode(bytes(before) + plain)[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6]
        forms += [digits, digits.replace(b"+", b"-").replace(b"/", b"_")]
    return tuple(forms)


def _views(data: bytes, values: list[str]) -> list[bytes]:
    """What a text holds: as it stands, with the escapes of URLs, and with those of JSON (in JSON, too) undone."""
    views = [data]
    if b"%" in data:
        views.append(unquote_to_bytes(data))
    # JSON has to escape few characters, and that takes time; any other can be, by its number.
    layers = _MOST_LAYERS if b"u00" in data or any(_ESCAPED.search(value) for value in values) else 0
    inner = data
    for _ in range(layers):
        if b"\\" not in inner:
            break
        inner = _ESCAPE.sub(_unescaped, inner)
        views.append(inner)
    return views


def _unescaped(found: re.Match[bytes]) -> bytes:
    digits = found[1]
    return found[0][1:] if digits is None else chr(int(digits, 16)).encode("utf-8", "replace")
