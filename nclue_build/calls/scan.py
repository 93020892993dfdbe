"""Reading files of recorded calls line by line, in whatever order a merge left them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.calls.line import head_of, line_problem
from nclue_build.core.errors import CacheConflict, CacheCorrupt, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nclue_build.core.findings import Findings


_HEAD_LENGTH: Final = 160
"""Bytes in which key and digest stand."""


class Place(NamedTuple):
    """Where a line stands: file, 1-based line, byte offset and length without its line end."""

    path: Path
    line: int
    offset: int
    length: int


class FoundLine(NamedTuple):
    """A line that begins like a record; ``key`` and ``rec`` as they stand there."""

    place: Place
    key: bytes
    rec: bytes
    data: bytes


def scan_file(path: Path, found: Findings, *, whole: bool = True) -> Iterator[FoundLine]:
    """Yield the lines of a file that begin like records.

    A last line without its line end is taken when it is whole, and else is a torn one: reported and left out.

    Args:
        path: The file.
        found: Takes torn lines and those that are no records.
        whole: Whether ``data`` is wanted; copying it takes most of the time.
    """
    data = path.read_bytes()
    begin = number = 0
    while begin < len(data):
        number += 1
        end = data.find(b"\n", begin)
        is_last, end = end < 0, len(data) if end < 0 else end
        start, begin = begin, end + 1
        if start == end:
            continue
        line = data[start:end] if whole or is_last else data[start : min(end, start + _HEAD_LENGTH)]
        if is_last and line_problem(line) is not None:
            message = "the last line was cut off while it was written: it is left out"
            found.add("call-torn", message, path=str(path), line=number)
        elif (head := head_of(line)) is None:
            found.add("call-corrupt", "does not begin like a record", path=str(path), line=number)
        else:
            yield FoundLine(Place(path, number, start, end - start), head[0], head[1], line)


class Index:
    """Key to place, over any number of files; identical lines may stand any number of times."""

    def __init__(self) -> None:
        self.places: dict[bytes, Place] = {}
        self._recs: dict[bytes, bytes] = {}
        self.conflicts: list[tuple[str, Place, Place]] = []

    def add(self, line: FoundLine) -> bool:
        """Take a line in; returns whether its key is new."""
        first = self.places.get(line.key)
        if first is None:
            self.places[line.key] = line.place
            self._recs[line.key] = line.rec
            return True
        if self._recs[line.key] != line.rec:
            self.conflicts.append((line.key.decode("ascii"), first, line.place))
        return False

    def raise_conflicts(self) -> None:
        """Refuse to choose between different replies to one request.

        Raises:
            CacheConflict: with every pair.
        """
        if self.conflicts:
            raise conflict_error(self.conflicts)


def conflict_error(conflicts: Iterable[tuple[str, Place, Place]]) -> CacheConflict:
    """The error of several records with one key."""
    findings = [
        Finding(
            "call-conflict",
            f"another reply than {first.path.name}:{first.line} has for the same call: keep one of the two lines "
            f"(the other one is in {first.path})",
            str(second.path),
            second.line,
            key,
        )
        for key, first, second in conflicts
    ]
    return CacheConflict("\n".join(map(str, findings)), findings)


def corrupt_error(findings: Iterable[Finding]) -> CacheCorrupt:
    """The error of damaged records: they are restored, or removed and asked again."""
    rows = list(findings)
    advice = "restore the file, or remove these lines and ask again"
    return CacheCorrupt("\n".join([*map(str, rows), advice]), rows)
