"""What ``nclue-build gate`` found (``gate.json``)."""

from __future__ import annotations

from typing import Literal

from nclue_build.core.errors import Finding
from nclue_build.records.base import Count, Level, Record


class GateReport(Record):
    """Whether an independent re-derivation of a build agrees with what is stored.

    ``counts`` says how much was looked at, ``findings_by_code`` counts every difference;
    ``findings`` lists the first ones only, up to the limit that docs/gate.md names.
    """

    schema_version: Literal[1] = 1
    ok: bool
    level: Level
    counts: dict[str, Count]
    n_findings: Count
    findings_by_code: dict[str, Count]
    findings: tuple[Finding, ...]
