"""One attempt at one call: the only module that knows the SDK, which is slow to import and is so only when it is used.

The SDK builds and sends the request; what comes back is taken as bytes and never as its objects. It does not retry, it
follows no redirect, and it takes nothing from the environment: not its own key variables, headers or addresses.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from nclue_build.calls.client.failures import AttemptFailedError, status_failure
from nclue_build.calls.client.received import ACCEPTED_ENCODING, Received, receive
from nclue_build.calls.pending import request_body
from nclue_build.calls.response import NotAMessageError, check_message
from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from nclue_build.calls.client.endpoint import Endpoint
    from nclue_build.records.calls import CallRequest
    from nclue_build.records.config import CallsSection

API_VERSION: Final = "2023-06-01"
_KEPT: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding"}
    | {"x-stainless-raw-response"}
)
"""Headers of the SDK that a service needs, and the one by which the SDK knows that it must not parse the response.

The others tell about the machine, or were meant for another service.
"""
_ARGUMENTS: Final = ("model", "max_tokens", "messages")
_OK: Final = 200
_MOST_CAUSES: Final = 10
_RECEIVED: Final[ContextVar[list[Received]]] = ContextVar("received")
"""Of the attempt that is under way in a task."""


class _TakenError(Exception):
    """Ends an attempt in the SDK once the response is here: nothing of it is left to the SDK to interpret."""


class Transport:
    """Sends requests. Belongs to the event loop it is used in.

    Args:
        endpoint: Where to.
        config: The ``[calls]`` table.

    Raises:
        UsageError: no connection can be set up with the environment there is.
    """

    def __init__(self, endpoint: Endpoint, config: CallsSection) -> None:
        self._config = config
        self._sdk = import_sdk()
        self.sdk_version = str(self._sdk.__version__)
        try:
            self._client = self._make_client(endpoint)
        except (TypeError, AttributeError):
            raise  # an SDK that takes other arguments: nothing in the environment would help
        except Exception as error:  # noqa: BLE001 - a boundary (docs/decisions/0008): proxies, certificates
            raise UsageError(
                f"no connection to {endpoint.host} can be set up ({type(error).__name__}): look at "
                f"{config.base_url_env}, the proxy variables (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY), "
                "SSL_CERT_FILE and SSL_CERT_DIR"
            ) from None

    def _make_client(self, endpoint: Endpoint) -> Any:
        sdk, timeout_s = self._sdk, float(self._config.attempt_timeout_s)
        headers = endpoint.auth_headers | {
            "anthropic-version": API_VERSION,
            "User-Agent": "nclue-build",
            "Accept-Encoding": ACCEPTED_ENCODING,
        }

        async def only_ours(request: Any) -> None:
            for name in [name for name in request.headers if name.lower() not in _KEPT]:
                del request.headers[name]
            request.headers.update(headers)

        async def take(response: Any) -> None:
            _RECEIVED.get().append(await receive(response))
            raise _TakenError

        http = sdk.DefaultAsyncHttpxClient(
            base_url=endpoint.base_url,
            follow_redirects=False,
            timeout=timeout_s,
            # A connection for each attempt: what a service still sends on one that was used could answer the next call.
            limits=type(sdk.DEFAULT_CONNECTION_LIMITS)(max_keepalive_connections=0),
            event_hooks={"request": [only_ours], "response": [take]},
        )
        return sdk.AsyncAnthropic(
            auth_token=endpoint.key,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=timeout_s,
            http_client=http,
            open_telemetry=False,
        )

    async def send(self, request: CallRequest) -> bytes:
        """The message that answers a request, as it came.

        Raises:
            AttemptFailedError: whatever else happened.
        """
        received = await self._exchange(request_body(request))
        problem = received.problem and f"the body is {received.problem}"
        if received.status == _OK and problem is None:
            try:
                check_message(received.body)
            except NotAMessageError as error:
                problem = str(error)
            else:
                return received.body
        raise status_failure(received, self._config, problem)

    async def _exchange(self, body: dict[str, object]) -> Received:
        """The response, whatever it is."""
        timeout_s = float(self._config.attempt_timeout_s)
        # The SDK has no arguments for parameters that its own service no longer takes, such as temperature.
        arguments: dict[str, Any] = {name: body[name] for name in _ARGUMENTS}
        arguments["extra_body"] = {name: value for name, value in body.items() if name not in _ARGUMENTS}
        received: list[Received] = []
        held = _RECEIVED.set(received)
        try:
            # The timeouts of the SDK are per read: a body that drips in would never end.
            async with asyncio.timeout(timeout_s):
                await self._client.messages.with_raw_response.create(**arguments)
        except Exception as error:  # noqa: BLE001 - a boundary (docs/decisions/0008): it ends as a typed error
            if not received:
                if isinstance(error, TimeoutError | self._sdk.APITimeoutError):
                    raise AttemptFailedError(f"no whole response in {timeout_s:g} seconds", "retry") from None
                raise sdk_failure(self._sdk, error) from None
        finally:
            _RECEIVED.reset(held)
        if not received:
            raise AttemptFailedError("the SDK brings answers that did not come over its HTTP client", "run")
        return received[-1]

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.close()


def import_sdk() -> ModuleType:
    """The SDK, told to keep requests to itself: the debug logs of what it is made of show headers and bodies."""
    import anthropic  # noqa: PLC0415 - takes a second, and a replay must do without it

    for name in ("anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return anthropic


def sdk_failure(sdk: ModuleType, error: Exception) -> AttemptFailedError:
    """What an exception means that brings no response: only kinds are told, as its words may hold anything."""
    causes = _causes(error)
    names = ", ".join(dict.fromkeys(type(cause).__name__ for cause in causes))
    what = type(error).__name__ + (f" ({names})" if names else "")
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AttemptFailedError(f"the certificate of the service is not to be trusted: {what}", "run")
    for kind, words in _NO_CONNECTION:
        if any(isinstance(cause, kind) for cause in causes):
            return AttemptFailedError(f"{words}: {what}", "retry")
    if isinstance(error, sdk.APIConnectionError | sdk.APIResponseValidationError | sdk.RetryableError):
        return AttemptFailedError(f"no whole response: {what}", "retry")
    return AttemptFailedError(f"the request could not be sent: {what}", "run")


_NO_CONNECTION: Final = (
    (socket.gaierror, "no whole response, the host name leads nowhere"),
    (ConnectionRefusedError, "no whole response, nobody listens at the address"),
    (ssl.SSLError, "no whole response, there is no TLS at the address (https:// for http://?)"),
)


def _causes(error: BaseException) -> list[BaseException]:
    """What an exception comes from, the nearest first."""
    found: list[BaseException] = []
    cause = error.__cause__
    while cause is not None and len(found) < _MOST_CAUSES:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
