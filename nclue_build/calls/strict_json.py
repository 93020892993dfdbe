"""JSON objects as replies and responses must have them: nothing a lenient parser would wave through."""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from nclue_build.core.json_names import repeated_name

JsonObject: TypeAlias = "dict[str, object]"
MOST_LEVELS: Final = 100
"""How deep a parser gets depends on where it is called from; whether a text is read must not."""


def read_object(data: bytes | str) -> JsonObject:
    """A JSON object, strictly: UTF-8, no repeated key, no NaN.

    Raises:
        ValueError: it is something else; says what.
    """
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        message = "nested too deeply"
        raise ValueError(message) from None
    if text.count("[") + text.count("{") > MOST_LEVELS and _levels(value) > MOST_LEVELS:
        message = "nested too deeply"
        raise ValueError(message)
    if not isinstance(value, dict):
        message = f"expected an object, found {type(value).__name__}"
        raise ValueError(message)  # noqa: TRY004 - wrong data, not a wrong argument
    return value


def _levels(value: object) -> int:
    """How deep lists and objects stand in each other; counted to just beyond what is allowed."""
    level = [value]
    for depth in range(MOST_LEVELS + 2):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return depth
    return MOST_LEVELS + 1


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    if (name := repeated_name(pairs)) is not None:
        message = f"key {name!r} stands twice"
        raise ValueError(message)
    return dict(pairs)


def _no_constant(name: str) -> object:
    message = f"{name} is no JSON"
    raise ValueError(message)


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
