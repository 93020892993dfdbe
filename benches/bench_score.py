"""Scoring against other tools, from files to scores, and the whole of inference.

``python benches/bench_score.py [RUNS]`` makes runs (70 by default) of 1,000 queries with 100 documents each on made
judgments like those of the study. Ratios are taken within one run, on processor time and on the wall.
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nclue_build.core.canonical import sha256_file
from nclue_build.records.benchmark import Forms, Qrel, QrelsMeta, Query, QueryCondition, Strata
from nclue_build.records.comparison import Contrast
from nclue_build.records.corpus import DocumentQuality
from nclue_build.score.benchmark import Benchmark
from nclue_build.score.comparison import CompareOptions, Comparer
from nclue_build.score.scorer import ScoreOptions, Scorer
from nclue_build.stats.judgments import Judgments
from nclue_build.stats.measures import Truth, measure
from nclue_build.stats.rankings import rank
from nclue_build.store.atomic import write_text
from nclue_build.store.jsonl import write_json, write_jsonl
from nclue_build.store.runs import has_fast_engine
from nclue_build.workflow.scoring import RunSource, measure_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.score.loading import LoadedRun

N_QUERIES, N_DOCS, DEPTH, N_JUDGED = 1000, 2000, 100, 51
N_THEIRS = 5


def made_benchmark() -> Benchmark:
    """1,000 queries, 51 judgments each, golds out of 290 documents in some 450 families."""
    rng = np.random.default_rng(1)
    names = [f"world_bank_{30_000_000 + 977 * place}" for place in range(N_DOCS)]
    rows: list[tuple[str, str, int, bool]] = []
    queries = {}
    sets = [rng.choice(290, size=int(rng.integers(1, 5)), replace=False).tolist() for _ in range(450)]
    for q in range(N_QUERIES):
        query_id, golds = f"nclue_{q:04}", sets[int(rng.integers(0, len(sets)))]
        others = [doc for doc in rng.choice(N_DOCS, size=N_JUDGED, replace=False).tolist() if doc not in golds]
        rows += [(query_id, names[doc], 2, True) for doc in golds]
        rows += [(query_id, names[doc], 1, False) for doc in others[: N_JUDGED - len(golds)]]
        conditions = tuple(
            QueryCondition(condition_id=f"c{place}", name=f"c{place}", raw_name=f"c{place}", aliases=())
            for place in range(2)
        )
        queries[query_id] = Query(
            query_id=query_id,
            n=2,
            conditions=conditions,
            relaxation=None,
            forms=Forms(raw="", clean_v2="", natural=""),
            golds=tuple(sorted(names[doc] for doc in golds)),
            n_judged=N_JUDGED,
            strata=Strata(l_min=int(rng.integers(5, 200)), d_plus=N_JUDGED, sources=("one",)),
        )
    judgments = Judgments.of(dict.fromkeys(queries, 2), rows)
    return Benchmark("made", queries, judgments, tuple(sorted(names)), {}, {}, "0" * 64)


def write_runs(folder: Path, benchmark: Benchmark, n_runs: int) -> list[Path]:
    """TREC files of systems of rising strength."""
    judged = {query_id: [] for query_id in benchmark.queries}  # type: dict[str, list[str]]
    for q, doc in zip(benchmark.judgments.queries.tolist(), benchmark.judgments.docs.tolist(), strict=True):
        judged[benchmark.judgments.query_ids[q]].append(benchmark.judgments.doc_ids[doc])
    paths = []
    for number in range(n_runs):
        rng = random.Random(number)  # noqa: S311 - made data
        path = folder / f"system_{number:02}.trec"
        with path.open("w", encoding="utf-8") as stream:
            for query_id, known in judged.items():
                docs = dict.fromkeys(rng.sample(known, int(len(known) * number / n_runs)))
                docs.update(dict.fromkeys(rng.sample(benchmark.doc_ids, DEPTH)))
                for place, doc_id in enumerate(list(docs)[:DEPTH]):
                    stream.write(f"{query_id} Q0 {doc_id} {place + 1} {30 - 0.25 * place:.4f} system_{number:02}\n")
        paths.append(path)
    return paths


def write_build(root: Path, benchmark: Benchmark) -> None:
    """A workspace that holds what scoring reads of a build."""
    home, judgments = root / "benchmarks" / "made", benchmark.judgments
    write_text(root / "configs" / "workspace.toml", 'schema = 1\ndefault_build = "made"\n')
    write_text(root / "configs" / "made.toml", 'schema = 1\n[corpus]\nfile = "corpus.jsonl"\n')
    quality = (
        DocumentQuality(
            doc_id=doc_id,
            source="one",
            status="ok",
            n_pages=9,
            pages_ok=9,
            pages_empty=0,
            pages_failed=0,
            n_words=999,
            language="en",
            flags=(),
            in_benchmark=True,
            gold_eligible=True,
            removed=None,
            message=None,
        )
        for doc_id in benchmark.doc_ids
    )
    write_jsonl(root / "inventory" / "made" / "documents_quality.jsonl", quality)
    write_jsonl(home / "queries.jsonl", benchmark.queries.values())
    columns = (judgments.queries, judgments.docs, judgments.grades, judgments.gold)
    qrels = (
        Qrel(
            query_id=judgments.query_ids[q],
            doc_id=judgments.doc_ids[doc],
            grade=grade,
            clue_count=grade,
            gold=gold,
            gate="ok" if gold else "incomplete",
            pages=((1, 3), (2,) if gold else ()),
            witness=(1, 2) if gold else None,
            shared_pages=None,
            violator=None,
            evidence=(),
        )
        for q, doc, grade, gold in zip(*(column.tolist() for column in columns), strict=True)
    )
    write_jsonl(home / "qrels.jsonl", qrels)
    meta = QrelsMeta(
        inventory_version=0,
        inventory_digests={},
        level="page",
        item_judge="rules",
        item_model=None,
        n_queries=len(benchmark.queries),
        n_qrels=len(judgments.docs),
        n_golds=int(judgments.gold.sum()),
        qrels_sha256=sha256_file(home / "qrels.jsonl"),
    )
    write_json(home / "qrels.meta.json", meta)


def with_the_command(root: Path, runs: Path) -> tuple[float, float]:
    """Wall and processor time of ``nclue-build score`` as a program, from its start to its end."""
    before, wall = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "nclue_build", "-q", "-w", str(root), "score", str(runs)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - wall, spent


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall time, processor time, result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - processor, result


def report(label: str, wall: float, processor: float, n: int) -> None:
    """A line of the table."""
    print(f"{label:<52} {wall:8.3f} s wall {processor:8.3f} s processor, for {n} runs")


def with_trec_eval(benchmark: Benchmark, runs: list[LoadedRun]) -> None:
    """The same measures by pytrec_eval and ir_measures, from dictionaries that are at hand."""
    names = (*benchmark.judgments.doc_ids, *sorted(set(benchmark.doc_ids) - set(benchmark.judgments.doc_ids)))
    judgments = benchmark.judgments
    golds: dict[str, dict[str, int]] = {}
    grades: dict[str, dict[str, int]] = {}
    for q, doc, grade, gold in zip(
        judgments.queries.tolist(),
        judgments.docs.tolist(),
        judgments.grades.tolist(),
        judgments.gold.tolist(),
        strict=True,
    ):
        grades.setdefault(judgments.query_ids[q], {})[judgments.doc_ids[doc]] = grade
        if gold:
            golds.setdefault(judgments.query_ids[q], {})[judgments.doc_ids[doc]] = 1
    shown = [
        {
            query_id: dict(zip((names[doc] for doc in docs), scores, strict=True))
            for query_id, docs, scores in zip(judgments.query_ids, run.docs.tolist(), run.scores.tolist(), strict=True)
        }
        for run in runs[:N_THEIRS]
    ]
    truth = Truth.of(judgments)
    ours = timed(lambda: [measure(truth, rank(run.docs, run.scores)) for run in runs])
    report("measures (n-Clue, hit, three NDCGs, first judged)", *ours[:2], len(runs))
    per_run = ours[0] / len(runs), ours[1] / len(runs)
    pytrec_eval, ir = importlib.import_module("pytrec_eval"), importlib.import_module("ir_measures")
    evaluators = [
        pytrec_eval.RelevanceEvaluator(golds, {"ndcg_cut.10", "success.10"}),
        pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10"}),
    ]
    theirs = timed(lambda: [one.evaluate(run) for run in shown for one in evaluators])
    report("pytrec_eval: hit and two NDCGs", *theirs[:2], len(shown))
    print(
        f"  ratio {theirs[0] / len(shown) / per_run[0]:.1f} wall, {theirs[1] / len(shown) / per_run[1]:.1f} processor"
    )
    binary = ir.evaluator([ir.nDCG @ 10, ir.Success @ 10], golds)
    graded = ir.evaluator([ir.nDCG @ 10], grades)
    theirs = timed(lambda: [one.calc_aggregate(run) for run in shown for one in (binary, graded)])
    report("ir_measures: hit and two NDCGs", *theirs[:2], len(shown))
    print(
        f"  ratio {theirs[0] / len(shown) / per_run[0]:.1f} wall, {theirs[1] / len(shown) / per_run[1]:.1f} processor"
    )


def main(n_runs: int) -> None:
    """Print the table."""
    benchmark = made_benchmark()
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "workspace", Path(folder) / "runs"
        home.mkdir()
        paths = write_runs(home, benchmark, n_runs)
        write_build(root, benchmark)
        sources = [RunSource(path.stem, path) for path in paths]
        options = ScoreOptions()
        measure_runs(Scorer(benchmark, options), sources[:1])  # imports
        prepared = timed(lambda: Scorer(benchmark, options))
        scorer = prepared[2]
        read = timed(lambda: measure_runs(scorer, sources))
        engine = "extra fast" if has_fast_engine() else "plain"
        report(f"reading and measuring TREC files ({engine})", *read[:2], n_runs)
        runs = read[2]
        scored = timed(lambda: scorer.report(runs))
        report("intervals, slices, report", *scored[:2], n_runs)
        whole = [sum(part[at] for part in (prepared, read, scored)) for at in (0, 1)]
        report("from files to the report", whole[0], whole[1], n_runs)
        report("the command, from its start to its table", *with_the_command(root, home), n_runs)
    with_trec_eval(benchmark, [one.run for one in runs])
    names = [one.run.name for one in runs]
    contrasts = [
        Contrast(name=f"{base} {variant}", block=f"block {place % 8}", base=base, variant=variant)
        for place, (base, variant) in enumerate(combinations(names, 2))
    ]
    inferred = timed(lambda: Comparer(scorer, runs, CompareOptions()).report(contrasts))
    report(f"all inference on {len(contrasts)} pairs in 8 blocks", *inferred[:2], n_runs)
    # A large share of such a machine's wall time may belong to others: the processor time is of all threads.
    print(
        f"largest process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB, {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 70)
