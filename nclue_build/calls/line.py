"""A recorded call as a line of a file.

``{"key": ..., "rec": ..., "status": ..., "request": ..., "response": ..., "provenance": ...}``. The response is what
the server sent, byte for byte, but for line ends between its tokens, which become spaces. ``rec`` is the digest of the
key and of every byte after it: whatever is edited, reformatted included, shows. Key and digest stand at fixed places,
so a file is indexed without parsing it.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, get_args

import orjson

from nclue_build.calls.key import key_of, request_bytes
from nclue_build.core.canonical import canonical_json, sha256_bytes
from nclue_build.records.calls import CallRequest, Provenance, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.calls.strict_json import JsonObject

_PREFIX: Final = b"nclue-call-record/1\n"
_HEAD: Final = re.compile(rb'\{"key":"([0-9a-f]{64})","rec":"([0-9a-f]{64})","status":"')
_KEY: Final = slice(8, 72)
_REC: Final = slice(81, 145)
_STATUSES: Final[dict[object, Status]] = {status: status for status in get_args(Status)}
_REQUEST: Final = b'","request":'
_RESPONSE: Final = b',"response":'
_STATUS: Final = 157
"""Where the status begins."""
_AFTER: Final = 145
"""Where the bytes begin that ``rec`` covers besides the key."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A recorded call, verified."""

    key: str
    rec: str
    status: Status
    request: CallRequest
    response: JsonObject
    provenance: Provenance

    @property
    def answered_by(self) -> str:
        """Who answered: whoever the import names, else the model."""
        return self.provenance.answered_by or self.request.model


def one_line(response: bytes) -> bytes:
    """A JSON text without line ends, which can only stand between its tokens."""
    return response.strip().replace(b"\r", b" ").replace(b"\n", b" ")


def encode_line(request: CallRequest, status: Status, response: bytes, provenance: Provenance) -> bytes:
    """The line of a record, without its line end.

    Args:
        request: What was asked.
        status: From :func:`nclue_build.calls.response.read_response`.
        response: The server's JSON as received.
        provenance: Where it comes from.
    """
    canonical = request_bytes(request)
    key = key_of(canonical).encode("ascii")
    rest = b'","status":"%s","request":%s,"response":%s,"provenance":%s}' % (
        status.encode("ascii"),
        canonical,
        one_line(response),
        canonical_json(provenance.model_dump()),
    )
    return b'{"key":"' + key + b'","rec":"' + _rec(key, rest) + rest


def _parse(line: bytes) -> JsonObject:
    try:
        value: JsonObject = orjson.loads(line)
    except orjson.JSONDecodeError:  # a lone surrogate, in what a model wrote
        value = json.loads(line)
    return value


def _rec(key: bytes, rest: bytes) -> bytes:
    return sha256_bytes(_PREFIX + key + b"\n" + rest).encode("ascii")


def head_of(data: bytes, start: int = 0, end: int = sys.maxsize) -> tuple[bytes, bytes] | None:
    """Key and digest of a line as they stand there, unverified; None where it does not begin like a record.

    Args:
        data: Holds the line.
        start: Where it begins.
        end: Where it ends.
    """
    found = _HEAD.match(data, start, end)
    return None if found is None else (found[1], found[2])


def line_problem(line: bytes) -> str | None:
    """Say in what a line is not as it was written, or None. Quick: nothing is parsed."""
    if head_of(line) is None:
        return "does not begin like a record"
    if _rec(line[_KEY], line[_AFTER:]) != line[_REC]:
        return "was edited: rec is not the digest of what it holds"
    return None


def decode_line(line: bytes) -> CallRecord:
    """Read a record back.

    Args:
        line: Without its line end.

    Raises:
        ValueError: it is not as it was written, or its key is not that of its request; says in what.
    """
    if problem := line_problem(line):
        raise ValueError(problem)
    # No text of a request can hold this: a quote inside a JSON string has a backslash before it.
    canonical = line[line.find(_REQUEST) + len(_REQUEST) : line.find(_RESPONSE)]
    with _reading():
        value = _parse(line)
        request = CallRequest.model_validate_json(canonical)
        record = _record(line, request, value["status"], value)
    if key_of(canonical) != record.key:
        message = "key is not that of its request"
        raise ValueError(message)
    return record


def decode_reply(line: bytes, request: CallRequest, canonical: bytes) -> CallRecord:
    """Read the record of a request that is at hand: verified as by :func:`decode_line`, in a fraction of the time.

    Args:
        line: Without its line end.
        request: Whose key the line was found by.
        canonical: The request as :func:`nclue_build.calls.key.request_bytes`.

    Raises:
        ValueError: as :func:`decode_line`.
    """
    start = line.find(_REQUEST) + len(_REQUEST)
    if not line.startswith(canonical, start) or not line.startswith(_RESPONSE, start + len(canonical)):
        return decode_line(line)  # finds out what is wrong with it
    if problem := line_problem(line):
        raise ValueError(problem)
    with _reading():
        value = _parse(b"{" + line[start + len(canonical) + 1 :])
        return _record(line, request, line[_STATUS : start - len(_REQUEST)].decode("ascii"), value)


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        message = f"is no record of a call: {str(error).splitlines()[0]}"
        raise ValueError(message) from None


def _record(line: bytes, request: CallRequest, status: object, value: JsonObject) -> CallRecord:
    response = value["response"]
    if status not in _STATUSES or not isinstance(response, dict):
        message = "status or response"
        raise ValueError(message)
    key, rec = line[_KEY].decode("ascii"), line[_REC].decode("ascii")
    return CallRecord(key, rec, _STATUSES[status], request, response, _provenance(orjson.dumps(value["provenance"])))


@lru_cache(maxsize=256)
def _provenance(data: bytes) -> Provenance:
    """Few differ where somebody answered a whole file."""
    return Provenance.model_validate_json(data)
