"""What a failed attempt means: try again, give this call up, or end the run.

The tables are in the configuration; what is not in them is decided here, always against trying again. A message says
which status and code, and the words of the service only where nothing in them looks like a credential.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.calls.guard import secret_in
from nclue_build.core.printable import escaped
from nclue_build.core.retry_after import retry_after_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.records.config import CallsSection

Reaction = Literal["retry", "call", "run"]
"""``retry``: the attempt may be repeated; ``call``: this call failed for good; ``run``: every other would, too."""

_RUN_STATUSES: Final = frozenset({401, 402, 403, 404, 407, 451})
_TYPES: Final[dict[str, Reaction]] = {
    "authentication_error": "run",
    "billing_error": "run",
    "permission_error": "run",
    "not_found_error": "run",
    "invalid_request_error": "call",
    "request_too_large": "call",
    "rate_limit_error": "retry",
    "overloaded_error": "retry",
    "api_error": "retry",
    "timeout_error": "retry",
}
"""By ``error.type``, where an error came with status 200."""
_OK: Final = 200
_MOVED: Final = range(300, 400)
_SHOWN: Final = 200
_LONG: Final = re.compile(r"[!-~]{24,}")
"""What may be a credential that no pattern knows: services quote the one they refuse."""


class AttemptFailedError(Exception):
    """An attempt that brought no message.

    Args:
        message: In one line.
        reaction: What it means.
        retry_after_s: Seconds the service wants to be left alone.
    """

    def __init__(self, message: str, reaction: Reaction, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message, self.reaction, self.retry_after_s = message, reaction, retry_after_s


def status_failure(status: int, headers: Mapping[str, str], body: bytes, config: CallsSection) -> AttemptFailedError:
    """What a response means that is no message.

    Args:
        status: Of HTTP; 200 where the body is no message all the same.
        headers: Of the response, by lower-case name.
        body: As it came.
        config: With the tables.
    """
    error = _error_of(body)
    code, kind = _code(error), _text(error.get("type"))
    reaction = _reaction(status, code, kind, config)
    parts = [f"HTTP {status}" if status != _OK else "HTTP 200 without a message"]
    parts += [f"{name} {_shown(value, config)}" for name, value in (("code", code), ("type", kind)) if value]
    words = _text(error.get("message"))
    if status in _MOVED:
        words = "it points to another address, which is not followed: the prompt would go there, too"
    elif not error:
        words = f"the body is {_kind_of(body)}"
    text = ", ".join(parts) + (f": {_shown(words, config)}" if words else "")
    return AttemptFailedError(text, reaction, retry_after_s(headers.get("retry-after")))


def _reaction(status: int, code: str | None, kind: str | None, config: CallsSection) -> Reaction:
    if code in config.fatal_codes or kind == "billing_error":
        return "run"
    if code in config.retry_codes:
        return "retry"
    if status in _RUN_STATUSES or status in _MOVED:
        return "run"
    if status == _OK:
        # Cut JSON, a page of HTML or nothing at all is a gateway that failed.
        return _TYPES.get(kind or "", "retry")
    if str(status) in config.retry_statuses or f"{status // 100}xx" in config.retry_statuses:
        return "retry"
    return "call"


def _error_of(body: bytes) -> dict[str, object]:
    """The error object of a body; empty where there is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    error = value.get("error")
    if isinstance(error, dict):
        return error
    return value if {"code", "message", "msg"} & value.keys() else {}


def _code(error: dict[str, object]) -> str | None:
    """The code of a service: Z.ai has it beside the message, Anthropic among the details."""
    details = error.get("details")
    inner = details.get("error_code") if isinstance(details, dict) else None
    value = inner if isinstance(inner, str) else error.get("code")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _shown(text: str, config: CallsSection) -> str:
    data = text.encode("utf-8", "replace")
    if (kind := secret_in(data, (config.key_env,))) is not None:
        return f"(not shown: it holds {kind})"
    line = " ".join(escaped(_LONG.sub("[...]", text)).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " [...]"


def _kind_of(body: bytes) -> str:
    """What a body is that is no JSON error, in words; none of its own."""
    start = body[:200].lstrip().lower()
    if not start:
        return "empty"
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        return "a web page"
    try:
        json.loads(body)
    except UnicodeDecodeError:
        return "not UTF-8"
    except (ValueError, RecursionError):
        return "cut off or no JSON" if start[:1] in b"{[" else "no JSON"
    return "JSON, but no message and no error"
