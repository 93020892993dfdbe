"""Time, processor time, memory and growth of every stage, on nested subsets of one corpus, and how a build is renewed.

    python benches/bench_scale.py CORPUS.jsonl [--pages 5000,10000,20000] [--workers N] [--keep FOLDER]

Each subset holds the first documents of the next, in an order that follows from their ids; the last is the corpus.
Memory is that of the whole process tree, by proportional set size (a page that several processes share counts once).
Processor time counts all processes. The exponent says how a stage's processor time grows with pages: 1 is linear.

After the last build: the same run again, the same after one PDF was changed and changed back, and the plan alone.
Every figure comes as a JSON object a line; a table follows. Needs /proc (Linux).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

STAGES = ("extract", "mine", "compose", "gate")
PROGRAM = [sys.executable, "-m", "nclue_build"]
_SAMPLE_S = 0.5


@dataclass(frozen=True)
class Measured:
    """What a command took: seconds, seconds of all its processes, and the most memory its process tree had."""

    wall_s: float
    cpu_s: float
    peak_mib: int


class TreeMemory(threading.Thread):
    """Watches how much memory a process and all its descendants take, until the process ends."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self.peak_kib = 0

    def run(self) -> None:
        """Sample until told to stop."""
        while not self._over.wait(_SAMPLE_S):
            self.peak_kib = max(self.peak_kib, sum(map(_pss_kib, _tree(self._pid))))

    def stop(self) -> int:
        """End the watch; returns the largest sum seen, in MiB."""
        self._over.set()
        self.join()
        return self.peak_kib // 1024


def _tree(root: int) -> set[int]:
    found, waiting = set[int](), [root]
    while waiting:
        found.add(pid := waiting.pop())
        # A worker's threads start readers: the children of a process are those of all its threads.
        for listed in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                waiting += map(int, listed.read_text(encoding="ascii").split())
            except OSError:  # gone in the meantime
                continue
    return found


def _pss_kib(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def measured(workspace: Path, *words: str) -> Measured:
    """Run a command and measure it; it must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with subprocess.Popen([*PROGRAM, "-q", "-w", workspace, *words], stdout=subprocess.DEVNULL) as process:
        memory = TreeMemory(process.pid)
        memory.start()
        code = process.wait()
        wall_s = time.perf_counter() - began
        peak_mib = memory.stop()
    if code:
        sys.exit(f"{' '.join(words)} ended with exit code {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(round(wall_s, 2), round(cpu_s, 2), peak_mib)


def subsets(rows: list[dict[str, Any]], sizes: list[int]) -> list[list[dict[str, Any]]]:
    """Nested subsets with about so many pages each, and the whole corpus as the last."""
    order = sorted(rows, key=lambda row: sha256(str(row["doc_id"]).encode()).digest())
    made = []
    for size in sizes:
        n_pages, chosen = 0, list[dict[str, Any]]()
        for row in order:
            if n_pages >= size:
                break
            chosen.append(row)
            n_pages += row["n_pages"]
        if len(chosen) < len(order):
            made.append(chosen)
    return [*made, order]


def new_workspace(folder: Path, rows: list[dict[str, Any]], source: Path, workers: int) -> Path:
    """A workspace for some rows of a corpus, whose PDFs stay where they are."""
    corpus = folder / "corpus.jsonl"
    folder.mkdir(parents=True)
    with corpus.open("w", encoding="utf-8") as stream:
        for row in rows:
            place = os.path.relpath((source.parent / row["file_name"]).resolve(), folder.resolve())
            stream.write(json.dumps(row | {"file_name": place}) + "\n")
    workspace = folder / "workspace"
    subprocess.run([*PROGRAM, "init", workspace, "--corpus", corpus], check=True, stdout=subprocess.DEVNULL)
    config = workspace / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8").replace("\nworkers = 0 ", f"\nworkers = {workers} ")
    config.write_text(text, encoding="utf-8")
    return workspace


def outcome(workspace: Path) -> dict[str, int]:
    """What the benchmark has, counted from its own files."""
    folder = workspace / "benchmarks" / "main"
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    uses = Counter(doc_id for query in queries for doc_id in query["golds"])
    conditions = Counter(row["condition_id"] for query in queries for row in query["conditions"])
    busiest = {doc_id for doc_id, _ in sorted(uses.items(), key=lambda item: (-item[1], item[0]))[:20]}
    return {
        "queries": len(queries),
        "golds": len(uses),
        "families": len({tuple(query["golds"]) for query in queries}),
        "most_per_gold": max(uses.values()),
        "most_per_condition": max(conditions.values()),
        "left_without_20_busiest": sum(busiest.isdisjoint(query["golds"]) for query in queries),
        "qrels": sum(1 for _ in (folder / "qrels.jsonl").open(encoding="utf-8")),
        "gate_ok": json.loads((folder / "gate.json").read_text(encoding="utf-8"))["ok"],
    }


def renewals(workspace: Path, folder: Path) -> dict[str, Measured]:
    """How long an up-to-date build takes, and one of which a PDF was replaced by another of the same corpus."""
    corpus = folder / "corpus.jsonl"
    before = corpus.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in before.splitlines()]
    found = {"plan": measured(workspace, "run", "--dry-run"), "nothing to do": measured(workspace, "run")}
    # Another file of the corpus at the place of the first: a copy, which also makes a duplicate.
    changed = [dict(row) for row in rows]
    changed[0] |= {key: rows[1][key] for key in ("file_name", "sha256", "bytes", "n_pages") if key in rows[1]}
    corpus.write_text("".join(json.dumps(row) + "\n" for row in changed), encoding="utf-8")
    found["one PDF changed"] = measured(workspace, "run")
    corpus.write_text(before, encoding="utf-8")
    found["changed back"] = measured(workspace, "run")
    return found


def _print_table(taken: dict[int, dict[str, Measured]]) -> None:
    sizes = sorted(taken)
    print("\n| stage | " + " | ".join(f"{size:,} pages: wall, cpu, peak" for size in sizes) + " | exponent |")
    print("|---" * (len(sizes) + 2) + "|")
    for stage in (*STAGES, "all"):
        cells = [f"{m.wall_s:.0f} s, {m.cpu_s:.0f} s, {m.peak_mib} MiB" for m in (taken[size][stage] for size in sizes)]
        exponent = ""
        if len(sizes) > 1:
            first, last = sizes[0], sizes[-1]
            growth = taken[last][stage].cpu_s / taken[first][stage].cpu_s
            exponent = f"{math.log(growth) / math.log(last / first):.2f}"
        print(f"| {stage} | " + " | ".join(cells) + f" | {exponent} |")


def main(corpus: Path, sizes: list[int], workers: int, keep: Path | None) -> None:
    """Measure and print."""
    with corpus.open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    taken: dict[int, dict[str, Measured]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for chosen in subsets(rows, sizes):
            n_pages = sum(row["n_pages"] for row in chosen)
            folder = (keep or Path(temporary)) / f"{n_pages}-pages"
            workspace = new_workspace(folder, chosen, corpus, workers)
            stages: dict[str, Measured] = {}
            for stage in STAGES:
                stages[stage] = measured(workspace, stage)
                print(json.dumps({"pages": n_pages, "stage": stage} | asdict(stages[stage])), flush=True)
            stages["all"] = Measured(
                sum(m.wall_s for m in stages.values()),
                sum(m.cpu_s for m in stages.values()),
                max(m.peak_mib for m in stages.values()),
            )
            taken[n_pages] = stages
            facts = {"pages": n_pages, "documents": len(chosen), "load": os.getloadavg()[0]}
            print(json.dumps(facts | asdict(stages["all"]) | outcome(workspace)), flush=True)
        for name, found in renewals(workspace, folder).items():
            print(json.dumps({"renewal": name} | asdict(found)), flush=True)
    _print_table(taken)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument(
        "--pages", default="5000,10000,20000", help="sizes of the subsets, comma-separated; '' for none"
    )
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="where to leave the workspaces; a temporary folder otherwise")
    given = parser.parse_args()
    if given.corpus is None:  # `make bench` names no corpus
        print("nothing to measure: name a corpus of tens of thousands of pages")
        sys.exit()
    main(given.corpus, [int(size) for size in given.pages.split(",") if size], given.workers, given.keep)
