"""What a failed attempt means: try again, give this call up, or end the run.

The tables are in the configuration; what is not in them is decided here, always against trying again. A message says
which status and code, and the words of the service only where nothing in them looks like a credential.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.calls.guard import secret_in
from nclue_build.core.printable import escaped
from nclue_build.core.retry_after import retry_after_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.calls.client.received import Received
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
_BEGINNINGS: Final = (
    ((b"<!doctype", b"<html", b"<head", b"<?xml"), "the body is a web page"),
    ((b"event:", b"data:"), "the body is a stream of events, which was not asked for"),
    ((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "the body begins with a byte order mark"),
)
_NUMBER: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?\Z")
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


def status_failure(received: Received, config: CallsSection, problem: str | None = None) -> AttemptFailedError:
    """What a response means that is no message.

    Args:
        received: The response.
        config: With the tables.
        problem: Why it is no message, where that is known.
    """
    status, body = received.status, received.body
    error = _error_of(body)
    code, kind = _code(error), _text(error.get("type"))
    reaction = _reaction(status, code, kind, config)
    parts = [f"HTTP {status}" if status != _OK else "HTTP 200 without a message"]
    parts += [f"{name} {told(value, config)}" for name, value in (("code", code), ("type", kind)) if value]
    words = _text(error.get("message")) or _text(error.get("msg"))
    if status in _MOVED:
        words = "it points to another address, which is not followed: the prompt would go there, too"
    elif not error:
        words = received.problem and f"the body is {received.problem}"
        words = words or _kind_of(body) or problem or "the body is JSON, but no message and no error"
    text = ", ".join(parts) + (f": {told(words, config)}" if words else "")
    return AttemptFailedError(text, reaction, _asked_s(received.headers))


def _asked_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the service wants to be left alone; some say milliseconds, in a header of their own."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.match(milliseconds):
        return float(milliseconds) / 1000
    return retry_after_s(headers.get("retry-after"))


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
    if _text(error):
        return {"message": error}
    return value if {"code", "message", "msg"} & value.keys() else {}


def _code(error: dict[str, object]) -> str | None:
    """The code of a service: Z.ai has it beside the message, Anthropic among the details."""
    details = error.get("details")
    inner = details.get("error_code") if isinstance(details, dict) else None
    value = inner if isinstance(inner, str) else error.get("code")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def told(text: str, config: CallsSection, *, long_words: bool = False) -> str:
    """Words of a service as they may be told: in one line, not too long, and none that may be a credential.

    Args:
        text: The words.
        config: Names the variable that holds the credential.
        long_words: Tell words, too, that are as long as credentials of other services.
    """
    if (kind := secret_in(text.encode("utf-8", "replace"), (config.key_env,))) is not None:
        return f"(not shown: it holds {kind})"
    line = " ".join(escaped(text if long_words else _LONG.sub("[...]", text)).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + " [...]"


def _kind_of(body: bytes) -> str | None:
    """What a body is that is no JSON, in words; none of its own. None where it is JSON."""
    start = body[:200].lstrip().lower()
    for beginnings, words in _BEGINNINGS:
        if start.startswith(beginnings):
            return words
    if not start:
        return "the body is empty"
    try:
        json.loads(body.decode("utf-8"))
    except RecursionError:
        return "the body is nested too deeply"
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            return "the body is not UTF-8"
        return "the body is cut off or no JSON" if start[:1] in b"{[" else "the body is no JSON"
    return None
