"""The key of a call: a digest of the whole request."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import orjson

from nclue_build.core.canonical import canonical_json, sha256_bytes
from nclue_build.core.errors import DataError
from nclue_build.records.calls import CallRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYED: Final = tuple(CallRequest.model_fields)
"""Fields of a request; each of them changes the key."""

EXCLUDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "host": "the same model behind another address gives replies of the same kind",
        "credentials": "who pays decides nothing, and secrets are never stored",
        "timeouts": "they decide whether there is a reply, not which",
        "retries": "as timeouts",
        "concurrency": "as timeouts",
        "SDK version": "the request that goes over the wire is what counts",
    }
)
"""What the key leaves out, and why: the one list of it."""

_PREFIX: Final = b"nclue-call-key/1\n"


def request_bytes(request: CallRequest) -> bytes:
    """Canonical JSON of a request.

    Raises:
        DataError: a text holds a lone surrogate, which has no bytes; it is never replaced.
    """
    value = request.model_dump()
    try:
        # The same bytes as canonical_json for what a request holds, in a tenth of the time.
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        pass
    try:
        return canonical_json(value)
    except UnicodeEncodeError as error:
        message = f"the request to prompt {request.prompt_id!r} holds a lone surrogate ({error.object[error.start]!a})"
        raise DataError(f"{message}: extract the document again") from None


def key_of(canonical: bytes) -> str:
    """The key of a request, given as :func:`request_bytes`."""
    return sha256_bytes(_PREFIX + canonical)


def call_key(request: CallRequest) -> str:
    """The key of a request.

    Raises:
        DataError: as :func:`request_bytes`.
    """
    return key_of(request_bytes(request))
