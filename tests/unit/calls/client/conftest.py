"""A service on the loopback that does what it is told, above all what real gateways do wrong."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls import session
from nclue_build.calls.client.live import LiveClient
from nclue_build.core.progress import NullProgress
from nclue_build.core.spending import Spending
from nclue_build.records.config import CallsSection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nclue_build.records.calls import CallRequest

KEY = "0123456789abcdef0123456789abcdef.PlantedSecret123"


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass
class Service:
    """What it answers is a plan: a list of raw writers, the last of which goes on for ever."""

    plan: list[Callable[[socket.socket], None]] = field(default_factory=list)
    by_text: Callable[[str], Callable[[socket.socket], None]] | None = None
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    busy: int = 0
    most_busy: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        request = _read(connection)
        if request is None:
            return
        with self.lock:
            self.asked.append(request)
            self.busy += 1
            self.most_busy = max(self.busy, self.most_busy)
            write = self.by_text(request.text) if self.by_text else self.plan.pop(0) if self.plan[1:] else self.plan[0]
        try:
            write(connection)
        except OSError:
            pass  # whoever asked has gone
        finally:
            with self.lock:
                self.busy -= 1


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Asked(first.split()[1], headers, json.loads(body))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


@pytest.fixture
def start_service() -> Iterator[Callable[[], Service]]:
    running: list[tuple[_Server, threading.Thread]] = []

    def start() -> Service:
        made = Service()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                made.serve(self.request)

        server = _Server(("127.0.0.1", 0), Handler)
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        running.append((server, thread))
        return made

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def service(start_service: Callable[[], Service], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Service:
    made = start_service()
    # Loading the certificates of all the world takes longer than everything else here.
    (tmp_path / "no-certificates").mkdir()
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "no-certificates"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NCLUE_BASE_URL", made.url)
    monkeypatch.setenv("NCLUE_API_KEY", KEY)
    return made


@pytest.fixture(scope="session")
def key() -> str:
    return KEY


@pytest.fixture(scope="session")
def http() -> Callable[..., Callable[[socket.socket], None]]:
    """Writes a whole response."""

    def make(status: int = 200, body: bytes = b"", **headers: str) -> Callable[[socket.socket], None]:
        def write(connection: socket.socket) -> None:
            fields = {"content-type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            line = f"HTTP/1.1 {status} X\r\n{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            connection.sendall(line.encode("latin-1") + body)

        return write

    return make


@pytest.fixture(scope="session")
def raw() -> Callable[[bytes], Callable[[socket.socket], None]]:
    """Writes bytes as they are, and then closes the connection."""

    def make(data: bytes) -> Callable[[socket.socket], None]:
        return lambda connection: connection.sendall(data)

    return make


@pytest.fixture(scope="session")
def cut() -> Callable[[bytes], Callable[[socket.socket], None]]:
    """Begins a response, and resets the connection in the middle of its body."""

    def make(body: bytes) -> Callable[[socket.socket], None]:
        def write(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + body)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()

        return write

    return make


@pytest.fixture(scope="session")
def drip() -> Callable[..., Callable[[socket.socket], None]]:
    """Writes a byte at a time, for ten seconds at most."""

    def make(head: bytes, byte: bytes = b" ") -> Callable[[socket.socket], None]:
        def write(connection: socket.socket) -> None:
            connection.sendall(head)
            for _ in range(200):
                time.sleep(0.05)
                connection.sendall(byte)

        return write

    return make


@dataclass
class Waits:
    """Waits that are noted, and not waited for."""

    seconds: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def make_client(waits: Waits) -> Callable[..., LiveClient]:
    def make(spending: Spending | None = None, **fields: Any) -> LiveClient:
        config = CallsSection(**{"max_attempts": 3, "concurrency": 1} | fields)
        return LiveClient(config, spending or Spending(), NullProgress(), sleep=waits.sleep)

    return make


@pytest.fixture
def ask(make_client: Callable[..., LiveClient], make_request: Callable[..., CallRequest]) -> Callable[..., Any]:
    """The answers to texts, as (text, body)."""

    def run(*texts: str, **fields: Any) -> list[tuple[str, bytes]]:
        requests = [make_request(text) for text in texts or ("a",)]
        return [(row.request.messages[-1].content, row.response) for row in make_client(**fields).answer(requests)]

    return run


@pytest.fixture
def quick(waits: Waits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions ask without waiting between attempts."""
    monkeypatch.setattr(session, "live_answerer", lambda *given: LiveClient(given[0], given[1], given[2], waits.sleep))
