"""A web server on the loopback that misbehaves as told, and builds whose documents are there."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import nclue_build
from nclue_build.fetch import retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nclue_build.fetch.outcome import FetchReport, Outcome


@dataclass
class Site:
    """What the server says at each path, and what it was asked.

    Args:
        base: Its address.
        asked: (path, headers in lower case) of every request, in order.
    """

    base: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    answers: dict[str, list[Callable[[BaseHTTPRequestHandler], None]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def url(self, path: str) -> str:
        return self.base + path

    def reply(  # noqa: PLR0913 - what an answer can be made of
        self,
        path: str,
        body: bytes = b"",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        sent: int | None = None,
        piece: int | None = None,
        pause_s: float = 0.0,
    ) -> None:
        """Answer the next request at ``path`` with just this; the last answer stays.

        Args:
            path: Where.
            body: What.
            status: Of the answer.
            headers: ``Content-Length`` is that of the body, unless it is given here (empty: left out).
            sent: Bytes of the body that are sent before the connection is closed.
            piece: Bytes that are sent at a time.
            pause_s: Seconds between them.
        """
        known = {"Content-Length": str(len(body))} | dict(headers or {})

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response_only(status)
            for name, value in known.items():
                if value:
                    handler.send_header(name, value)
            handler.end_headers()
            data = body if sent is None else body[:sent]
            size = piece or max(1, len(data))
            for start in range(0, len(data), size):
                handler.wfile.write(data[start : start + size])
                handler.wfile.flush()
                time.sleep(pause_s)
            if sent is not None or "" in known.values():
                handler.close_connection = True

        self.answers[path].append(answer)

    def serve(self, path: str, body: bytes, **headers: str) -> None:
        """Answer as a good server does, ranges included."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def answer(handler: BaseHTTPRequestHandler) -> None:
            asked = handler.headers.get("Range")
            condition = handler.headers.get("If-Range")
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            if condition is not None and condition not in named.values():
                start = 0
            handler.send_response_only(206 if start else 200)
            for name, value in named.items():
                handler.send_header(name, value)
            if start:
                handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            handler.send_header("Content-Length", str(len(body) - start))
            handler.end_headers()
            handler.wfile.write(body[start:])

        self.answers[path].append(answer)


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server of this process; everything but what a test put there is 404."""
    known = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            known.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answers = known.answers.get(self.path)
            if not answers:
                self.send_response_only(404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            try:
                answer(self)
            except ConnectionError:
                self.close_connection = True

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Clients hang up when they have enough."""

    server = Server(("127.0.0.1", 0), Handler)
    known.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield known
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _quick_and_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_FIRST_WAIT_S", 0.01)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


class MakePdf(Protocol):
    def __call__(self, size: int = ..., seed: str = ...) -> bytes: ...


@pytest.fixture(scope="session")
def pdf() -> MakePdf:
    """Bytes that start and end like a PDF, about ``size`` of them; other seeds give others."""

    def make(size: int = 5000, seed: str = "a") -> bytes:
        block = hashlib.sha512(seed.encode()).hexdigest().encode()
        return b"%PDF-1.4\n" + (block * (size // len(block) + 1))[:size] + b"\n%%EOF\n"

    return make


@dataclass
class Place:
    """A workspace whose build ``main`` takes its documents from a corpus file."""

    root: Path
    settings: str = "timeout_s = 5"

    def write(self, *rows: Mapping[str, Any]) -> None:
        (self.root / "configs").mkdir(parents=True, exist_ok=True)
        (self.root / "configs" / "workspace.toml").write_text("schema = 1\n")
        pause = "" if "host_pause_ms" in self.settings else "host_pause_ms = 0\n"
        fetch = f"[fetch]\n{pause}{self.settings}\n"
        config = f'schema = 1\n[corpus]\nfile = "lists/corpus.jsonl"\n{fetch}[run]\nworkers = 1\n'
        (self.root / "configs" / "main.toml").write_text(config)
        (self.root / "lists").mkdir(exist_ok=True)
        lines = [json.dumps({"source": "s", **row}) + "\n" for row in rows]
        (self.root / "lists" / "corpus.jsonl").write_text("".join(lines))

    def fetch(self, *rows: Mapping[str, Any], **options: Any) -> FetchReport:
        if rows:
            self.write(*rows)
        return nclue_build.fetch_build(self.root, **options)

    def one(self, **row: Any) -> Outcome:
        """Fetch a corpus of the one document ``a``."""
        (outcome,) = self.fetch({"doc_id": "a", **row}).outcomes
        return outcome

    @property
    def folder(self) -> Path:
        return self.root / "corpora" / "main" / "pdf"

    @property
    def file(self) -> Path:
        """Where the document ``a`` goes."""
        return self.folder / "a.pdf"

    @property
    def part(self) -> Path:
        return self.folder / "a.pdf.part"

    def left(self) -> list[str]:
        """Everything in the folder of fetched documents."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "w")
