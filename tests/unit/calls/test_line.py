"""Records as lines: any edit shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nclue_build.calls.key import request_bytes
from nclue_build.calls.line import decode_line, decode_reply, encode_line
from nclue_build.records.calls import Provenance

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.calls import CallRequest

BY = Provenance(answered_by="a test", usage={"output_tokens": 9})


@pytest.fixture
def line(make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]) -> bytes:
    return encode_line(make_request("N\u00e4me \U0001f33e"), "ok", make_response(), BY)


def test_a_record_comes_back(line: bytes, make_request: Callable[..., CallRequest]) -> None:
    record = decode_line(line)
    assert record.request == make_request("N\u00e4me \U0001f33e")
    assert (record.status, record.provenance, record.answered_by) == ("ok", BY, "a test")
    assert list(json.loads(line)) == ["key", "rec", "status", "request", "response", "provenance"]


def test_every_edited_byte_is_noticed(line: bytes) -> None:
    for index in range(len(line)):
        edited = bytearray(line)
        edited[index] ^= 1
        with pytest.raises(ValueError, match=r"record|rec is not|begin"):
            decode_line(bytes(edited))


def test_with_the_request_at_hand_a_record_is_the_same_and_every_edit_is_noticed(
    line: bytes, make_request: Callable[..., CallRequest]
) -> None:
    request = make_request("N\u00e4me \U0001f33e")
    canonical = request_bytes(request)
    assert decode_reply(line, request, canonical) == decode_line(line)
    for index in range(len(line)):
        edited = bytearray(line)
        edited[index] ^= 1
        with pytest.raises(ValueError, match=r"record|rec is not|begin"):
            decode_reply(bytes(edited), request, canonical)


def test_an_insertion_a_deletion_and_other_white_space_are_noticed(line: bytes) -> None:
    for edited in (line[:-1], line + b" ", line[:200] + b" " + line[200:], json.dumps(json.loads(line)).encode()):
        with pytest.raises(ValueError, match=r"rec is not|begin"):
            decode_line(edited)


def test_a_record_of_another_request_is_noticed(line: bytes) -> None:
    """Somebody who also computes the digest again still needs the key of the request."""
    from nclue_build.calls import line as module  # noqa: PLC0415 - its digest is what is forged here

    rest = line[145:].replace(b'"max_tokens":700', b'"max_tokens":900')
    assert rest != line[145:]
    forged = line[:81] + module._rec(line[8:72], rest) + rest
    with pytest.raises(ValueError, match="key is not that of its request"):
        decode_line(forged)


def test_the_response_stays_as_the_server_sent_it(make_request: Callable[..., CallRequest]) -> None:
    sent = b'\n{"type": "message",\r\n "cost": 1.10, "big": 1e5, "content": [{"type":"text","text":"a\\nb\\u00e9"}]}\n'
    line = encode_line(make_request(), "invalid", sent, Provenance())
    assert (
        b'{"type": "message",   "cost": 1.10, "big": 1e5, "content": [{"type":"text","text":"a\\nb\\u00e9"}]}' in line
    )
    assert b"\n" not in line
    assert decode_line(line).response["cost"] == 1.1
