"""Time and peak memory of a whole run on a corpus, stage by stage, then of an unchanged rerun.

    python benches/bench_run.py [CORPUS.jsonl] [WORKERS]

Without a corpus given or in the default place there is nothing to measure.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEFAULT = Path(__file__).parent.parent.parent / "shared" / "data" / "usgov" / "corpus.jsonl"
PROGRAM = [sys.executable, "-m", "nclue_build"]


def timed(workspace: Path, *words: str) -> float:
    """Seconds of wall time a command takes."""
    began = time.perf_counter()
    subprocess.run([*PROGRAM, "-q", "-w", workspace, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main(corpus: Path, workers: int) -> None:
    """Measure and print, one JSON object a line."""
    if not corpus.is_file():
        print(f"nothing to measure: no {corpus}")
        return
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        subprocess.run([*PROGRAM, "init", workspace, "--corpus", corpus], check=True, stdout=subprocess.DEVNULL)
        config = workspace / "configs" / "main.toml"
        text = config.read_text(encoding="utf-8").replace("\nworkers = 0 ", f"\nworkers = {workers} ")
        config.write_text(text, encoding="utf-8")
        total = 0.0
        for stage in ("extract", "mine", "compose", "gate"):
            total += (taken := timed(workspace, stage))
            print(json.dumps({"stage": stage, "seconds": round(taken, 2)}))
        print(json.dumps({"stage": "unchanged rerun", "seconds": round(timed(workspace, "run"), 2)}))
        # The largest single process: the parent, a worker or a reader.
        peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(json.dumps({"stage": "all", "seconds": round(total, 2), "peak_mib_of_a_process": peak_mib}))


if __name__ == "__main__":
    corpus_given, workers_given, *_ = [*sys.argv[1:], None, None][:2]
    main(Path(corpus_given or DEFAULT), int(workers_given or 0))
