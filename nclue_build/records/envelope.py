"""The answer of every verb under ``--json``: one object on stdout."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from nclue_build.records.base import Record


class ReportedFinding(Record):
    """A finding, its fields in the order in which they are shown."""

    code: str
    path: str | None
    line: int | None
    id: str | None
    message: str


class Envelope(Record):
    """``ok`` says whether the exit code is 0; ``result`` is null when the verb did not reach its end."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    ok: bool
    result: dict[str, JsonValue] | None
    findings: tuple[ReportedFinding, ...]
