"""What services do to the protocol itself: sizes, encodings, headers, connections. Never a label, never more memory."""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
import time
import tracemalloc
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from nclue_build.calls.client.probe import probe
from nclue_build.calls.client.received import MOST_BYTES
from nclue_build.calls.guard import secret_in
from nclue_build.calls.replies import ClusterReply
from nclue_build.calls.session import Ask, Calls
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import CallError, PermanentCallError, TransientCallError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.records.config import CallsSection

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.calls.places import CallPlaces
    from nclue_build.records.calls import CallRequest

MESSAGE = (
    b'{"id":"m","type":"message","content":[{"type":"text","text":'
    b'"{\\"verdict\\": \\"REJECT\\", \\"reason\\": \\"r\\", \\"rubric\\": null}"}],"usage":{"output_tokens":9}}'
)


def response(body: bytes = b"", status: str = "200 OK", **headers: object) -> bytes:
    fields = {"content_length": len(body)} | headers
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end
    return response(body, content_length=None, transfer_encoding="chunked")


def nested(levels: int) -> bytes:
    return MESSAGE.replace(b'"m"', b"[" * levels + b"]" * levels)


def page(charset: str) -> bytes:
    return response(b"61", "502 Oh", content_type=f"text/html; charset={charset}")


ONE_OFF = b"{%s,%s}" % (b",".join(b'"%d":0' % number for number in range(30_000)), b'"7":0')
PACKED = gzip.compress(MESSAGE)

# name: (what is sent, how often it is asked, words of the error)
FAULTS: dict[str, tuple[bytes, int, str]] = {
    "chunks that end early": (chunked(MESSAGE[:50], end=b""), 2, "RemoteProtocolError"),
    "a chunk of nonsense": (chunked(end=b"zz\r\n"), 2, "RemoteProtocolError"),
    "a length that is too short": (response(MESSAGE, content_length=len(MESSAGE) - 5), 2, "cut off"),
    "a length that is too long": (response(MESSAGE, content_length=len(MESSAGE) + 5), 2, "RemoteProtocolError"),
    "a length of nonsense": (response(MESSAGE, content_length="abc"), 2, "RemoteProtocolError"),
    "a negative length": (response(MESSAGE, content_length=-1), 2, "RemoteProtocolError"),
    "gzip of nonsense": (response(b"\x1f\x8b\x08nonsense", content_encoding="gzip"), 2, "the body is no gzip"),
    "gzip that is cut off in its checksum": (response(PACKED[:-5], content_encoding="gzip"), 2, "cut off"),
    "gzip with something behind it": (response(PACKED + b"x", content_encoding="gzip"), 2, "more than one"),
    "401 in a gzip of nonsense": (response(b"no", "401 No", content_encoding="gzip"), 1, "HTTP 401: the body is no gz"),
    "an encoding nobody asked for": (response(MESSAGE, content_encoding="br"), 2, "not asked for"),
    "a page in a charset that is no text": (page("hex"), 2, "HTTP 502"),
    "a page in a charset that only fails": (page("undefined"), 2, "HTTP 502"),
    "a page in a charset of nonsense": (page("no-such"), 2, "HTTP 502"),
    "101": (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", 2, "RemoteProtocolError"),
    "999": (response(b"", "999 Oh"), 1, "HTTP 999"),
    "201": (response(MESSAGE, "201 Made"), 1, "HTTP 201"),
    "304": (response(b"", "304 Same"), 1, "HTTP 304"),
    "a redirect to itself": (response(b"", "307 There", location="/v1/messages"), 1, "not followed"),
    "a redirect to nonsense": (response(b"", "302 There", location="http://[::1"), 1, "not followed"),
    "a redirect to nowhere": (response(b"", "302 There"), 1, "not followed"),
    "a stream of events": (response(b"event: ping\ndata: {}\n\n", content_type="text/event-stream"), 2, "events"),
    "a byte order mark": (response(b"\xef\xbb\xbf" + MESSAGE), 2, "byte order mark"),
    "UTF-16": (response(MESSAGE.decode().encode("utf-16")), 2, "byte order mark"),
    "NaN": (response(MESSAGE.replace(b":9", b":NaN")), 2, "NaN is no JSON"),
    "Infinity": (response(MESSAGE.replace(b":9", b":-Infinity")), 2, "-Infinity is no JSON"),
    "a number of 5000 digits": (response(MESSAGE.replace(b":9", b":" + b"9" * 5000)), 2, "no JSON"),
    "brackets without end": (response(nested(100_000)), 2, "nested too deeply"),
    "as many brackets as one parser takes and another does not": (response(nested(900)), 2, "nested too deeply"),
    "more brackets than a message has": (response(nested(120)), 2, "nested too deeply"),
    "a key twice": (response(MESSAGE.replace(b'"id"', b'"type"')), 2, "'type' stands twice"),
    "a key twice, among very many": (response(ONE_OFF), 2, "'7' stands twice"),
    "content that is an object": (response(b'{"type": "message", "content": {"a": []}}'), 2, "no list of blocks"),
    "a text that is a number": (response(b'{"type":"message","content":[{"type":"text","text":5}]}'), 2, "has no text"),
    "two messages": (response(MESSAGE + MESSAGE), 2, "no JSON"),
    "a message and NUL": (response(MESSAGE + b"\0"), 2, "no JSON"),
    "an error that is a text": (response(b'{"error": "Too busy"}', "503 Busy"), 2, "HTTP 503: Too busy"),
    "an error in a list": (response(b"[1]", "500 Oh"), 2, "no message and no error"),
    "an error with details in a list": (response(b'{"error": {"details": [1]}}', "429 Oh"), 2, "HTTP 429"),
    "an error of an odd type": (response(b'{"error": {"type": {}, "code": []}}', "500 Oh"), 2, "HTTP 500"),
    "nothing": (b"", 2, "RemoteProtocolError"),
    "headers alone": (response(b"", content_length=50), 2, "RemoteProtocolError"),
    "a body alone": (MESSAGE, 2, "RemoteProtocolError"),
    "another protocol": (b"SSH-2.0-OpenSSH_9.9\r\n\r\n", 2, "RemoteProtocolError"),
    "TLS": (b"\x15\x03\x01\x00\x02\x02\x0a", 2, "RemoteProtocolError"),
    "a line that is no header": (b"HTTP/1.1 200 OK\r\nno header\r\n\r\n" + MESSAGE, 2, "RemoteProtocolError"),
    "a header that is long": (response(MESSAGE, x="a" * 300_000), 2, "RemoteProtocolError"),
    "many headers": (b"HTTP/1.1 200 OK\r\n" + b"x: a\r\n" * 50_000 + b"\r\n", 2, "RemoteProtocolError"),
    "too much": (b"", 2, "more than 16 MB"),
    "too much once it is unpacked": (
        response(gzip.compress(bytes(20 * MOST_BYTES), 1), content_encoding="gzip"), 2, "more than 16 MB",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_an_odd_response_is_a_typed_error(service: Any, raw: Any, ask: Any, name: str) -> None:
    data, asked, words = FAULTS[name]

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(bytes(1 << 20))

    service.plan = [endless if name == "too much" else raw(data)]
    with pytest.raises(CallError) as caught:
        ask("a", max_attempts=2, attempt_timeout_s=30)
    assert words in caught.value.message
    assert "\n" not in caught.value.message
    assert len(service.asked) == asked
    assert type(caught.value) is (TransientCallError if asked > 1 else PermanentCallError)


def test_a_body_without_end_takes_no_memory_without_end(service: Any, raw: Any, ask: Any) -> None:
    service.plan = [raw(FAULTS["too much once it is unpacked"][0])]
    ask_one = {"max_attempts": 1, "attempt_timeout_s": 60}
    with pytest.raises(TransientCallError):
        ask("a", **ask_one)  # imports what it needs
    tracemalloc.start()
    try:
        with pytest.raises(TransientCallError):
            ask("a", **ask_one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * MOST_BYTES


PASSING = {
    "chunks": chunked(MESSAGE[:50], MESSAGE[50:]),
    "hints first": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </x>\r\n\r\n" + response(MESSAGE),
    "no length": response(MESSAGE, content_length=None, connection="close"),
    "gzip in chunks": chunked(PACKED[:20], PACKED[20:]).replace(b"\r\n", b"\r\ncontent-encoding: x-gzip\r\n", 1),
    "a charset that is no text": response(MESSAGE, content_type="application/json; charset=hex"),
    "JSON on many lines": response(json.dumps(json.loads(MESSAGE), indent=2).replace("\n", "\r\n").encode()),
    "line separators in a text": response(MESSAGE.replace(b'"m"', '"\u2028\x85"'.encode())),
    "a cookie": response(MESSAGE, set_cookie="session=1; Path=/"),
    "a tool that is called": response(MESSAGE.replace(b'"content":[', b'"content":[{"type":"tool_use","input":{}},')),
    "an empty text first": response(MESSAGE.replace(b'"content":[', b'"content":[{"type":"text","text":""},')),
    "some brackets": response(nested(90)),
    "a stop reason that is an object": response(MESSAGE.replace(b'"id":"m"', b'"stop_reason":{"a":1}')),
    "usage that is too large for a number": response(MESSAGE.replace(b'"output_tokens":9', b'"output_tokens":1e999')),
    "usage that is a text": response(MESSAGE.replace(b":9", b':"9"')),
    "an id beyond 64 bits": response(MESSAGE.replace(b'"m"', b"9" * 40)),
    "usage beyond 64 bits": response(MESSAGE.replace(b":9", b":" + b"9" * 40)),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_message_in_an_odd_form_is_recorded_and_replayed_as_what_it_is(
    places: CallPlaces, service: Any, raw: Any, make_request: Callable[..., CallRequest], name: str
) -> None:
    service.plan = [raw(PASSING[name])]
    asks = [Ask("a", make_request())]
    outcomes = [
        Calls(places.build, CallsSection(mode=mode), "mine", NullProgress()).ask(asks, ClusterReply)[0]
        for mode in ("record", "frozen")
    ]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] is not None
    used_up = name in {"usage beyond 64 bits", "usage that is too large for a number"}
    assert outcomes[0].status == ("truncated" if used_up else "ok")
    assert len(service.asked) == 1
    assert verify_calls(places).found.total == 0


def test_an_answer_that_comes_twice_is_not_taken_for_the_next_one(
    service: Any, ask: Any, make_response: Callable[..., bytes]
) -> None:
    """A connection that stays open may hold something of the last call, which would be recorded under another key."""

    def by_text(text: str) -> Any:
        body = make_response(f'{{"verdict": "REJECT", "reason": "{text}", "rubric": null}}')

        def write(connection: socket.socket) -> None:
            connection.sendall(response(body, set_cookie="a=b") * 2)
            service.serve(connection)  # the next request on the same connection

        return write

    service.by_text = by_text
    answers = ask("a", "b", "c")
    assert [f'\\"reason\\": \\"{text}\\"'.encode() in body for text, body in answers] == [True] * 3
    assert not any("cookie" in row.headers for row in service.asked)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry_after": "7.5"}, 7.5, 8.5), ({"retry_after_ms": "1500"}, 1.5, 2.5),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5, 2.5),
        ({"retry_after_ms": "x", "retry_after": "9"}, 9, 10),
        ({"retry_after": "9" * 400}, None, None), ({"retry_after_ms": "90000"}, None, None),
        ({"retry_after": "inf"}, 0.5, 1), ({"retry_after": "nan"}, 0.5, 1), ({"retry_after": ","}, 0.5, 1),
        ({"retry_after": "\xb2"}, 0.5, 1), ({"retry_after": "Fri, 01 Jan 99999999999 00:00:00 GMT"}, 0.5, 1),
        ({"retry_after": "1e9"}, 0.5, 1), ({"retry_after_ms": "-1"}, 0.5, 1), ({"x_should_retry": "false"}, 0.5, 1),
    ],
)  # fmt: skip
def test_forms_of_retry_after(  # noqa: PLR0913, PLR0917 - fixtures
    service: Any, raw: Any, ask: Any, waits: Any, headers: dict[str, str], least: float | None, most: float
) -> None:
    service.plan = [raw(response(b"", "429 Wait", **headers)), raw(response(MESSAGE))]
    if least is None:
        with pytest.raises(TransientCallError):
            ask("a")
        assert waits.seconds == []
    else:
        ask("a")
        assert least <= waits.seconds[0] <= most


@pytest.mark.parametrize(
    ("address", "words"),
    [("http://nowhere.invalid", "the host name leads nowhere"), ("http://127.0.0.1:9", "nobody listens")],
)
def test_an_address_that_does_not_answer_is_named(
    service: Any, ask: Any, monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    monkeypatch.setenv("NCLUE_BASE_URL", address)
    with pytest.raises(TransientCallError, match=words):
        ask("a", max_attempts=1)
    assert service.asked == []


def test_an_address_without_tls_is_named(service: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    del service  # clears the proxies of the environment
    with socket.create_server(("127.0.0.1", 0)) as plain:

        def answer() -> None:
            with plain.accept()[0] as connection:
                connection.sendall(response(b"", "400 Plain HTTP"))

        thread = threading.Thread(target=answer)
        thread.start()
        monkeypatch.setenv("NCLUE_BASE_URL", f"https://127.0.0.1:{plain.getsockname()[1]}")
        with pytest.raises(TransientCallError, match="there is no TLS at the address"):
            ask("a", max_attempts=1)
        thread.join()


@pytest.mark.parametrize(
    ("name", "value"),
    [("HTTP_PROXY", "quic://geheim"), ("HTTPS_PROXY", "http://geheim:port"), ("SSL_CERT_FILE", "/nowhere/geheim")],
)
def test_an_environment_that_no_connection_can_be_made_in_is_an_error_of_usage(
    service: Any, ask: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name) as caught:
        ask("a")
    assert "geheim" not in caught.value.message
    assert service.asked == []


def test_a_credential_in_the_path_of_an_address_is_refused(
    service: Any, ask: Any, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("NCLUE_BASE_URL", f"{service.url}/{key.upper()}/v1")
    with pytest.raises(UsageError, match="stands in the address") as caught:
        ask("a")
    assert key.lower() not in caught.value.message.lower()


ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in a URL": lambda key: quote(key, safe=""),
    "in a URL, every letter": lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    "in base64": lambda key: base64.b64encode(key.encode()).decode(),
    "in base64, with a name": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "in base64, with another name": lambda key: base64.b64encode(f"users:{key}!".encode()).decode(),
    "in base64 for URLs": lambda key: base64.urlsafe_b64encode(f"a{key}".encode()).decode(),
    "in hexadecimal": lambda key: key.encode().hex(),
    "in JSON": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "in JSON in JSON": lambda key: json.dumps("".join(f"\\u{ord(letter):04X}" for letter in key)),
    "with escaped slashes": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
}


@pytest.mark.parametrize("name", ECHOES)
@pytest.mark.parametrize("secret", ["ab/cd?e~", 'gehe/im"nis\\+key', "0123/4567.89_AB-CDEF+GHIJ"])
def test_a_credential_is_known_in_other_clothes(monkeypatch: pytest.MonkeyPatch, name: str, secret: str) -> None:
    monkeypatch.setenv("SOME_KEY", f" {secret}\n")  # as sent, it has no spaces around it
    text = f'{{"message": "refused: {ECHOES[name](secret)}."}}'
    assert secret_in(text.encode(), ["SOME_KEY"]) == "the value of SOME_KEY"
    assert secret_in(text.replace(ECHOES[name](secret), "another").encode(), ["SOME_KEY"]) is None


def test_looking_for_credentials_takes_little_time_whatever_the_text() -> None:
    began = time.process_time()
    for text in (b"eyJ-", b"bearer ", b"authorization :", b"-----BEGIN ", b"\\u0041", b"%41", b"private key-----eyJ."):
        assert secret_in(text * 50_000, ["PATH"]) is None
    assert time.process_time() - began < 5


@pytest.mark.parametrize("where", ["model", "text", "stop_reason", "block"])
def test_a_probe_shows_no_credential(
    service: Any, http: Any, make_response: Callable[..., bytes], key: str, where: str
) -> None:
    body = {
        "model": make_response(model=key), "text": make_response(f"you sent {key}"),
        "stop_reason": make_response(stop_reason=key), "block": make_response(content=[{"type": key}]),
    }[where]  # fmt: skip
    service.plan = [http(200, body)]
    assert key not in repr(probe(CallsSection()))
