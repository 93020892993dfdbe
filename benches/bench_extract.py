"""What reading costs beyond MuPDF's own work: our reader against bare ``page.get_text("dict")``.

    python benches/bench_extract.py [CORPUS.jsonl [ROUNDS [DOCUMENTS]]]

Ours is the reader process, its supervisor, and the page rows with roles, flags and signatures. Bare is one process
that calls PyMuPDF and nothing else. Both read the same files with the same flags, one document after the other, and
each document twice in a row, once by each, by turns who goes first: so whatever else the machine does meets both.
A round is the whole corpus, with new processes, since where things come to lie in memory makes a difference of a tenth
for as long as a process lives; starting them is left out on both sides. Medians over the rounds are printed, and the
median and the least and greatest of the rounds' ratios. Processor time is that of all processes of a side. With
DOCUMENTS, so many of the corpus are read, evenly spaced in its order. The corpus is that of NCLUE_REAL_DATA, else of
the default folder; without it there is nothing to measure.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from nclue_build.core.collector import collect_rarely
from nclue_build.corpus.document import make_document
from nclue_build.corpus.supervisor import ReadLimits, Supervisor

DATA = Path(os.environ.get("NCLUE_REAL_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
DEFAULT = DATA / "usgov" / "corpus.jsonl"
BARE = """
import sys, time
import pymupdf
from nclue_build.corpus.child import FLAGS
print(flush=True)
for path in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    with pymupdf.open(path.rstrip("\\n")) as document:
        for page in document:
            page.get_text("dict", flags=FLAGS)
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
"""


class Taken(NamedTuple):
    """Seconds on the clock, and of the processor."""

    wall: float
    cpu: float

    def plus(self, other: Taken) -> Taken:
        """The sum of both."""
        return Taken(self.wall + other.wall, self.cpu + other.cpu)


class Bare:
    """MuPDF and its binding, in a process of their own."""

    def __init__(self) -> None:
        """Start, and wait until all is imported."""
        command = [sys.executable, "-c", BARE]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self._answer()

    def read(self, path: Path) -> Taken:
        """Read one document."""
        assert self._process.stdin is not None  # noqa: S101 - opened as a pipe
        self._process.stdin.write(f"{path}\n")
        return Taken(*map(float, self._answer().split()))

    def _answer(self) -> str:
        assert self._process.stdout is not None  # noqa: S101 - opened as a pipe
        if not (answer := self._process.stdout.readline()):
            raise SystemExit("the bare reader has ended: nothing is measured")
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Ours:
    """Our reader and what makes page rows."""

    def __init__(self) -> None:
        """Start the reader."""
        collect_rarely()  # as the program and its workers do
        self._supervisor = Supervisor(ReadLimits(60, 600, 1024))
        self._supervisor.read(Path(__file__).parent)  # no PDF: only starts the process
        process = self._supervisor._process  # noqa: SLF001 - its processor time counts
        assert process is not None  # noqa: S101 - it was started
        self._schedule = Path(f"/proc/{process.pid}/schedstat")

    def read(self, path: Path) -> Taken:
        """Read one document."""
        wall, cpu = time.perf_counter(), self._cpu()
        read = self._supervisor.read(path, make=True)
        _ = read.made or make_document(read, "")
        return Taken(time.perf_counter() - wall, self._cpu() - cpu)

    def close(self) -> None:
        """End the reader."""
        self._supervisor.close()

    def _cpu(self) -> float:
        return time.process_time() + int(self._schedule.read_text().split()[0]) / 1e9


def main(corpus: Path, n_rounds: int, n_documents: int) -> None:
    """Measure and print, one JSON object a line."""
    if not corpus.is_file():
        print(f"nothing to measure: no {corpus}")
        return
    rows = [json.loads(row) for row in corpus.read_text(encoding="utf-8").splitlines()]
    n_read = min(n_documents or len(rows), len(rows))
    paths = [corpus.parent / rows[i * len(rows) // n_read]["file_name"] for i in range(n_read)]
    rounds: list[list[Taken]] = []
    for number in range(n_rounds):
        sides = (Bare(), Ours())
        sums = [Taken(0, 0), Taken(0, 0)]
        for index, path in enumerate(paths, number):
            for side in (0, 1) if index % 2 == 0 else (1, 0):
                sums[side] = sums[side].plus(sides[side].read(path))
        rounds.append(sums)
        for one in sides:
            one.close()
    print(json.dumps({"documents": len(paths), "rounds": n_rounds}))
    for index, kind in enumerate(Taken._fields):
        bare, ours = ([one[side][index] for one in rounds] for side in (0, 1))
        ratios = sorted(mine / its for mine, its in zip(ours, bare, strict=True))
        figures = {
            f"bare_{kind}_s": statistics.median(bare),
            f"ours_{kind}_s": statistics.median(ours),
            f"{kind}_ratio": statistics.median(ratios),
            "least": ratios[0],
            "greatest": ratios[-1],
        }
        print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    corpus_given, rounds_given, documents_given, *_ = [*sys.argv[1:], None, None, None][:3]
    main(Path(corpus_given or DEFAULT), int(rounds_given or 9), int(documents_given or 0))
