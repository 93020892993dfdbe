"""The report of a run, against the definitions read aloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.records.benchmark import Strata
from nclue_build.score import scorer as scoring
from nclue_build.score.scorer import ScoreOptions, Scorer
from nclue_build.stats.measures import measure
from nclue_build.workflow.scoring import RunSource, measure_runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.records.scores import RunScore
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.stats.measures import Outcomes, Truth
    from nclue_build.stats.rankings import Ranking

DOCS = [f"d{place:02}" for place in range(30)]
K = 5


@pytest.fixture(scope="module")
def world(make_benchmark: Callable[..., Benchmark], tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(make_benchmark, tmp_path_factory.mktemp("runs"))


class World:
    """Twenty queries, a page-aware run that lacks two of them, and what it scores."""

    def __init__(self, make_benchmark: Callable[..., Benchmark], folder: Path) -> None:
        rng = np.random.default_rng(4)
        self.grades: dict[str, dict[str, int]] = {}
        self.ranking: dict[str, list[str]] = {}
        self.pages: dict[tuple[str, str], list[int]] = {}
        self.sets: dict[str, dict[str, tuple[frozenset[int], ...]]] = {}
        self.strata: dict[str, Strata] = {}
        rows, lines = [], []
        for number in range(20):
            query = f"q{number:02}"
            docs = rng.permutation(DOCS).tolist()
            n_golds, n_judged = int(rng.integers(1, 4)), int(rng.integers(4, 12))
            self.grades[query] = {doc: 2 if place < n_golds else 1 for place, doc in enumerate(docs[:n_judged])}
            rows += [(query, doc, grade, grade == 2) for doc, grade in self.grades[query].items()]
            self.sets[query] = {
                doc: (frozenset(rng.integers(1, 4, size=2).tolist()), frozenset(rng.integers(4, 7, size=2).tolist()))
                for doc in docs[:n_golds]
            }
            sources = ("one",) if number % 3 else ("one", "two")
            self.strata[query] = Strata(
                l_min=(30, 31, 101)[number % 3], d_plus=(25, 50, 51)[number % 3], sources=sources
            )
            self.ranking[query] = [] if number >= 18 else rng.permutation(DOCS).tolist()[:12]
            for place, doc in enumerate(self.ranking[query]):
                self.pages[query, doc] = rng.permutation(6)[:4].tolist()
                shown = ", ".join(f"[{page + 1}, {9 - at}]" for at, page in enumerate(self.pages[query, doc]))
                lines.append(f'{{"query_id": "{query}", "doc_id": "{doc}", "score": {-place}, "pages": [{shown}]}}\n')
        path = folder / "shown.jsonl"
        path.write_text("".join(lines), encoding="utf-8")
        benchmark = make_benchmark(rows, DOCS, strata=self.strata, page_sets=self.sets)
        scorer = Scorer(benchmark, ScoreOptions(k=K, curve=(1, 3, 12, 50)))
        self.score: RunScore = scorer.scores(measure_runs(scorer, [RunSource("shown", path)]))[0]

    def found(self, query: str, k: int) -> list[int]:
        return [self.grades[query].get(doc, 0) for doc in self.ranking[query][:k]]

    def n_clue(self, query: str, k: int) -> bool:
        return next((grade for grade in self.found(query, k) if grade), 0) == 2

    def hit(self, query: str, k: int) -> bool:
        return 2 in self.found(query, k)


def mean(values: list[float] | list[bool]) -> float:
    return 100 * sum(values) / len(values)


def test_a_curve_is_the_score_at_each_cut_off(world: World) -> None:
    assert [point.k for point in world.score.curve] == [1, 3, 12, 50]
    for point in world.score.curve:
        assert point.n_clue_score == pytest.approx(mean([world.n_clue(query, point.k) for query in world.grades]))
        assert point.gold_hit == pytest.approx(mean([world.hit(query, point.k) for query in world.grades]))
        judged = [sum(map(bool, world.found(query, point.k))) / point.k for query in world.grades]
        assert point.judged == pytest.approx(mean(judged))


def test_each_cut_off_is_measured_once(
    make_benchmark: Callable[..., Benchmark], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []

    def counted(truth: Truth, ranking: Ranking) -> Outcomes:
        measured.append(truth.k)
        return measure(truth, ranking)

    monkeypatch.setattr(scoring, "measure", counted)
    World(make_benchmark, tmp_path)
    assert measured == [K, 1, 3, 12, 50]


def test_judged_documents_and_the_rank_of_the_first(world: World) -> None:
    judged = [sum(map(bool, world.found(query, K))) / K for query in world.grades]
    assert world.score.judged == pytest.approx(mean(judged))
    first = [next((rank for rank, grade in enumerate(world.found(query, K), 1) if grade), 0) for query in world.grades]
    assert world.score.mean_first_judged == pytest.approx(np.mean([rank for rank in first if rank]))
    assert world.score.missing_queries == ("q18", "q19")


def test_slices_follow_the_strata_of_the_study(world: World) -> None:
    bands = {"l_min": ("<=30", "31-100", ">100"), "d_plus": ("<=25", "26-50", ">50"), "source": ("mixed", "one", "one")}
    found = {(one.stratum, one.value): one for one in world.score.slices}
    assert {value for stratum, value in found if stratum == "l_min"} == set(bands["l_min"])
    for (stratum, value), one in found.items():
        chosen = [
            query
            for number, query in enumerate(world.grades)
            if bands.get(stratum, ("2", "2", "2") if stratum == "n" else ("strict",) * 3)[number % 3] == value
        ]
        assert one.n_queries == len(chosen)
        assert one.n_clue_score == pytest.approx(mean([world.n_clue(query, K) for query in chosen]))
        assert one.gold_hit == pytest.approx(mean([world.hit(query, K) for query in chosen]))


def test_pages_shown_of_golds(world: World) -> None:
    success, best, each = [], [], []
    for query in world.grades:
        covered = []
        for doc in world.ranking[query][:K]:
            if world.grades[query].get(doc) == 2:
                shown = {page + 1 for page in world.pages[query, doc][:3]}
                covered.append(sum(bool(shown & condition) for condition in world.sets[query][doc]) / 2)
        success.append(1.0 in covered)
        best += [max(covered)] if covered else []
        each += covered
    pages = world.score.pages
    assert pages is not None
    assert pages.gold_support == pytest.approx(mean(success))
    assert pages.n_queries_with_gold == len(best)
    assert pages.condition_coverage == pytest.approx(mean(best))
    assert pages.all_conditions == pytest.approx(mean([one == 1 for one in best]))
    assert pages.coverage_per_gold == pytest.approx(mean(each))


def test_judgments_without_pages_say_nothing_of_pages(make_benchmark: Callable[..., Benchmark], tmp_path: Path) -> None:
    path = tmp_path / "shown.jsonl"
    path.write_text('{"query_id": "q", "doc_id": "d00", "score": 1, "pages": [[1, 1]]}\n', encoding="utf-8")
    scorer = Scorer(make_benchmark([("q", "d00", 2, True)], DOCS), ScoreOptions())
    (score,) = scorer.scores(measure_runs(scorer, [RunSource("shown", path)]))
    assert score.gold_hit.value == 100
    assert score.pages is None
