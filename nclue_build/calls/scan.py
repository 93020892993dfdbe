"""Reading files of recorded calls line by line, in whatever order a merge left them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.calls.line import head_of, line_problem
from nclue_build.core.errors import CacheConflict, CacheCorrupt, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nclue_build.core.findings import Findings


class Place(NamedTuple):
    """A line that begins like a record.

    Args:
        path: Its file.
        line: From 1.
        offset: Its first byte.
        length: In bytes, without its line end.
        key: As it stands there.
        rec: As it stands there.
    """

    path: Path
    line: int
    offset: int
    length: int
    key: bytes
    rec: bytes


def scan_file(path: Path, found: Findings) -> Iterator[Place]:
    """Yield the lines of a file that begin like records, without looking into them.

    A last line without its line end is taken when it is whole, and else is a torn one: reported and left out.

    Args:
        path: The file.
        found: Takes torn lines and those that are no records.
    """
    return _scan(path, path.read_bytes(), found)


def read_lines(path: Path, found: Findings) -> Iterator[tuple[Place, bytes]]:
    """The same, with the bytes of each line."""
    data = path.read_bytes()
    for place in _scan(path, data, found):
        yield place, data[place.offset : place.offset + place.length]


def _scan(path: Path, data: bytes, found: Findings) -> Iterator[Place]:
    begin = number = 0
    while begin < len(data):
        number += 1
        end = data.find(b"\n", begin)
        is_last, end = end < 0, len(data) if end < 0 else end
        start, begin = begin, end + 1
        if start == end:
            continue
        if is_last and line_problem(data[start:end]) is not None:
            message = "the last line was cut off while it was written: it is left out"
            found.add("call-torn", message, path=str(path), line=number)
        elif (head := head_of(data, start, end)) is None:
            found.add("call-corrupt", "does not begin like a record", path=str(path), line=number)
        else:
            yield Place(path, number, start, end - start, *head)


class Index:
    """Key to place, over any number of files; identical lines may stand any number of times."""

    def __init__(self) -> None:
        self.places: dict[bytes, Place] = {}
        self.conflicts: list[tuple[str, Place, Place]] = []

    def add(self, place: Place) -> bool:
        """Take a line in; returns whether its key is new."""
        first = self.places.setdefault(place.key, place)
        if first is place:
            return True
        if first.rec != place.rec:
            self.conflicts.append((place.key.decode("ascii"), first, place))
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
