"""Sealing: what processes recorded in the inbox becomes a part of the frozen outputs."""

from __future__ import annotations

import contextlib
import fcntl
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.calls.line import decode_line
from nclue_build.calls.scan import Index, corrupt_error, read_lines
from nclue_build.core.findings import Findings
from nclue_build.store.atomic import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from nclue_build.calls.places import CallPlaces
    from nclue_build.core.errors import Finding


@dataclass(frozen=True, slots=True)
class Sealed:
    """What sealing did.

    Args:
        added: Records that are new in the sealed files.
        known: Records of the inbox that were there already.
        files: Sealed files written.
        segments_left: Segments that another process still appends to; what they hold so far is sealed all the same.
        torn: Torn last lines, left out.
    """

    added: int
    known: int
    files: int
    segments_left: int
    torn: tuple[Finding, ...]


def seal(places: CallPlaces) -> Sealed:
    """Fold all segments of a generation into its sealed files.

    Every sealed file is replaced atomically, and a segment goes only when all it holds is sealed: a kill at any
    point loses nothing, and doing it again changes nothing.

    Raises:
        CacheConflict: a call has different replies; nothing is written then.
        CacheCorrupt: a line of a segment or of a file it goes to is damaged; nothing is written then.
    """
    if not places.segments():
        return Sealed(0, 0, 0, 0, ())
    with sealing_lock(places), contextlib.ExitStack() as held:
        return _Sealing(places, held).run()


@contextlib.contextmanager
def sealing_lock(places: CallPlaces) -> Iterator[None]:
    """One process at a time changes the sealed files of a generation; the lock dies with its process."""
    places.inbox.parent.mkdir(parents=True, exist_ok=True)
    with (places.inbox.parent / f"{places.inbox.name}.lock").open("a", encoding="ascii") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


class _Sealing:
    def __init__(self, places: CallPlaces, held: contextlib.ExitStack) -> None:
        self._places, self._held = places, held
        self._found = Findings()

    def run(self) -> Sealed:
        closed: list[Path] = []
        arrived: dict[Path, list[bytes]] = defaultdict(list)
        index = Index()
        n_lines = left = 0
        for path in self._places.segments():
            stream = self._held.enter_context(path.open("rb"))
            found, is_ended = Findings(), _try_lock(stream)
            if is_ended:
                closed.append(path)
            else:
                left += 1
            for place, line in read_lines(path, found):
                n_lines += 1
                try:
                    record = decode_line(line)
                except ValueError as error:
                    self._found.add("call-corrupt", str(error), path=str(path), line=place.line)
                    continue
                if index.add(place):
                    arrived[self._places.shard(record.request.prompt_id, record.key)].append(line)
            # The last line of a segment that still grows may be half there: it is no torn one.
            self._found.extend(row for row in found.kept if is_ended or row.code != "call-torn")
        written = self._merge(arrived, index)
        added = sum(len(lines) for lines, _ in written.values())
        torn = tuple(row for row in self._found.kept if row.code == "call-torn")
        for path in sorted(written):
            write_bytes(path, written[path][1])
        for path in closed:
            path.unlink()
        return Sealed(added, n_lines - added, len(written), left, torn)

    def _merge(self, arrived: dict[Path, list[bytes]], index: Index) -> dict[Path, tuple[list[bytes], bytes]]:
        """New lines and new content of every sealed file that changes; everything is checked before any is written."""
        written: dict[Path, tuple[list[bytes], bytes]] = {}
        for path, lines in sorted(arrived.items()):
            there: dict[bytes, bytes] = {}
            if path.is_file():
                for place, line in read_lines(path, self._found):
                    index.add(place)
                    there[place.key] = line
            new = [line for line in lines if line[8:72] not in there]
            if new:
                there |= {line[8:72]: line for line in new}
                written[path] = new, b"".join(there[key] + b"\n" for key in sorted(there))
        index.raise_conflicts()
        damaged = [row for row in self._found.kept if row.code != "call-torn"]
        if damaged:
            raise corrupt_error(damaged)
        return written


def _try_lock(stream: IO[bytes]) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
