"""One attempt at one call: the only module that knows the SDK, which is slow to import and is so only when it is used.

The SDK builds and sends the request; what comes back is taken as bytes and never as its objects. It does not retry, it
follows no redirect, and it takes nothing from the environment: not its own key variables, headers or addresses.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from nclue_build.calls.client.failures import AttemptFailedError, status_failure
from nclue_build.calls.pending import request_body
from nclue_build.calls.response import NotAMessageError, check_message

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


class Transport:
    """Sends requests. Belongs to the event loop it is used in.

    Args:
        endpoint: Where to.
        config: The ``[calls]`` table.
    """

    def __init__(self, endpoint: Endpoint, config: CallsSection) -> None:
        self._config = config
        self._sdk = import_sdk()
        self.sdk_version = str(self._sdk.__version__)
        headers = endpoint.auth_headers | {"anthropic-version": API_VERSION, "User-Agent": "nclue-build"}

        async def only_ours(request: Any) -> None:
            for name in [name for name in request.headers if name.lower() not in _KEPT]:
                del request.headers[name]
            request.headers.update(headers)

        self._http = self._sdk.DefaultAsyncHttpxClient(
            base_url=endpoint.base_url,
            follow_redirects=False,
            timeout=float(config.attempt_timeout_s),
            event_hooks={"request": [only_ours]},
        )
        self._client = self._sdk.AsyncAnthropic(
            auth_token=endpoint.key,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=float(config.attempt_timeout_s),
            http_client=self._http,
            open_telemetry=False,
        )

    async def send(self, request: CallRequest) -> bytes:
        """The message that answers a request, as it came.

        Raises:
            AttemptFailedError: whatever else happened.
        """
        status, headers, body = await self._exchange(request_body(request))
        if status == _OK:
            try:
                check_message(body)
            except NotAMessageError:
                raise status_failure(status, headers, body, self._config) from None
            return body
        raise status_failure(status, headers, body, self._config)

    async def _exchange(self, body: dict[str, object]) -> tuple[int, dict[str, str], bytes]:
        """Status, headers by lower-case name, and body of the response, whatever they are."""
        timeout_s = float(self._config.attempt_timeout_s)
        # The SDK has no arguments for parameters that its own service no longer takes, such as temperature.
        arguments: dict[str, Any] = {name: body[name] for name in _ARGUMENTS}
        arguments["extra_body"] = {name: value for name, value in body.items() if name not in _ARGUMENTS}
        try:
            # The timeouts of the SDK are per read: a body that drips in would never end.
            async with asyncio.timeout(timeout_s):
                raw = await self._client.messages.with_raw_response.create(**arguments)
                response = raw.http_response
        except self._sdk.APIStatusError as error:
            response = error.response
        except (TimeoutError, self._sdk.APITimeoutError):
            raise AttemptFailedError(f"no whole response in {timeout_s:g} seconds", "retry") from None
        except Exception as error:  # noqa: BLE001 - whatever an SDK lets through has to end as a typed error
            raise sdk_failure(self._sdk, error) from None
        return response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content

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
    """What an exception means that brings no response: only its kind is told, as its words may hold anything."""
    cause = type(error.__cause__).__name__ if error.__cause__ is not None else ""
    what = type(error).__name__ + (f" ({cause})" if cause else "")
    if isinstance(error, sdk.APIConnectionError | sdk.APIResponseValidationError | sdk.RetryableError):
        return AttemptFailedError(f"no whole response: {what}", "retry")
    return AttemptFailedError(f"the request could not be sent: {what}", "run")
