"""What a response comes to: an outcome for every shape there is, a verdict for none but the right one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.response import NotAMessageError, check_message, read_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.calls import CallRequest

TEXT = {"type": "text", "text": '{"verdict": "REJECT", "reason": "made up", "rubric": null}'}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "ok"),
        ({"content": [THOUGHT, TEXT]}, "ok"),
        ({"stop_reason": "max_tokens"}, "truncated"),
        ({"usage": {"output_tokens": 700}}, "truncated"),
        ({"usage": {"output_tokens": 699}}, "ok"),
        ({"usage": None}, "ok"),
        ({"stop_reason": "refusal"}, "refused"),
        ({"stop_reason": "refusal", "content": []}, "refused"),
        ({"content": []}, "empty"),
        ({"content": [THOUGHT]}, "empty"),
        ({"content": [{"type": "text", "text": " \n"}]}, "empty"),
        ({"content": [{"type": "text", "text": "KEEP"}]}, "invalid"),
        ({"content": [{"type": "text", "text": "<think>x</think>" + TEXT["text"]}]}, "invalid"),
        ({"content": [THOUGHT], "stop_reason": "max_tokens"}, "truncated"),
    ],
)
def test_outcomes(
    fields: dict[str, Any], status: str, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    reading = read_response(check_message(make_response(**fields)), make_request())
    assert reading.status == status
    assert (reading.reply is None) == (reading.problem is not None) == (status != "ok")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>502</html>", b'{"type": "error", "error": {"type": "overloaded_error"}, "content": null}', b"[]",
        b'{"type": "message"}', b'{"type": "message", "content": null}', b'{"type": "message", "content": ["x"]}',
        b'{"type": "message", "content": [{"type": "text"}]}', b'{"type": "message", "content": [', b"\xff\xfe{\x00}",
        b'{"type": "message", "type": "message", "content": []}',
    ],
)  # fmt: skip
def test_what_is_no_message_is_never_stored(body: bytes) -> None:
    with pytest.raises(NotAMessageError):
        check_message(body)
