"""Values of options that Typer does not check: one message for a wrong one, as for everything else."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

ValueT = TypeVar("ValueT", bound=str)


def one_of(option: str, value: str, allowed: Sequence[ValueT]) -> ValueT:
    """A value out of a list.

    Raises:
        UsageError: it is another one.
    """
    for one in allowed:
        if one == value:
            return one
    raise UsageError(f"{option} {value}: must be one of {', '.join(allowed)}")


def whole_numbers(option: str, value: str) -> tuple[int, ...]:
    """Numbers of at least 1 with commas between them, ascending and each once; none for an empty value.

    Raises:
        UsageError: something else stands there.
    """
    parts = [part.strip() for part in value.split(",")] if value.strip() else []
    if not all(part.isascii() and part.isdigit() and int(part) >= 1 for part in parts):
        raise UsageError(f"{option} {value}: must be whole numbers from 1 with commas between them")
    return tuple(sorted({int(part) for part in parts}))


def money(option: str, text: str | None) -> Decimal | None:
    """An amount of money, exactly; None where none is given.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text):
        raise UsageError(f"{option} {text}: must be an amount such as 2.50")
    return Decimal(text)
