"""Collecting findings while files are read row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from nclue_build.core.errors import DataError, Finding
from nclue_build.store.jsonl import iter_lines, validation_findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import TypeAdapter

    from nclue_build.store.workspace import Build

MAX_FINDINGS: Final = 1000
"""Findings kept in full; those beyond are only counted."""


@dataclass(slots=True)
class Report:
    """Findings and row counts of one validation."""

    build: Build
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    n_findings: int = 0

    def add(
        self,
        code: str,
        message: str,
        path: Path | None = None,
        line: int | None = None,
        id: str | None = None,  # noqa: A002 - named as in the envelope
    ) -> None:
        """Take one finding in."""
        self.extend([Finding(code, message, None if path is None else self.build.relative(path), line, id)])

    def extend(self, found: Iterable[Finding]) -> None:
        """Take findings in, with paths already relative to the workspace."""
        for finding in found:
            self.n_findings += 1
            if len(self.findings) < MAX_FINDINGS:
                self.findings.append(finding)

    def rows(self, path: Path, model: TypeAdapter[Any]) -> Iterator[tuple[int, Any]]:
        """Yield (line, record) of every good row; a missing file and bad rows become findings."""
        try:
            for number, line in iter_lines(path):
                self.counts["rows"] += 1
                try:
                    record = model.validate_json(line)
                except ValidationError as error:
                    self.extend(validation_findings(error, self.build.relative(path), number, "bad-record"))
                else:
                    yield number, record
        except DataError as error:
            self.failed(path, error)
        else:
            self.counts["files"] += 1

    def file(self, path: Path, model: TypeAdapter[Any]) -> Any | None:
        """The record of a one-record file; None when it is missing or bad, which becomes a finding."""
        if not path.is_file():
            self.add("file-missing", "file not found", path)
            return None
        self.counts["files"] += 1
        try:
            return model.validate_json(path.read_bytes())
        except ValidationError as error:
            self.extend(validation_findings(error, self.build.relative(path), None, "bad-record"))
            return None

    def failed(self, path: Path, error: DataError) -> None:
        """Take in why a file could not be read, its path made relative to the workspace."""
        shown = self.build.relative(path)
        if not error.findings:
            self.add("bad-record", error.message, path)
        self.extend(Finding(row.code, row.message, shown, row.line, row.id) for row in error.findings)

    def ids(self, rows: Iterable[tuple[int, Any]], path: Path, attribute: str, code: str) -> Iterator[tuple[int, Any]]:
        """Pass rows on whose id is new; a repeated id becomes a finding."""
        seen: dict[str, int] = {}
        for line, record in rows:
            value = str(getattr(record, attribute))
            if (first := seen.setdefault(value, line)) != line:
                self.add(code, f"{attribute} {value!r} stands twice (first in line {first})", path, line, value)
            else:
                yield line, record
