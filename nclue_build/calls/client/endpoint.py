"""Where requests go, and with which credential: both from the environment, neither ever written."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from nclue_build.calls.guard import MIN_SECRET
from nclue_build.core.errors import UsageError
from nclue_build.core.printable import printable_problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from nclue_build.records.config import CallsSection

_HOST: Final = re.compile(r"[a-z0-9._-]+\Z|[0-9a-f:.]+\Z")
_KEY: Final = re.compile(r"[!-~]{1,4096}\Z")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service.

    Args:
        base_url: Its address, without the ``/v1`` that the client adds.
        host: Host and port of it: what a record may say.
        key: The credential; kept out of every representation.
        auth: How it is sent.
    """

    base_url: str
    host: str
    key: str = field(repr=False)
    auth: Literal["bearer", "x-api-key", "both"]

    @property
    def auth_headers(self) -> dict[str, str]:
        """The headers that carry the credential."""
        bearer = {"Authorization": f"Bearer {self.key}"} if self.auth in {"bearer", "both"} else {}
        return bearer | ({"X-Api-Key": self.key} if self.auth in {"x-api-key", "both"} else {})


def find_endpoint(config: CallsSection, environment: Mapping[str, str] | None = None) -> Endpoint:
    """The configured service.

    Args:
        config: Names the environment variables.
        environment: Of the process, by default.

    Raises:
        UsageError: a variable is not set, or holds no address or no credential; the value is never shown.
    """
    known = os.environ if environment is None else environment
    address = known.get(config.base_url_env, "").strip()
    if not address:
        raise UsageError(
            f"the environment variable {config.base_url_env} is not set: it holds the address of the service, such as "
            "https://api.z.ai/api/anthropic ([calls] base_url_env)"
        )
    base_url, host = _address(address, config.base_url_env)
    key = known.get(config.key_env, "").strip()
    if not key:
        raise UsageError(
            f"the environment variable {config.key_env} is not set: it holds the credential ([calls] key_env)"
        )
    if not _KEY.match(key):
        raise UsageError(f"{config.key_env} holds no credential: spaces or characters that no header can carry")
    if len(key) >= MIN_SECRET and key.lower() in address.lower():
        raise UsageError(f"{config.base_url_env}: the credential of {config.key_env} stands in the address")
    return Endpoint(base_url, host, key, config.auth)


def _address(text: str, variable: str) -> tuple[str, str]:
    """Address and host of a service. A mistaken variable may hold a credential, so the value is never shown."""
    problem = None if text.isascii() else "it is not ASCII"
    problem = problem or printable_problem(text)
    parts = None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        problem, port = "it is no address", None
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        problem = problem or "it is no address that begins with http:// or https://"
    elif parts.username is not None or parts.password is not None:
        problem = "a credential stands in the address"
    elif parts.query or parts.fragment or re.search(r"[\s\\]", parts.path):
        problem = "it has more than scheme, host, port and path"
    elif not _HOST.match(parts.hostname):
        problem = problem or "it has no host name"
    if problem or parts is None or parts.hostname is None:
        raise UsageError(f"{variable}: {problem}")
    path = parts.path.rstrip("/")
    path = path.removesuffix("/messages").removesuffix("/v1").rstrip("/")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    host = name if port is None else f"{name}:{port}"
    return f"{parts.scheme}://{host}{path}", host
