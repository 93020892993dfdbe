"""Values out of JSON that may hold anything: what is not of the kind expected counts as absent."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Box: TypeAlias = tuple[int, int, int, int]

_MAX_NUMBER: Final = 1e7
"""No coordinate or index is larger: it would be a mistake, and not fit every integer."""
_MAX_DEPTH: Final = 40
"""No text is nested deeper in lists and objects."""
_CORNERS: Final = 4
PROGRAM_LENGTH: Final = 60
_PROGRAM: Final = re.compile(rf"[A-Za-z0-9][ -~]{{0,{PROGRAM_LENGTH - 1}}}")


def as_object(value: object) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    """An array, or an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """A text, a number as text, or an empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(value, int):
        return str(value)
    return f"{value:.15g}" if math.isfinite(value) else ""


def as_number(value: object) -> float | None:
    """A finite number of reasonable size, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return float(value) if abs(value) <= _MAX_NUMBER else None
    return value if math.isfinite(value) and abs(value) <= _MAX_NUMBER else None


def program_word(value: object) -> str | None:
    """The name or version of a program as page rows have it: short printable ASCII; None where it is something else."""
    return value if isinstance(value, str) and _PROGRAM.fullmatch(value) else None


def as_level(value: object) -> int | None:
    """A heading level from 1 to 6, or None where there is none."""
    number = as_number(value)
    return None if number is None or number < 1 else min(int(number), 6)


def as_box(value: object, x_scale: float, y_scale: float) -> Box | None:
    """A box in 1/100 pt, or None when it is not known.

    Args:
        value: x0, y0, x1, y1 in the file's own unit.
        x_scale: 1/100 pt per unit, 0 when that is not known.
        y_scale: The same downwards.
    """
    corners = [as_number(corner) for corner in as_array(value)]
    if len(corners) != _CORNERS or not x_scale or not y_scale:
        return None
    x0, y0, x1, y1 = corners
    if x0 is None or y0 is None or x1 is None or y1 is None:
        return None
    return round(x0 * x_scale), round(y0 * y_scale), round(x1 * x_scale), round(y1 * y_scale)


def all_texts(value: object, skipped: frozenset[str] = frozenset(), depth: int = 0) -> Iterator[str]:
    """Every text inside a value, in order, except below the keys in ``skipped``."""
    if isinstance(value, str):
        yield value
    elif depth >= _MAX_DEPTH:
        return
    elif isinstance(value, list):
        for one in value:
            yield from all_texts(one, skipped, depth + 1)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in skipped:
                yield from all_texts(one, skipped, depth + 1)


def in_index_order(blocks: list[Any]) -> list[dict[str, Any]]:
    """The objects of an array in the order of their ``index``; one without stays behind the one before it."""
    keyed: list[tuple[float, dict[str, Any]]] = []
    last = -math.inf
    for block in blocks:
        if isinstance(block, dict):
            index = as_number(block.get("index"))
            last = last if index is None else index
            keyed.append((last, block))
    keyed.sort(key=lambda one: one[0])
    return [block for _, block in keyed]
