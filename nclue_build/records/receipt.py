"""What a stage read, how it was set, what it wrote: the record that says whether it is stale."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from nclue_build.core.errors import Finding
from nclue_build.records.base import Record, Sha256


class Receipt(Record):
    """The record of one finished run of a stage (``.nclue/receipts/<build>/<stage>.json``).

    ``inputs`` and ``outputs`` map workspace paths to SHA-256; an input that did not exist has
    None. ``package_version`` is for the reader: it is not compared, ``stage_version`` is.
    """

    schema_version: Literal[1] = 1
    stage: str
    stage_version: int
    package_version: str
    inputs: dict[str, Sha256 | None]
    settings: dict[str, JsonValue]
    settings_sha256: Sha256
    outputs: dict[str, Sha256]
    counts: dict[str, int]
    findings: tuple[Finding, ...]
    shortfalls: tuple[str, ...]
