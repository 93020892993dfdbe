"""Finding out about a service with a few tiny calls: nothing is recorded, and nothing is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.calls.client.background import Background
from nclue_build.calls.client.endpoint import find_endpoint
from nclue_build.calls.client.failures import AttemptFailedError, told
from nclue_build.calls.client.transport import Transport
from nclue_build.calls.response import read_response
from nclue_build.calls.strict_json import read_object
from nclue_build.core.canonical import sha256_bytes
from nclue_build.records.calls import CallRequest, Message

if TYPE_CHECKING:
    from nclue_build.calls.client.endpoint import Endpoint
    from nclue_build.calls.strict_json import JsonObject
    from nclue_build.records.config import CallsSection

_REJECT: Final = '{"verdict": "REJECT", "reason": "probe", "rubric": null}'
_TASKS: Final = (
    ("echo", f"Repeat this line exactly, and write nothing else: {_REJECT}", 200),
    ("thinking", "How many weekdays begin with T? Answer with the number alone.", 200),
    ("stop", "Count from one to two hundred in words.", 8),
)
"""What is asked, and how many tokens the answer may have."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What one call showed.

    Args:
        name: Of the call.
        ok: Whether a build can work with it.
        what: In words.
        details: What the response said.
    """

    name: str
    ok: bool
    what: str
    details: dict[str, object]


@dataclass(frozen=True, slots=True)
class Probe:
    """What a service is like.

    Args:
        model: That was asked for.
        host: Of the service.
        calls: Made.
        found: What they showed, in order.
    """

    model: str
    host: str
    calls: int
    found: tuple[Probed, ...]


def probe(config: CallsSection) -> Probe:
    """Ask the configured service three tiny questions; the first failure ends it.

    Raises:
        UsageError: the environment names no service or no credential.
    """
    endpoint = find_endpoint(config)
    with Background() as background:
        calls, found = background.do(_ask(endpoint, config))
    return Probe(config.model, endpoint.host, calls, tuple(found))


async def _ask(endpoint: Endpoint, config: CallsSection) -> tuple[int, list[Probed]]:
    transport = Transport(endpoint, config)
    found: list[Probed] = []
    calls = 0
    try:
        for name, text, max_tokens in _TASKS:
            request = _request(config, text, max_tokens)
            calls += 1
            try:
                body = await transport.send(request)
            except AttemptFailedError as error:
                found.append(Probed(name, False, error.message, {"reaction": error.reaction}))  # noqa: FBT003 - failed
                break
            found.append(_judge(name, request, read_object(body), config))
    finally:
        await transport.close()
    return calls, found


def _request(config: CallsSection, text: str, max_tokens: int) -> CallRequest:
    return CallRequest(
        profile=config.profile,
        model=config.model,
        prompt_id="probe",
        prompt_version=1,
        prompt_sha256=sha256_bytes(text.encode("utf-8")),
        system="You follow instructions exactly.",
        messages=(Message(role="user", content=text),),
        max_tokens=max_tokens,
        thinking=config.thinking,
        sampling=dict(config.sampling),
        reply_schema="cluster/1",
        attempt=0,
    )


def _judge(name: str, request: CallRequest, message: JsonObject, config: CallsSection) -> Probed:
    def brief(value: object) -> str:
        return told(str(value), config, long_words=True)

    reading = read_response(message, request)
    content = message["content"]
    kinds = [str(block.get("type")) for block in content] if isinstance(content, list) else []
    usage = message.get("usage")
    details: dict[str, object] = {
        "model": brief(message.get("model")),
        "stop_reason": brief(message.get("stop_reason")),
        "blocks": [brief(kind) for kind in kinds],
        "usage": {brief(key): value for key, value in usage.items() if isinstance(value, int)}
        if isinstance(usage, dict)
        else None,
        "outcome": reading.status,
        "text": brief(reading.text),
    }
    if name == "echo":
        same = message.get("model") == request.model
        words = f"answered as {brief(message.get('model'))}; the reply is {reading.status}"
        return Probed(name, same and reading.status == "ok", words, details)
    if name == "thinking":
        thinks = any(kind != "text" for kind in kinds) or "<think" in reading.text.lower()
        words = f"blocks: {', '.join(map(brief, kinds)) or 'none'}" + ("; it thinks" if thinks else "; no thinking")
        return Probed(name, not (thinks and request.thinking == "disabled"), words, details)
    words = f"cut off at {request.max_tokens} tokens, it says {brief(message.get('stop_reason'))}"
    return Probed(name, reading.status == "truncated", f"{words}: {reading.status}", details)
