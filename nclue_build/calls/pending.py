"""Calls that a stage needs and that nobody has answered yet, and the batch file they go out in.

The batch file has the request shape of Anthropic's Message Batches API, a line each: ``custom_id`` is the key,
``params`` the body. Any batch service, program or person can answer it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.records.calls import PendingCall
from nclue_build.store.atomic import write_bytes
from nclue_build.store.jsonl import read_jsonl, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from pathlib import Path

    from nclue_build.records.calls import CallRequest
    from nclue_build.store.workspace import Build


def pending_file(build: Build, *, required: bool = True) -> Path:
    """Where the calls wait that stop a build, or those it can do without."""
    return build.calls_state / ("pending.jsonl" if required else "optional.jsonl")


def batch_file(build: Build) -> Path:
    """The batch file of the calls that stop a build."""
    return build.calls_state / "batch.jsonl"


def write_pending(build: Build, stage: str, calls: Sequence[PendingCall], *, required: bool = True) -> Path:
    """Keep what a stage waits for, in place of what it waited for before; returns the batch file.

    Nothing is written where nothing changes, so a build can be replayed where nothing can be written.
    """
    known = read_pending(build, required=required)
    rows = [row for row in known if row.stage != stage] + sorted(
        calls, key=lambda row: (row.request.prompt_id, row.key)
    )
    if rows != known:
        write_jsonl(pending_file(build, required=required), rows)
        if required:
            write_bytes(batch_file(build), batch_lines(rows))
    return batch_file(build)


def read_pending(build: Build, *, required: bool = True) -> list[PendingCall]:
    """What a build waits for; empty when nothing is known."""
    path = pending_file(build, required=required)
    try:
        return list(read_jsonl(path, PendingCall))
    except DataError:
        if path.is_file():
            raise
        return []


def still_missing(build: Build, recorded: Container[str], *, required: bool = True) -> list[PendingCall]:
    """What a build waits for and whose key is not among the recorded ones."""
    return [call for call in read_pending(build, required=required) if call.key not in recorded]


def request_body(request: CallRequest) -> dict[str, object]:
    """The body of a request to the Messages API."""
    body: dict[str, object] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": [message.model_dump() for message in request.messages],
    }
    if request.thinking != "unset":
        body["thinking"] = {"type": request.thinking}
    return body | {name: _number(value) for name, value in sorted(request.sampling.items())}


def _number(value: str) -> int | float:
    return float(value) if "." in value else int(value)


def batch_lines(calls: Iterable[PendingCall]) -> bytes:
    """Calls as a batch file."""
    rows = ({"custom_id": call.key, "params": request_body(call.request)} for call in calls)
    return b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n" for row in rows)
