"""What reading costs beyond MuPDF's own work: our reader against bare ``page.get_text("dict")``.

    python benches/bench_extract.py [CORPUS.jsonl [ROUNDS [DOCUMENTS]]]

Ours is the reader process, its supervisor, and the page rows with roles, flags and signatures. Both read the
same files with the same flags, one document after the other, each round one and then the other, by turns which goes
first: what else the machine does meets both. Medians over the rounds are printed, and the median and the least and
greatest of the rounds' ratios. Where other programs keep the machine busy, ``cpu_ratio`` says more than
``wall_ratio``; it includes starting the processes. With DOCUMENTS, so many of the corpus are read, evenly spaced in
its order. The corpus is that of NCLUE_REAL_DATA, else of the default folder; without it there is nothing to measure.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nclue_build.corpus.document import DocumentPages
from nclue_build.corpus.supervisor import ReadLimits, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("NCLUE_REAL_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
DEFAULT = DATA / "usgov" / "corpus.jsonl"
BARE = """
import sys, time
import pymupdf
from nclue_build.corpus.child import FLAGS
began = time.perf_counter()
for path in sys.stdin.read().splitlines():
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text("dict", flags=FLAGS)
print(time.perf_counter() - began)
"""


def bare_s(paths: list[Path]) -> float:
    """Seconds MuPDF and its binding take in a process of their own."""
    listing = "\n".join(map(str, paths))
    done = subprocess.run([sys.executable, "-c", BARE], input=listing, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def ours_s(paths: list[Path]) -> float:
    """Seconds until all page rows are made, the start of the reader process left out."""
    supervisor = Supervisor(ReadLimits(60, 600, 1024))
    supervisor.read(paths[0].parent)  # no PDF: only starts the process
    began = time.perf_counter()
    for path in paths:
        for _ in DocumentPages(supervisor.read(path), "").rows():
            pass
    taken = time.perf_counter() - began
    supervisor.close()
    return taken


def cpu_s() -> float:
    """Processor seconds of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(read: Callable[[list[Path]], float], paths: list[Path]) -> tuple[float, float]:
    """Wall and processor seconds of one reading."""
    start = cpu_s()
    wall = read(paths)
    return wall, cpu_s() - start


def main(corpus: Path, n_rounds: int, n_documents: int) -> None:
    """Measure and print, one JSON object a line."""
    if not corpus.is_file():
        print(f"nothing to measure: no {corpus}")
        return
    rows = [json.loads(row) for row in corpus.read_text(encoding="utf-8").splitlines()]
    n_read = min(n_documents or len(rows), len(rows))
    paths = [corpus.parent / rows[i * len(rows) // n_read]["file_name"] for i in range(n_read)]
    taken: dict[Callable[[list[Path]], float], list[tuple[float, float]]] = {bare_s: [], ours_s: []}
    for number in range(n_rounds):
        for read in (bare_s, ours_s) if number % 2 == 0 else (ours_s, bare_s):
            taken[read].append(measured(read, paths))
    print(json.dumps({"documents": len(paths), "rounds": n_rounds}))
    for index, kind in enumerate(("wall", "cpu")):
        bare, ours = ([one[index] for one in taken[read]] for read in (bare_s, ours_s))
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
    main(Path(corpus_given or DEFAULT), int(rounds_given or 5), int(documents_given or 0))
