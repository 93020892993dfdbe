"""JSON objects as replies and responses must have them: nothing a lenient parser would wave through."""

from __future__ import annotations

import json
from typing import TypeAlias

JsonObject: TypeAlias = "dict[str, object]"


def read_object(data: bytes | str) -> JsonObject:
    """A JSON object, strictly: UTF-8, no repeated key, no NaN.

    Raises:
        ValueError: it is something else; says what.
    """
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        message = "nested too deeply"
        raise ValueError(message) from None
    if not isinstance(value, dict):
        message = f"expected an object, found {type(value).__name__}"
        raise ValueError(message)  # noqa: TRY004 - wrong data, not a wrong argument
    return value


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        message = f"key {next(name for name in names if names.count(name) > 1)!r} stands twice"
        raise ValueError(message)
    return found


def _no_constant(name: str) -> object:
    message = f"{name} is no JSON"
    raise ValueError(message)
