"""Taking answers in: every one is checked exactly like a live reply, and every one that is refused is listed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nclue_build.calls.cache import CallCache
from nclue_build.calls.guard import secret_in
from nclue_build.calls.pending import pending_file, read_pending
from nclue_build.calls.response import NotAMessageError, check_shape, read_response
from nclue_build.calls.seal import seal
from nclue_build.calls.segment import Segment
from nclue_build.calls.strict_json import read_object
from nclue_build.core.errors import UsageError
from nclue_build.core.findings import Findings
from nclue_build.core.printable import printable_problem
from nclue_build.records.calls import Provenance
from nclue_build.store.jsonl import iter_lines

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.strict_json import JsonObject
    from nclue_build.records.calls import CallRequest


@dataclass(slots=True)
class Imported:
    """What became of the lines of an answer file.

    Args:
        recorded: New records by outcome.
        known: Lines that say what is recorded already.
        rejected: Every refused line, with its reason.
        reasons: Refused lines by reason.
        left: Calls that are still unanswered.
    """

    recorded: Counter[str] = field(default_factory=Counter)
    known: int = 0
    rejected: Findings = field(default_factory=Findings)
    reasons: Counter[str] = field(default_factory=Counter)
    left: int = 0


def import_answers(
    places: CallPlaces,
    path: Path,
    answered_by: str,
    *,
    keep_failures: bool = False,
    secret_variables: tuple[str, ...] = (),
) -> Imported:
    """Record the answers of a file in the result shape of the Message Batches API, in any order.

    The same file gives the same records, whenever and wherever it is imported: no time is kept.

    Args:
        places: Of the generation they go to.
        path: ``{"custom_id": KEY, "result": {"type": "succeeded", "message": {...}}}`` a line.
        answered_by: Who answered; stands in every report in place of the model in the key.
        keep_failures: Also record replies that are cut, refused, empty or of the wrong form, as a live call would;
            without it they are refused here, so that somebody can answer again.
        secret_variables: Environment variables whose values must never be written.

    Returns:
        What became of each line.

    Raises:
        UsageError: no usable name, or nothing is known of what the build waits for.
        DataError: the file is missing.
        CacheConflict: sealing found different replies.
    """
    name = answered_by.strip()
    if not name or printable_problem(name):
        raise UsageError("--answered-by: say who answered, in one line")
    if not any(pending_file(places.build, required=required).is_file() for required in (True, False)):
        raise UsageError(
            f"no call is known that build {places.build.name!r} waits for: 'nclue-build calls export FILE' finds out "
            "what is missing, then import again"
        )
    return _Import(places, name, secret_variables, keep_failures=keep_failures).run(path)


class _Import:
    def __init__(
        self, places: CallPlaces, name: str, secret_variables: tuple[str, ...], *, keep_failures: bool
    ) -> None:
        self._places, self._keep_failures, self._secrets = places, keep_failures, secret_variables
        self._provenance = Provenance(answered_by=name)
        build = places.build
        self._asked = {
            call.key: call.request for required in (True, False) for call in read_pending(build, required=required)
        }
        self._first: dict[str, int] = {}
        self._done = Imported()

    def run(self, path: Path) -> Imported:
        seal(self._places)
        self._cache = CallCache(self._places)
        with Segment(self._places, self._secrets, durable=False) as self._segment:
            for number, line in iter_lines(path):
                problem = self._take(number, line)
                if problem is not None:
                    reason, message, key = problem
                    self._done.reasons[reason] += 1
                    code = "call-unknown" if reason == "unknown" else "call-rejected"
                    self._done.rejected.add(code, f"{reason}: {message}", path=str(path), line=number, id=key)
        seal(self._places)
        cache = CallCache(self._places)
        self._done.left = sum(cache.find(request.prompt_id, key) is None for key, request in self._asked.items())
        return self._done

    def _take(self, number: int, line: bytes) -> tuple[str, str, str | None] | None:
        """Record one line, or say why not: reason, message and key."""
        try:
            row = read_object(line)
        except ValueError as error:
            return "no_json", str(error), None
        key = row.get("custom_id")
        if not isinstance(key, str):
            return "no_custom_id", "custom_id is no text", None
        request = self._asked.get(key)
        if request is None:
            return "unknown", "custom_id is no call this build waits for: run it again to see what is missing", key
        if (first := self._first.setdefault(key, number)) != number:
            return "repeated", f"the same call is answered in line {first}", key
        message = _message_of(row)
        return ("not_succeeded", message, key) if isinstance(message, str) else self._record(key, request, message)

    def _record(self, key: str, request: CallRequest, message: JsonObject) -> tuple[str, str, str | None] | None:
        try:
            check_shape(message)
        except NotAMessageError as error:
            return "no_message", str(error), key
        reading = read_response(message, request)
        if reading.status != "ok" and not self._keep_failures:
            return reading.status, str(reading.problem), key
        response = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii")
        if (
            kind := secret_in(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"), self._secrets)
        ) is not None:
            return "secret", f"it holds {kind}", key
        known = self._cache.find(request.prompt_id, key)
        if known is not None:
            if (known.response, known.provenance) == (message, self._provenance):
                self._done.known += 1
                return None
            return "conflict", f"another reply is recorded, answered by {known.answered_by}", key
        self._segment.append(request, reading.status, response, self._provenance)
        self._done.recorded[reading.status] += 1
        return None


def _message_of(row: JsonObject) -> JsonObject | str:
    """The message of a result, or what it is instead."""
    result = row.get("result")
    if not isinstance(result, dict) or result.get("type") != "succeeded":
        kind = result.get("type") if isinstance(result, dict) else None
        return f"result.type is {kind!r}, not 'succeeded'"
    message = result.get("message")
    return message if isinstance(message, dict) else "result.message is no object"
