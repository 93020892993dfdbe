"""Reading files row by row, where everything wrong becomes a finding and reading goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.store.form import ADVICE, explain_difference
from nclue_build.store.jsonl import encode_file, read_json_as, read_numbered
from nclue_build.store.trec import read_numbered_qrels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import TypeAdapter

    from nclue_build.core.errors import Finding
    from nclue_build.store.trec import TrecQrel
    from nclue_build.store.workspace import Build


@dataclass(slots=True)
class Reading:
    """The files of one build as they are read: what was found, and how many files and rows there were."""

    build: Build
    found: Findings = field(default_factory=Findings)
    counts: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        code: str,
        message: str,
        path: Path | None = None,
        line: int | None = None,
        id: str | None = None,  # noqa: A002 - named as in the envelope
    ) -> None:
        """Take in one finding."""
        self.found.add(code, message, path=None if path is None else self.build.relative(path), line=line, id=id)

    def extend(self, found: Iterable[Finding]) -> None:
        """Take in findings made elsewhere, with their paths as shown."""
        self.found.extend(self.build.workspace.relative_finding(finding) for finding in found)

    def rows(self, path: Path, model: TypeAdapter[Any]) -> Iterator[tuple[int, Any]]:
        """Yield (line, record) of every good row; a missing file and bad rows become findings."""
        wrong = Findings()
        yield from self._counted(path, read_numbered(path, model, found=wrong, form=wrong))
        self.take(wrong)

    def qrels(self, path: Path) -> Iterator[tuple[int, TrecQrel]]:
        """Yield (line, row) of every good row of a TREC file; a missing file and bad rows become findings."""
        wrong = Findings()
        yield from self._counted(path, read_numbered_qrels(path, wrong))
        self.take(wrong)

    def _counted(self, path: Path, rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        self.counts["files"] += path.is_file()
        for line, row in rows:
            self.counts["rows"] += 1
            yield line, row

    def take(self, wrong: Findings) -> None:
        """Take in another list, with its paths as shown."""
        wrong.kept = [self.build.workspace.relative_finding(finding) for finding in wrong.kept]
        self.found.merge(wrong)

    def file(self, path: Path, model: TypeAdapter[Any]) -> Any | None:
        """The record of a one-record file; None when it is missing or bad, which becomes a finding."""
        self.counts["files"] += path.is_file()
        try:
            record = read_json_as(path, model)
        except DataError as error:
            self.extend(error.findings)
            return None
        text, expected = path.read_bytes(), encode_file(record)
        if text != expected:
            self.add("not-canonical", f"{explain_difference(text, expected)}: {ADVICE}", path)
        return record

    def ascending(self, rows: Iterable[tuple[int, Any]], path: Path, attribute: str) -> Iterator[tuple[int, Any]]:
        """Pass rows on; the first whose id is less than the one before becomes a finding."""
        previous, is_sorted = "", True
        for line, record in rows:
            value = str(getattr(record, attribute))
            if is_sorted and value < previous:
                self.add("not-sorted", f"{attribute} {value!r} comes after {previous!r}", path, line, value)
                is_sorted = False
            previous = value
            yield line, record

    def ids(self, rows: Iterable[tuple[int, Any]], path: Path, attribute: str, code: str) -> Iterator[tuple[int, Any]]:
        """Pass rows on whose id is new; a repeated id becomes a finding."""
        seen: dict[str, int] = {}
        for line, record in rows:
            value = str(getattr(record, attribute))
            if (first := seen.setdefault(value, line)) != line:
                self.add(code, f"{attribute} {value!r} stands twice (first in line {first})", path, line, value)
            else:
                yield line, record
