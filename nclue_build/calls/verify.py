"""Verification: every byte of every recorded call, and what its response comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nclue_build.calls.line import decode_line
from nclue_build.calls.replies import SCHEMAS
from nclue_build.calls.response import NotAMessageError, check_shape, read_response
from nclue_build.calls.scan import Index, conflict_error, read_lines
from nclue_build.core.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.calls.line import CallRecord
    from nclue_build.calls.places import CallPlaces
    from nclue_build.calls.scan import Place


@dataclass(slots=True)
class Verified:
    """What verification saw.

    Args:
        found: Everything that is wrong, torn last lines included.
        files: Files read.
        records: Whole records.
        statuses: Records by outcome.
        answered_by: Records by who answered.
        prompts: Records by prompt.
        recs: Key to digest, of every record there is.
    """

    found: Findings = field(default_factory=Findings)
    files: int = 0
    records: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    answered_by: Counter[str] = field(default_factory=Counter)
    prompts: Counter[str] = field(default_factory=Counter)
    recs: dict[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[str, int]:
        """The figures."""
        return {"files": self.files, "records": self.records, **dict(sorted(self.statuses.items()))}


def verify_calls(places: CallPlaces) -> Verified:
    """Hash everything again: records, keys, places and outcomes."""
    seen, index = Verified(), Index()
    for path in places.shards():
        try:
            lines = list(read_lines(path, seen.found))
        except FileNotFoundError:  # pruned between listing and reading
            continue
        seen.files += 1
        for place, line in lines:
            is_new = index.add(place)
            record = _verify_line(place, line, seen.found)
            if record is not None and is_new:
                seen.records += 1
                seen.statuses[record.status] += 1
                seen.answered_by[record.answered_by] += 1
                seen.prompts[record.request.prompt_id] += 1
                seen.recs[record.key] = record.rec
    if index.conflicts:
        seen.found.extend(conflict_error(index.conflicts).findings)
    return seen


def _verify_line(place: Place, line: bytes, found: Findings) -> CallRecord | None:
    path, number = place.path, place.line
    try:
        record = decode_line(line)
    except ValueError as error:
        found.add("call-corrupt", str(error), path=str(path), line=number)
        return None
    if (path.parent.name, path.stem) != (record.request.prompt_id, record.key[:2]):
        message = f"belongs to {record.request.prompt_id}/{record.key[:2]}.jsonl, where it is not found here"
        found.add("call-misplaced", message, path=str(path), line=number, id=record.key)
    outcome: str
    if record.request.reply_schema not in SCHEMAS:
        outcome = f"unknown: there is no reply schema {record.request.reply_schema!r}"
    else:
        try:
            check_shape(record.response)
        except NotAMessageError as error:
            outcome = f"no message: {error}"
        else:
            outcome = read_response(record.response, record.request).status
    if outcome != record.status:
        message = f"status is {record.status}, its response gives {outcome}"
        found.add("call-status-differs", message, path=str(path), line=number, id=record.key)
    return record
