"""Descriptions in JSON schemas: the strings below the fields of a model, read when a schema is asked for."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def describe_fields(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Put the string below each field of a model into its schema (pydantic's ``json_schema_extra``).

    pydantic can do it itself, but reads every source file at import; this waits until somebody wants the schema.

    Args:
        schema: Of the model; changed.
        model: The model.
    """
    properties = schema.get("properties", {})
    for base in reversed(model.__mro__):
        if base.__module__.startswith(__package__):
            for name, text in _field_strings(base).items():
                field = model.model_fields[name]
                properties[field.alias or name]["description"] = text


def _field_strings(model: type) -> dict[str, str]:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    if not isinstance(node, ast.ClassDef):
        return {}
    return {
        before.target.id: " ".join(after.value.value.split())
        for before, after in zip(node.body, node.body[1:], strict=False)
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }
