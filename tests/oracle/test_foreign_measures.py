"""Our measures against trec_eval's own code (pytrec_eval) and ir_measures, wherever both define one."""

from __future__ import annotations

import importlib
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nclue_build.score.benchmark import Benchmark
from nclue_build.score.loading import DocumentCodes, load_run
from nclue_build.stats.judgments import Judgments
from nclue_build.stats.measures import Truth, measure
from nclue_build.stats.rankings import ABSENT, rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.stats.measures import Outcomes
    from nclue_build.stats.rankings import Ties

pytestmark = pytest.mark.filterwarnings("ignore")  # other people's

K = 10
NAMES = [f"d{place}" for place in range(28)] + ["D7", "_d", "zé", "é", "z\U0001f600", "z\uffff"]
Run = dict[str, list[tuple[str, float]]]
Qrels = dict[str, dict[str, int]]


def foreign(name: str) -> Any:
    """A library without types."""
    return importlib.import_module(name)


def dice(seed: str | int) -> random.Random:
    """Chance that falls the same every time."""
    return random.Random(seed)  # noqa: S311 - nothing to keep secret


def make_benchmark(rng: random.Random, n_queries: int) -> Benchmark:
    rows, arity = [], {}
    for q in range(n_queries):
        query_id = f"q{q:02}"
        arity[query_id] = n = rng.choice([2, 3])
        judged = rng.sample(NAMES[:-2], rng.randint(1, 14))
        n_golds = rng.randint(1, len(judged))
        rows += [
            (query_id, doc_id, n if place < n_golds else rng.randint(1, n - 1), place < n_golds)
            for place, doc_id in enumerate(judged)
        ]
    return Benchmark("made", dict.fromkeys(arity), Judgments.of(arity, rows), tuple(sorted(NAMES)), {}, {}, "0" * 64)  # type: ignore[arg-type]


def qrels_of(judgments: Judgments, *, golds_only: bool) -> Qrels:
    found: Qrels = {}
    for q, doc, grade, gold in zip(judgments.queries, judgments.docs, judgments.grades, judgments.gold, strict=True):
        if gold or not golds_only:
            row = found.setdefault(judgments.query_ids[q], {})
            row[judgments.doc_ids[doc]] = 1 if golds_only else int(grade)
    return found


def make_run(rng: random.Random, benchmark: Benchmark, values: Callable[[], float]) -> Run:
    """Some queries are missing, others have one document; unjudged documents are everywhere."""
    run: Run = {}
    for query_id in benchmark.queries:
        if rng.random() < 0.85:
            docs = rng.sample(NAMES, rng.choice([1, 2, 9, 10, 11, 20, len(NAMES)]))
            run[query_id] = [(doc_id, values()) for doc_id in docs]
    return run


def outcomes_of(benchmark: Benchmark, run: Run, ties: Ties, k: int = K) -> Outcomes:
    codes = DocumentCodes.of(benchmark)
    depth = max(map(len, run.values()), default=0)
    docs = np.full((len(benchmark.queries), depth), ABSENT, dtype=np.int64)
    scores = np.full(docs.shape, -np.inf)
    for q, query_id in enumerate(benchmark.queries):
        for place, (doc_id, score) in enumerate(run.get(query_id, [])):
            docs[q, place], scores[q, place] = codes.codes[doc_id], score
    truth = Truth.of(benchmark.judgments, k)
    return measure(truth, rank(docs, scores, ties=ties, docno_ranks=codes.docno_ranks, labels=truth.labels))


def strictly_falling(run: Run) -> Run:
    """The run in our order, with scores that no tool can take for equal."""
    return {
        query_id: [
            (doc_id, float(len(rows) - place))
            for place, (doc_id, _) in enumerate(sorted(rows, key=lambda row: -row[1]))
        ]
        for query_id, rows in run.items()
    }


def with_pytrec_eval(qrels: Qrels, run: Run, measures: list[str]) -> dict[str, dict[str, float]]:
    evaluator = foreign("pytrec_eval").RelevanceEvaluator(qrels, measures)
    return dict(evaluator.evaluate({query_id: dict(rows) for query_id, rows in run.items()}))


def agree(ours: Any, theirs: list[float]) -> None:
    assert np.asarray(ours, dtype=np.float64) == pytest.approx(theirs, abs=1e-9, rel=0)


KINDS: dict[str, Callable[[random.Random], float]] = {
    "distinct": random.Random.random,
    "a few values": lambda rng: float(rng.randint(0, 3)),
    "all equal": lambda _: 1.0,
    "equal in single precision": lambda rng: 1.0 + rng.randint(0, 3) * 1e-9,
    "beyond single precision": lambda rng: rng.choice([1e300, 2e300, 1.0, -1e300, 1e39]),
    "tiny": lambda rng: rng.choice([1e-46, 2e-46, -1e-46, 0.0, -0.0, 1e-300]),
    "negative": lambda rng: -float(rng.randint(0, 5)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", ["input", "trec"])
def test_trec_eval_says_the_same(kind: str, ties: Ties) -> None:
    rng = dice(f"{kind} {ties}")
    for _ in range(15):
        benchmark = make_benchmark(rng, 12)
        run = make_run(rng, benchmark, lambda: KINDS[kind](rng))
        ours = outcomes_of(benchmark, run, ties)
        shown = strictly_falling(run) if ties == "input" else run
        golds = with_pytrec_eval(
            qrels_of(benchmark.judgments, golds_only=True), shown, ["ndcg_cut.10", "success.10", "recip_rank"]
        )
        grades = with_pytrec_eval(qrels_of(benchmark.judgments, golds_only=False), shown, ["ndcg_cut.10"])
        some = [query_id in run for query_id in benchmark.queries]
        agree(ours.gold_ndcg[some], [golds[q]["ndcg_cut_10"] for q in benchmark.queries if q in run])
        agree(ours.hit[some], [golds[q]["success_10"] for q in benchmark.queries if q in run])
        agree(ours.ndcg_lin[some], [grades[q]["ndcg_cut_10"] for q in benchmark.queries if q in run])
        # A gold before every subset: the first gold is also the first judged document.
        judged = with_pytrec_eval(qrels_of(benchmark.judgments, golds_only=False), shown, ["recip_rank"])
        first = [golds[q]["recip_rank"] == judged[q]["recip_rank"] >= 1 / K for q in benchmark.queries if q in run]
        agree(ours.n_clue[some], [float(one) for one in first])
        missing = [not one for one in some]
        assert not ours.hit[missing].any()
        assert not ours.ndcg_lin[missing].any()


@pytest.mark.parametrize("k", [1, 3, 20, 100])
def test_ir_measures_says_the_same_at_any_cut_off(k: int) -> None:
    ir = foreign("ir_measures")
    rng = dice(k)
    for _ in range(5):
        benchmark = make_benchmark(rng, 12)
        run = make_run(rng, benchmark, rng.random)
        ours = outcomes_of(benchmark, run, "input", k)
        shown = {query_id: dict(rows) for query_id, rows in strictly_falling(run).items()}
        for golds_only, wanted, values in (
            (True, ir.nDCG @ k, ours.gold_ndcg),
            (True, ir.Success @ k, ours.hit),
            (False, ir.nDCG @ k, ours.ndcg_lin),
            (False, ir.nDCG(gains={1: 1, 2: 3, 3: 7}) @ k, ours.ndcg_exp),
        ):
            qrels = qrels_of(benchmark.judgments, golds_only=golds_only)
            found = {row.query_id: row.value for row in ir.iter_calc([wanted], qrels, shown)}
            agree(values, [found.get(query_id, 0.0) for query_id in benchmark.queries])


def test_an_empty_run_scores_nothing() -> None:
    benchmark = make_benchmark(dice(1), 4)
    ours = outcomes_of(benchmark, {}, "input")
    assert not ours.hit.any()
    assert ours.gold_ndcg.tolist() == [0.0] * 4


def test_a_query_not_returned_counts_as_zero_as_with_trec_eval_c(tmp_path: Path) -> None:
    """pytrec_eval alone averages over the queries returned; trec_eval -c, ir_measures and we over all."""
    ir = foreign("ir_measures")
    benchmark = make_benchmark(dice(2), 8)
    run = strictly_falling(make_run(dice(3), benchmark, dice(4).random))
    run.pop("q01", None)
    path = tmp_path / "one.trec"
    path.write_text("".join(f"{q} Q0 {doc} 1 {score} x\n" for q, rows in run.items() for doc, score in rows))
    loaded = load_run(path, benchmark, DocumentCodes.of(benchmark))
    assert "q01" in loaded.missing
    truth = Truth.of(benchmark.judgments)
    ours = measure(truth, rank(loaded.docs, loaded.scores)).gold_ndcg.mean()
    qrels = qrels_of(benchmark.judgments, golds_only=True)
    theirs = ir.calc_aggregate([ir.nDCG @ K], qrels, {q: dict(rows) for q, rows in run.items()})[ir.nDCG @ K]
    assert ours == pytest.approx(theirs, abs=1e-9)
    returned = with_pytrec_eval(qrels, run, ["ndcg_cut.10"])
    assert np.mean([row["ndcg_cut_10"] for row in returned.values()]) > ours
