"""Everything that services and gateways do wrong: a typed error or the outcome it is, and never a verdict."""

from __future__ import annotations

import gzip
import json
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.replies import ClusterReply
from nclue_build.calls.session import Ask, Calls
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import CallError, PermanentCallError, TransientCallError
from nclue_build.core.progress import NullProgress
from nclue_build.records.config import CallsSection

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.calls.places import CallPlaces
    from nclue_build.records.calls import CallRequest


def error(kind: str = "", message: str = "no", code: str | None = None, **details: str) -> bytes:
    row: dict[str, Any] = {"type": kind, "message": message} | ({"code": code} if code else {})
    return json.dumps({"type": "error", "error": row | ({"details": details} if details else {})}).encode()


# name: (HTTP status, headers, body, is it tried again)
FAULTS: dict[str, tuple[int, dict[str, str], bytes, bool]] = {
    "429 without retry-after": (429, {}, error("rate_limit_error"), True),
    "429 with retry-after": (429, {"retry_after": "7"}, error("rate_limit_error"), True),
    "429 that means a day": (429, {"retry_after": "86400"}, error("rate_limit_error"), False),
    "429 with a date that is far": (429, {"retry_after": "Fri, 01 Jan 2100 00:00:00 GMT"}, error(), False),
    "429 with a date that has been": (429, {"retry_after": "Fri, 01 Jan 2021 00:00:00 GMT"}, error(), True),
    "429 with a retry-after of nonsense": (429, {"retry_after": "soon"}, error(), True),
    "429 with a negative retry-after": (429, {"retry_after": "-5"}, error(), True),
    "429 with nothing in it": (429, {}, b"", True),
    "too many requests (1302)": (429, {}, error(code="1302"), True),
    "too fast (1303)": (429, {}, error(code="1303"), True),
    "too busy (1305)": (429, {}, error(code="1305"), True),
    "too busy (1312), as a number": (429, {}, b'{"error": {"code": 1312, "message": "busy"}}', True),
    "no balance (1113)": (429, {}, error(code="1113"), False),
    "used up for the day (1304)": (429, {}, error(code="1304"), False),
    "used up (1308)": (429, {}, error(code="1308"), False),
    "plan is over (1309)": (429, {}, error(code="1309"), False),
    "used up for the week (1310)": (429, {}, error(code="1310"), False),
    "model is not in the plan (1311)": (429, {}, error(code="1311"), False),
    "against fair use (1313)": (429, {}, error(code="1313"), False),
    "spending limit": (429, {}, error("rate_limit_error", error_code="enforced_spend_limit_reached"), False),
    "limit of a contract": (429, {}, error("rate_limit_error", error_code="contract_spend_limit_reached"), False),
    "bill": (429, {}, error("billing_error"), False),
    "400": (400, {}, error("invalid_request_error"), False),
    "401": (401, {}, error("authentication_error"), False),
    "401 of llama.cpp": (401, {}, b'{"error": {"code": 401, "message": "Invalid API Key", "type": "auth"}}', False),
    "402": (402, {}, error("billing_error"), False),
    "403": (403, {}, error("permission_error"), False),
    "404": (404, {}, error("not_found_error"), False),
    "408": (408, {}, b"", True),
    "409": (409, {}, error("conflict_error"), True),
    "413": (413, {}, error("request_too_large"), False),
    "422": (422, {}, b"{}", False),
    "500": (500, {}, error("api_error"), True),
    "500 with a vendor code that ends it": (500, {}, error(code="1113"), False),
    "501": (501, {}, b"", True),
    "502 with a web page": (502, {"content_type": "text/html"}, b"<html><h1>Bad Gateway</h1></html>", True),
    "503": (503, {}, b"upstream connect error", True),
    "504": (504, {}, b"", True),
    "529": (529, {}, error("overloaded_error"), True),
    "500 nested too deeply": (500, {}, b"[" * 200_000, True),
    "500 with a lone surrogate": (500, {}, b'{"error": {"message": "\\ud800", "type": "\\udfff"}}', True),
    "500 with NUL": (500, {}, b'{"error": {"message": "a\\u0000b"}}', True),
    "200 with an error that passes": (200, {}, error("overloaded_error"), True),
    "200 with an error of credentials": (200, {}, error("authentication_error"), False),
    "200 with an error of the request": (200, {}, error("invalid_request_error"), False),
    "200 with a vendor code": (200, {}, b'{"code": 1113, "msg": "no balance", "success": false}', False),
    "200 with null content": (200, {}, b'{"type": "message", "content": null}', True),
    "200 with an error and null content": (200, {}, b'{"error": {"message": "x"}, "content": null}', True),
    "200 with a string as content": (200, {}, b'{"type": "message", "content": "KEEP"}', True),
    "200 with a text block without text": (200, {}, b'{"type": "message", "content": [{"type": "text"}]}', True),
    "200 with a web page": (200, {"content_type": "text/html"}, b"<!DOCTYPE html><title>Log in</title>", True),
    "200 with nothing": (200, {}, b"", True),
    "200 with blanks": (200, {}, b"   \n", True),
    "200 with cut JSON": (200, {}, b'{"type": "message", "content": [{"type": "te', True),
    "200 with two keys alike": (200, {}, b'{"type": "message", "content": [], "content": []}', True),
    "200 with a list": (200, {}, b"[]", True),
    "200 in Latin-1": (200, {}, b'{"type": "message", "content": [{"type": "text", "text": "\xe9"}]}', True),
    "200 in UTF-16": (200, {}, '{"type": "message", "content": []}'.encode("utf-16"), True),
    "200 with a raw NUL": (200, {}, b'{"type": "message", "content": [{"type": "text", "text": "\0"}]}', True),
    "200 nested too deeply": (200, {}, b"[" * 200_000, True),
    "200 that is no gzip": (200, {"content_encoding": "gzip"}, b"no gzip", True),
    "204": (204, {}, b"", False),
    "300": (300, {}, b"", False),
    "101 is no answer": (418, {}, b"I am a teapot", False),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_a_typed_error_and_is_tried_again_only_where_that_may_help(
    service: Any, http: Any, ask: Any, waits: Any, name: str
) -> None:
    status, headers, body, again = FAULTS[name]
    service.plan = [http(status, body, **headers)]
    with pytest.raises(CallError) as caught:
        ask("a")
    assert type(caught.value) in {TransientCallError, PermanentCallError}
    assert len(service.asked) == (3 if again else 1)
    assert len(waits.seconds) == len(service.asked) - 1
    assert all(0 <= seconds <= 61 for seconds in waits.seconds)
    assert [row.code for row in caught.value.findings] == ["call-failed"]
    assert "\n" not in caught.value.message


def test_after_faults_that_pass_the_answer_is_kept(
    service: Any, http: Any, ask: Any, make_response: Callable[..., bytes]
) -> None:
    passing = [http(status, body, **headers) for status, headers, body, again in FAULTS.values() if again]
    assert len(passing) > 30
    for start in range(0, len(passing), 10):
        faults = passing[start : start + 10]
        service.by_text = lambda _, faults=faults: faults.pop() if faults else http(200, make_response())
        assert ask("a", max_attempts=20) == [("a", make_response())]


def test_what_a_service_asks_for_is_waited_for(service: Any, http: Any, ask: Any, waits: Any) -> None:
    soon = formatdate(4102444800, usegmt=True)  # year 2100: not waited for
    service.plan = [http(429, b"", retry_after="7"), http(503, b"", retry_after="60"), http(429, b"", retry_after=soon)]
    with pytest.raises(TransientCallError):
        ask("a", max_attempts=9)
    assert len(service.asked) == 3
    assert 7 < waits.seconds[0] <= 8
    assert waits.seconds[1] == 60


def test_waits_grow_and_are_spread(service: Any, http: Any, ask: Any, waits: Any) -> None:
    service.plan = [http(500)]
    with pytest.raises(TransientCallError):
        ask("a", max_attempts=8, max_wait_s=20)
    for number, seconds in enumerate(waits.seconds):
        assert min(2.0**number, 20) / 2 <= seconds <= min(2.0**number, 20)
    assert len({round(seconds, 6) for seconds in waits.seconds}) == 7


@pytest.mark.parametrize("where", ["body", "error body", "headers", "nothing at all"])
def test_a_drip_ends_at_the_deadline_by_the_clock(service: Any, drip: Any, ask: Any, where: str) -> None:
    heads = {
        "body": (b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n", b" "),
        "error body": (b"HTTP/1.1 500 Oh\r\ncontent-length: 5000\r\n\r\n", b" "),
        "headers": (b"HTTP/1.1 200 OK\r\nx: ", b"a"),
        "nothing at all": (b"", b""),
    }
    service.plan = [drip(*heads[where])]
    with pytest.raises(TransientCallError, match="no whole response in 1 seconds"):
        ask("a", attempt_timeout_s=1, max_attempts=1)


def test_a_call_has_a_deadline_over_all_its_attempts(service: Any, drip: Any, ask: Any) -> None:
    service.plan = [drip(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n")]
    with pytest.raises(TransientCallError, match="no answer in 1 seconds, all attempts together"):
        ask("a", attempt_timeout_s=60, call_timeout_s=1)


def test_a_reset_in_the_middle_and_a_closed_port_are_tried_again(
    service: Any, cut: Any, http: Any, ask: Any, make_response: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    service.plan = [cut(make_response()[:20]), http(200, make_response())]
    assert ask("a") == [("a", make_response())]
    monkeypatch.setenv("NCLUE_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(TransientCallError, match="no whole response"):
        ask("a")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    service: Any, http: Any, ask: Any, start_service: Any, make_response: Callable[..., bytes], status: int
) -> None:
    other = start_service()
    other.plan = [http(200, make_response())]
    service.plan = [http(status, b"", location=f"{other.url}/v1/messages")]
    with pytest.raises(PermanentCallError, match="not followed"):
        ask("a")
    assert (len(service.asked), other.asked) == (1, [])


def test_a_compressed_answer_is_read(service: Any, http: Any, ask: Any, make_response: Callable[..., bytes]) -> None:
    service.plan = [http(200, gzip.compress(make_response()), content_encoding="gzip")]
    assert ask("a") == [("a", make_response())]


RUBRIC = '{"requirement": "a", "counts": "b", "does_not_count": "c", "note": null}'
KEEP = '{"verdict": "KEEP", "reason": "r", "rubric": ' + RUBRIC + "}"
TEXT = {"type": "text", "text": KEEP}
OUTCOMES: dict[str, tuple[dict[str, Any], str]] = {
    "a refusal": ({"stop_reason": "refusal"}, "refused"),
    "a refusal without content": ({"stop_reason": "refusal", "content": []}, "refused"),
    "max_tokens": ({"stop_reason": "max_tokens"}, "truncated"),
    "all tokens used up, though it says end_turn": ({"usage": {"output_tokens": 700}}, "truncated"),
    "thinking only": ({"content": [{"type": "thinking", "thinking": KEEP, "signature": ""}]}, "empty"),
    "thinking first": ({"content": [{"type": "thinking", "thinking": "REJECT"}, TEXT]}, "ok"),
    "an unknown block": ({"content": [{"type": "hologram", "text": KEEP}]}, "empty"),
    "an unknown block first": ({"content": [{"type": "hologram"}, TEXT]}, "ok"),
    "an unknown stop reason": ({"stop_reason": "bored"}, "ok"),
    "no stop reason": ({"stop_reason": None}, "ok"),
    "no usage": ({"usage": None}, "ok"),
    "usage of nonsense": ({"usage": {"output_tokens": -3, "x": "y", "input_tokens": 1.5, "z": True}}, "ok"),
    "no blocks": ({"content": []}, "empty"),
    "blank text": ({"content": [{"type": "text", "text": " \n"}]}, "empty"),
    "thinking in the text": ({"content": [{"type": "text", "text": "<think>no</think>" + KEEP}]}, "invalid"),
    "prose": ({"content": [{"type": "text", "text": "I would keep it."}]}, "invalid"),
    "a lone surrogate": ({"content": [{"type": "text", "text": KEEP.replace('"r"', '"\ud800"')}]}, "invalid"),
    "NUL in a text": ({"content": [{"type": "text", "text": KEEP.replace('"r"', '"\\u0000"')}]}, "invalid"),
    "a model name of nonsense": ({"model": "\ud800\n"}, "ok"),
    "another model": ({"model": "glm-4-flash"}, "ok"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_answer_is_stored_with_the_outcome_it_is(
    places: CallPlaces, service: Any, http: Any, make_message: Callable[..., dict[str, Any]],
    make_request: Callable[..., CallRequest], name: str,
) -> None:  # fmt: skip
    fields, status = OUTCOMES[name]
    service.plan = [http(200, json.dumps(make_message(KEEP, **fields)).encode("ascii"))]
    asks = [Ask("a", make_request())]
    for mode in ("record", "frozen"):
        calls = Calls(places.build, CallsSection(mode=mode), "mine", NullProgress())
        (outcome,) = calls.ask(asks, ClusterReply)
        assert outcome is not None
        assert (outcome.status, outcome.reply is None) == (status, status != "ok")
    assert len(service.asked) == 1
    assert verify_calls(places).found.total == 0


@pytest.mark.parametrize("name", ["200 with cut JSON", "500", "401", "200 with null content", "429 that means a day"])
def test_nothing_of_a_failure_is_stored(
    places: CallPlaces, service: Any, http: Any, make_request: Callable[..., CallRequest], quick: None, name: str
) -> None:
    del quick
    status, headers, body, _ = FAULTS[name]
    service.plan = [http(status, body, **headers)]
    with pytest.raises(CallError):
        Calls(places.build, CallsSection(mode="record"), "mine", NullProgress()).ask(
            [Ask("a", make_request())], ClusterReply
        )
    assert verify_calls(places).records == 0
    assert places.segments() == []
