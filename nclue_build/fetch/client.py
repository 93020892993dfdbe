"""The one place that speaks HTTP: redirects, resumption, retries and limits of a download."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Final, Self, TypeVar

import httpx2

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import UsageError
from nclue_build.core.printable import without_controls
from nclue_build.core.retry_after import retry_after_s
from nclue_build.fetch.content import MAGIC_WITHIN, content_problem
from nclue_build.fetch.hosts import Hosts, left_alone
from nclue_build.fetch.outcome import PlaceError
from nclue_build.fetch.places import WEB_SCHEMES, shown
from nclue_build.fetch.retry import MAX_WAIT_S, backoff_s
from nclue_build.store.partial import Origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from types import TracebackType

    from nclue_build.fetch.hosts import Deadline
    from nclue_build.records.config import FetchSection
    from nclue_build.store.partial import Partial

T = TypeVar("T")
_MEBIBYTE: Final = 1 << 20
_PROGRESS_BYTES: Final = 1 << 16
"""An attempt that brought as much is no failure: a server that always breaks off is worked through."""
_MAX_REPLY_BYTES: Final = _MEBIBYTE
"""Of what a service says of a document."""
_MAX_VALIDATOR: Final = 500
_MAX_PORT: Final = 65_535
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GONE: Final = frozenset({404, 410})
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
_OK, _PARTIAL_CONTENT, _RANGE_NOT_SATISFIABLE = 200, 206, 416
_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")


class Client:
    """Downloads into partial files, for as long as the block lasts.

    Args:
        settings: The limits.

    Raises:
        UsageError: proxies or certificates of the environment that cannot be used.
    """

    def __init__(self, settings: FetchSection) -> None:
        self._settings = settings
        self._max_bytes = settings.max_document_mb * _MEBIBYTE
        self._hosts = Hosts(settings.host_concurrency, settings.host_pause_ms / 1000)
        self._http = _made(settings)

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def download(self, url: str, part: Partial, *, verifiable: bool, deadline: Deadline) -> bool:
        """Fill a partial file with what an address has.

        What is there of the same origin is kept and the rest asked for, on the condition that the document is still
        the same: by the server's validator, or, where that gave none, because the digest will tell.

        Args:
            url: A web address.
            part: The partial file.
            verifiable: Whether the digest of the document is known.
            deadline: Of the document.

        Returns:
            Whether bytes of several answers were put together.

        Raises:
            PlaceError: the address does not give it.
        """

        async def attempt() -> bool:
            return await self._attempt(url, part, deadline, verifiable=verifiable)

        return await self._retried(attempt, lambda: part.size)

    async def read(self, url: str, *, deadline: Deadline) -> bytes:
        """What a service says.

        Raises:
            PlaceError: it does not answer, or with too much.
        """

        async def attempt() -> bytes:
            async with self._opened(url, {}, deadline) as response:
                self._check_status(response)
                return await _reply(response)

        return await self._retried(attempt)

    async def _retried(self, attempt: Callable[[], Awaitable[T]], received: Callable[[], int] = lambda: 0) -> T:
        """Try again what may go better a little later.

        Args:
            attempt: What is tried.
            received: Bytes that are there: an attempt that added many of them is not counted.
        """
        failures = 0
        while True:
            before = received()
            try:
                return await attempt()
            except PlaceError as error:
                if not error.again:
                    raise
                failures = 1 if received() - before >= _PROGRESS_BYTES else failures + 1
                if failures > self._settings.retries:
                    raise
                await _wait(failures, error)

    def _resumable(self, url: str, part: Partial, *, verifiable: bool) -> bool:
        origin = part.origin
        if not part.size or origin is None or origin.address_sha256 != _key(url):
            return False
        return origin.validator is not None or verifiable

    async def _attempt(self, url: str, part: Partial, deadline: Deadline, *, verifiable: bool) -> bool:
        """One request; returns whether its answer was appended to what was there."""
        resumable = self._resumable(url, part, verifiable=verifiable)
        headers: dict[str, str] = {}
        if resumable:
            headers["Range"] = f"bytes={part.size}-"
            if part.origin is not None and part.origin.validator is not None:
                headers["If-Range"] = part.origin.validator
        async with self._opened(url, headers, deadline) as response:
            if response.status_code == _RANGE_NOT_SATISFIABLE and resumable:
                part.discard()
                raise PlaceError("failed", "the server refuses to go on with what is there", again=True, wait_s=0)
            self._check_status(response)
            appending = response.status_code == _PARTIAL_CONTENT
            if appending:
                total = self._check_continuation(response, part, resumable=resumable)
            else:
                part.begin(Origin(address_sha256=_key(url), validator=_validator(response)))
                total = _length(response)
            await self._receive(response, part, total)
            return appending

    def _check_continuation(self, response: httpx2.Response, part: Partial, *, resumable: bool) -> int | None:
        """Whether a partial answer continues what is there; returns the size of the whole, where it is told."""
        match = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "").strip())
        fits = resumable and match is not None and int(match[1]) == part.size and not _is_encoded(response)
        known = None if part.origin is None else part.origin.validator
        if fits and known is not None and (now := _validator(response)) is not None:
            fits = now == known
        if match is None or not fits:
            part.discard()
            raise PlaceError("failed", "the server sends another part than was asked for", again=True)
        return None if match[3] == "*" else int(match[3])

    async def _receive(self, response: httpx2.Response, part: Partial, total: int | None) -> None:
        if total is not None and total > self._max_bytes:
            part.discard()
            raise self._too_large(f"has {total} bytes")
        chunks = response.aiter_bytes() if _is_encoded(response) else response.aiter_raw()
        checked = part.size >= MAGIC_WITHIN
        async for chunk in chunks:
            if part.size + len(chunk) > self._max_bytes:
                part.discard()
                raise self._too_large("goes on")
            part.write(chunk)
            if not checked and part.size >= MAGIC_WITHIN:
                _check_content(response, part)
                checked = True
        if total is not None and part.size < total:
            raise PlaceError("failed", f"broke off after {part.size} of {total} bytes", again=True)
        if total is not None and part.size > total:
            size = part.size
            part.discard()
            raise PlaceError("failed", f"sends {size} bytes of {total}", again=True)
        _check_content(response, part)

    def _too_large(self, what: str) -> PlaceError:
        return PlaceError("too-large", f"{what}, more than max_document_mb = {self._settings.max_document_mb}")

    def _check_status(self, response: httpx2.Response) -> None:
        status = response.status_code
        if status in {_OK, _PARTIAL_CONTENT}:
            return
        if status in _GONE:
            raise PlaceError("gone", f"gone (status {status})")
        again = status in _AGAIN
        wait_s = retry_after_s(response.headers.get("retry-after")) if again else None
        if wait_s is not None:
            self._hosts.leave_alone(_host(str(response.url)), wait_s)
        raise PlaceError("failed", f"status {status}", again=again, wait_s=wait_s)

    @contextlib.asynccontextmanager
    async def _opened(self, url: str, headers: dict[str, str], deadline: Deadline) -> AsyncIterator[httpx2.Response]:
        """The answer of an address or of where it leads; every error of the network comes out as a PlaceError."""
        try:
            for _ in range(self._settings.max_redirects + 1):
                _check_port(url)
                async with (
                    self._hosts.turn(_host(url), deadline),
                    self._http.stream("GET", url, headers=headers) as response,
                ):
                    if response.status_code not in _REDIRECTS:
                        yield response
                        return
                    url = _redirected(response)
        except httpx2.TimeoutException:
            message = f"no answer within timeout_s = {self._settings.timeout_s}"
            raise PlaceError("failed", message, again=True) from None
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL, UnicodeError) as error:
            raise PlaceError("failed", f"the address cannot be used: {_described(error)}") from None
        except httpx2.RequestError as error:
            raise PlaceError("failed", _described(error), again=True) from None
        raise PlaceError("failed", f"more than max_redirects = {self._settings.max_redirects} redirects")


def _made(settings: FetchSection) -> httpx2.AsyncClient:
    contact = f" ({settings.contact})" if settings.contact else ""
    try:
        return httpx2.AsyncClient(
            headers={
                "User-Agent": f"nclue-build{contact}",
                "Accept": "application/pdf, */*;q=0.5",
                "Accept-Encoding": "identity",  # so that a broken download can be resumed at a known byte
            },
            timeout=settings.timeout_s,
            limits=httpx2.Limits(max_connections=2 * settings.concurrency, max_keepalive_connections=4),
        )
    except (ImportError, ValueError, httpx2.InvalidURL, OSError) as error:  # a proxy's address may hold a password
        raise UsageError(
            f"no connection can be set up ({type(error).__name__}): look at the proxy variables (HTTP_PROXY, "
            "HTTPS_PROXY, ALL_PROXY; those of SOCKS need the package socksio), SSL_CERT_FILE and SSL_CERT_DIR"
        ) from None


def _check_port(url: str) -> None:
    """Refuse a port that no machine has: below the client it would be no error of the network."""
    if (httpx2.URL(url).port or 0) > _MAX_PORT:
        raise PlaceError("failed", f"the address cannot be used: no port is above {_MAX_PORT}")


async def _reply(response: httpx2.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > _MAX_REPLY_BYTES:
            raise PlaceError("failed", "answers with more than 1 MiB")
    return bytes(data)


async def _wait(failures: int, error: PlaceError) -> None:
    wait_s = backoff_s(failures) if error.wait_s is None else error.wait_s
    if wait_s > MAX_WAIT_S:
        raise left_alone(error.reason, wait_s) from None
    await asyncio.sleep(wait_s)


def _redirected(response: httpx2.Response) -> str:
    location = response.headers.get("location", "")
    if not location:
        raise PlaceError("failed", f"status {response.status_code} that leads nowhere")
    target = response.url.join(location)
    if target.scheme not in WEB_SCHEMES:
        raise PlaceError("failed", f"leads to an address of another kind ({without_controls(target.scheme)[:20]})")
    if response.url.scheme == "https" and target.scheme == "http":
        raise PlaceError("failed", f"leads from https to http ({shown(str(target))})")
    return str(target)


def _host(url: str) -> str:
    return httpx2.URL(url).netloc.decode("ascii", "replace")


def _check_content(response: httpx2.Response, part: Partial) -> None:
    if (problem := content_problem(part.head(MAGIC_WITHIN), response.headers.get("content-type"))) is not None:
        part.discard()
        raise PlaceError("not-pdf", problem)


def _validator(response: httpx2.Response) -> str | None:
    """What ``If-Range`` may name (RFC 9110, section 13.1.5); None for content that cannot be resumed by it."""
    if _is_encoded(response):
        return None
    tag: str = response.headers.get("etag", "").strip()
    value = tag if tag and not tag.startswith("W/") else response.headers.get("last-modified", "").strip()
    return value if value.isascii() and 0 < len(value) <= _MAX_VALIDATOR else None


def _is_encoded(response: httpx2.Response) -> bool:
    return response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}


def _length(response: httpx2.Response) -> int | None:
    value = response.headers.get("content-length", "")
    return int(value) if value.isdecimal() and not _is_encoded(response) else None


def _key(url: str) -> str:
    return sha256_bytes(url.encode("utf-8", "surrogatepass"))


def _described(error: Exception) -> str:
    return without_controls(str(error))[:200] or type(error).__name__
