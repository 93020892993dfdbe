"""From the bytes of a response to a status and, where it is ``ok``, a checked reply.

Nothing is repaired and nothing is guessed: what is not exactly a reply has a status that says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.calls.replies import InvalidReplyError, parse_reply
from nclue_build.calls.strict_json import read_object

if TYPE_CHECKING:
    from nclue_build.calls.replies import Reply
    from nclue_build.calls.strict_json import JsonObject
    from nclue_build.records.calls import CallRequest, Status


class NotAMessageError(ValueError):
    """A response that is no message of the Messages API at all: it is never stored."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a response comes to.

    Args:
        status: Its outcome.
        reply: The checked reply; None unless ``ok``.
        problem: Why it is not ``ok``, in words; None where it is.
        text: The text blocks, joined.
    """

    status: Status
    reply: Reply | None
    problem: str | None
    text: str


def check_message(data: bytes | str) -> JsonObject:
    """The message a response holds.

    Raises:
        NotAMessageError: it is no JSON, an error body, or lacks its content; says what.
    """
    try:
        message = read_object(data)
    except ValueError as error:
        raise NotAMessageError(f"no JSON message: {error}") from None
    check_shape(message)
    return message


def check_shape(message: JsonObject) -> None:
    """Check that an object is a message with content that can be read.

    Raises:
        NotAMessageError: it is not; says why.
    """
    if message.get("type") != "message":
        raise NotAMessageError(f"type is {message.get('type')!r}, not 'message'")
    content = message.get("content")
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise NotAMessageError("content is no list of blocks")
    if any(block.get("type") == "text" and not isinstance(block.get("text"), str) for block in content):
        raise NotAMessageError("a text block has no text")


def read_response(message: JsonObject, request: CallRequest) -> Reading:
    """The outcome of a call.

    Args:
        message: From :func:`check_message`.
        request: What was asked.
    """
    content = message["content"]
    blocks = [block for block in content if block.get("type") == "text"] if isinstance(content, list) else []
    text = "".join(str(block["text"]) for block in blocks)
    usage = message.get("usage")
    used = usage.get("output_tokens") if isinstance(usage, dict) else None
    if message.get("stop_reason") == "refusal":
        return Reading("refused", None, "the model refused", text)
    if message.get("stop_reason") == "max_tokens":
        return Reading("truncated", None, "it stopped at max_tokens", text)
    if isinstance(used, int | float) and used >= request.max_tokens:  # of a huge number one parser makes a float
        # Some gateways say end_turn all the same.
        return Reading("truncated", None, f"{used} output tokens, max_tokens is {request.max_tokens}", text)
    if not text.strip():
        return Reading("empty", None, "no text" if blocks else "no text block", text)
    try:
        return Reading("ok", parse_reply(text, request.reply_schema), None, text)
    except InvalidReplyError as error:
        return Reading("invalid", None, str(error), text)
