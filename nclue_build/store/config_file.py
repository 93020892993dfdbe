"""Reading TOML files into models, with the line of every mistake."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from nclue_build.core.errors import Finding, UsageError
from nclue_build.records.config import BuildConfig
from nclue_build.store.keys import explain_unknown_key, explain_value

if TYPE_CHECKING:
    from pathlib import Path

ModelT = TypeVar("ModelT", bound=BaseModel)


def read_toml(path: Path, model: type[ModelT]) -> ModelT:
    """Read a TOML file into a model.

    Raises:
        UsageError: missing, not UTF-8, not TOML (with its line), an unknown key (with its line and the
            nearest known one) or a value that does not fit (with its line).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: file not found") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: not valid TOML: nested too deeply") from None
    try:
        # Through JSON: strict mode takes a JSON array as a tuple, but not a Python list.
        # The standard library's JSON takes integers of any size, which the model then refuses by name.
        return model.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        found = [_explain(path, text, model, item) for item in error.errors(include_url=False)]
        raise UsageError("\n".join(str(row) for row in found), found) from None


def load_config(path: Path) -> BuildConfig:
    """Read a build configuration as written, before size-dependent defaults."""
    return read_toml(path, BuildConfig)


def _explain(path: Path, text: str, model: type[BaseModel], item: object) -> Finding:
    details = dict(item) if isinstance(item, dict) else {}
    location = [str(part) for part in details["loc"]]
    name = ".".join(location) or "file"
    line = _find_line(text, location)
    if details["type"] == "extra_forbidden":
        return Finding("unknown-key", f"{name}: {explain_unknown_key(model, location)}", str(path), line)
    message = explain_value(details["type"], str(details["msg"]), details.get("input"))
    if details["type"] != "missing" and not isinstance(details.get("input"), dict):
        message += f" (got {details.get('input')!r})"
    return Finding("bad-value", f"{name}: {message}", str(path), line)


def _find_line(text: str, location: list[str]) -> int | None:
    """Line of a key: the first ``key =`` inside its table, or the table's own header."""
    table, key = ".".join(location[:-1]), location[-1] if location else ""
    plain = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
    dotted = re.compile(rf"\s*{re.escape(table)}\.{re.escape(key)}\s*=")
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            current = header.group(1)
            if current == ".".join(location):
                return number
        elif (current == table and plain.match(line)) or (table and not current and dotted.match(line)):
            return number
    return None
