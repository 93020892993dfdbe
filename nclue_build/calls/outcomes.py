"""What a recorded call comes to, for the stage that asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from nclue_build.calls.replies import SCHEMAS
from nclue_build.calls.response import read_response
from nclue_build.calls.scan import corrupt_error
from nclue_build.core.errors import Finding
from nclue_build.records.calls import UsedCall

if TYPE_CHECKING:
    from nclue_build.calls.line import CallRecord
    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.replies import Reply
    from nclue_build.records.calls import Status

ReplyT = TypeVar("ReplyT", bound="Reply")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[ReplyT]):
    """What a call came to.

    Args:
        key: Of the request.
        status: Of the record.
        reply: The checked reply; None unless ``ok``.
        answered_by: The model, or whoever the import names.
    """

    key: str
    status: Status
    reply: ReplyT | None
    answered_by: str


def read_record(record: CallRecord, kind: type[ReplyT], places: CallPlaces) -> Outcome[ReplyT]:
    """Read the response of a record, as it was read when it was stored.

    Args:
        record: Of the call.
        kind: The reply that its schema has.
        places: Where it was found.

    Raises:
        CacheCorrupt: its response does not come to what it was stored as.
    """
    reading = read_response(record.response, record.request)
    if reading.status != record.status or SCHEMAS[record.request.reply_schema] is not kind:
        message = f"status is {record.status}, its response gives {reading.status}: run 'nclue-build calls verify'"
        path = places.build.relative(places.shard(record.request.prompt_id, record.key))
        raise corrupt_error([Finding("call-status-differs", message, path, id=record.key)])
    reply = reading.reply if isinstance(reading.reply, kind) else None
    return Outcome(record.key, record.status, reply, record.answered_by)


def used_call(record: CallRecord) -> UsedCall:
    """The row that says that a build used a record."""
    return UsedCall(
        key=record.key,
        rec=record.rec,
        status=record.status,
        prompt_id=record.request.prompt_id,
        model=record.request.model,
        answered_by=record.answered_by,
    )
