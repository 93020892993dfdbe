"""Canonical JSON and SHA-256: the one way to turn a value into a digest."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Json: TypeAlias = "str | int | bool | list[Json] | tuple[Json, ...] | dict[str, Json] | None"


def canonical_json(value: Json) -> bytes:
    """Serialise to the one byte string that every platform agrees on.

    Keys sorted, no white space, UTF-8, no floats: a float prints differently
    between implementations, so callers pass decimals as strings.

    Raises:
        TypeError: a float or another non-JSON type is inside.
        UnicodeEncodeError: a lone surrogate is inside; it is never replaced.
    """
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        message = f"a float ({value!r}) has no canonical form: pass it as a string"
        raise TypeError(message)
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)


def sha256_bytes(data: bytes) -> str:
    """Hex SHA-256 of a byte string."""
    return hashlib.sha256(data).hexdigest()


def sha256_json(value: Json) -> str:
    """Hex SHA-256 of the canonical JSON of a value."""
    return sha256_bytes(canonical_json(value))


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's content, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
