"""What to say of keys and values that a record or a configuration cannot have."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def explain_unknown_key(model: type[BaseModel], location: Sequence[str | int]) -> str:
    """Say that a key is unknown, and the nearest known one, or all of them.

    Args:
        model: What the whole row or file has to be.
        location: Keys and indices from the top down to the unknown one, as pydantic reports them.
    """
    models = [model]
    for step in location[:-1]:
        if isinstance(step, str):
            models = [below for one in models for below in _models_of(one, step)] or models
    known = sorted({field.alias or name for one in models for name, field in one.model_fields.items()})
    near = difflib.get_close_matches(str(location[-1]), known, n=1)
    return "unknown key; " + (f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}")


def explain_value(kind: str, message: str, value: object) -> str:
    """Say what is wrong with a value.

    Args:
        kind: The type of the problem, as pydantic names it.
        message: What pydantic says, of Python's types and of validators.
        value: The value.
    """
    if kind == "too_short" and value in ("", [], ()):
        return "must not be empty"
    return message.removeprefix("Value error, ")


def _models_of(model: type[BaseModel], key: str) -> Iterator[type[BaseModel]]:
    """The models that the value of a key may consist of."""
    for name, field in model.model_fields.items():
        if key in {name, field.alias}:
            yield from _models_in(field.annotation)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
