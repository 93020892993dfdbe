"""What reading costs beyond MuPDF's own work: our reader against bare ``page.get_text("dict")``.

    python benches/bench_extract.py [CORPUS.jsonl]

Ours is the reader process, its supervisor, and the page rows with roles, flags and signatures. Both read the
same files with the same flags, one document after the other, in turns; the fastest of three rounds counts. Where
other programs keep the machine busy, ``cpu_ratio`` says more than ``ratio``; it includes starting the processes.
The corpus is that of NCLUE_REAL_DATA or ../shared/data by default; without it there is nothing to measure.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from nclue_build.corpus.document import DocumentPages
from nclue_build.corpus.supervisor import ReadLimits, Supervisor

DATA = Path(os.environ.get("NCLUE_REAL_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
DEFAULT = DATA / "usgov" / "corpus.jsonl"
ROUNDS = 3
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


def main(corpus: Path) -> None:
    """Measure and print, one JSON object a line."""
    if not corpus.is_file():
        print(f"nothing to measure: no {corpus}")
        return
    rows = map(json.loads, corpus.read_text(encoding="utf-8").splitlines())
    paths = [corpus.parent / row["file_name"] for row in rows]
    rounds: list[tuple[float, float, float, float]] = []
    for _ in range(ROUNDS):
        start = cpu_s()
        bare = bare_s(paths)
        between = cpu_s()
        ours = ours_s(paths)
        rounds.append((bare, ours, between - start, cpu_s() - between))
    bare, ours, bare_cpu, ours_cpu = (min(column) for column in zip(*rounds, strict=True))
    print(json.dumps({"documents": len(paths), "bare_s": round(bare, 2), "ours_s": round(ours, 2)}))
    print(json.dumps({"ratio": round(ours / bare, 2), "cpu_ratio": round(ours_cpu / bare_cpu, 2)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
