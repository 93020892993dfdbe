"""What came back: status, headers and body, of which no more is taken than a message can have."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

MOST_BYTES: Final = 16 * 2**20
"""A message is some kilobytes; what is longer, packed or unpacked, is a service gone wrong."""
ACCEPTED_ENCODING: Final = "gzip"
_GZIP: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Received:
    """A response.

    Args:
        status: Of HTTP.
        headers: By lower-case name.
        body: Unpacked; empty where it cannot be read.
        problem: Why it cannot be read; None where it can.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    problem: str | None = None


async def receive(response: Any) -> Received:
    """Read a response of the HTTP client of the SDK, whose own reading has no limit and trusts every header."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    packed, problem = await _read(response.stream)
    body = b""
    if problem is None:
        body, problem = _unpack(packed, headers.get("content-encoding", "").strip().lower())
    return Received(response.status_code, headers, body, problem)


async def _read(stream: AsyncIterator[bytes]) -> tuple[bytes, str | None]:
    pieces = bytearray()
    async for piece in stream:
        pieces += piece
        if len(pieces) > MOST_BYTES:
            return b"", f"more than {MOST_BYTES // 2**20} MB"
    return bytes(pieces), None


def _unpack(packed: bytes, encoding: str) -> tuple[bytes, str | None]:
    if encoding in {"", "identity"} or not packed:
        return packed, None
    if encoding not in {"gzip", "x-gzip"}:
        return b"", "in an encoding that was not asked for"
    decoder = zlib.decompressobj(_GZIP)
    try:
        body = decoder.decompress(packed, MOST_BYTES)
    except zlib.error:
        return b"", "no gzip"
    if decoder.eof and not decoder.unused_data:
        return body, None
    return b"", f"more than {MOST_BYTES // 2**20} MB" if decoder.unconsumed_tail else "cut off, or more than one"
