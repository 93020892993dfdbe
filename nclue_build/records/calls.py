"""Model calls on disk: what was asked, who answered, what a build used."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nclue_build.records.base import Count, Id, Record, Sha256

Status = Literal["ok", "truncated", "refused", "empty", "invalid"]
"""``ok``, or a terminal outcome that is stored and replayed as such: it never becomes a verdict."""
Decimal = Annotated[str, Field(pattern=r"^-?[0-9]{1,9}(\.[0-9]{1,9})?$")]
"""A number as text: a float prints differently between programs."""
Text = Annotated[str, Field(min_length=1)]


class Message(Record):
    """A turn of the conversation, rendered."""

    role: Literal["user", "assistant"]
    content: Text


class CallRequest(Record):
    """Everything that decides a reply, and therefore everything that makes the key."""

    profile: Text
    """Name of the kind of service, from the configuration."""
    model: Text
    prompt_id: Id
    prompt_version: Annotated[int, Field(ge=1)]
    prompt_sha256: Sha256
    """Of the prompt file."""
    system: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=1)]
    thinking: Text
    sampling: dict[str, Decimal]
    """Sampling parameters that are sent, none by default."""
    reply_schema: Text
    attempt: Count
    """0, or which vote or deliberate repetition this is."""


class Provenance(Record):
    """Where a reply comes from. Never part of the key; never a header, key or token."""

    answered_by: str | None = None
    """Who answered, where the reply was imported: it then stands in reports in place of the model."""
    endpoint_host: str | None = None
    model_echoed: str | None = None
    usage: dict[str, Count] = Field(default_factory=dict)
    time: str | None = None
    sdk_version: str | None = None


class UsedCall(Record):
    """A recorded call that a stage used (``calls.jsonl``)."""

    key: Sha256
    rec: Sha256
    status: Status
    prompt_id: Id
    model: str
    """The one in the key."""
    answered_by: str
    """Who answered: the model, or whoever the import names."""


class PendingCall(Record):
    """A call that a stage needs and that has no recorded reply (``.nclue/calls/<build>/pending.jsonl``)."""

    key: Sha256
    stage: Literal["mine", "compose"]
    label: str
    """What it is about, for people."""
    request: CallRequest


class Agreement(Record):
    """What two judges say of the same case (``agreement.jsonl``)."""

    case_id: str
    kind: Literal["cluster", "item"]
    name: str
    rules: str
    rules_reason: str
    model: str
    model_reason: str
    call_key: Sha256 | None
