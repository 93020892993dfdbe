"""Scores of loaded runs on a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.records.scores import (
    CurvePoint,
    MeasureScore,
    PageSupport,
    QueryScore,
    RunScore,
    ScoreReport,
    SliceScore,
)
from nclue_build.score.loading import DocumentCodes
from nclue_build.score.strata import slices
from nclue_build.stats.bootstrap import FamilyDraws
from nclue_build.stats.expected import expected_scores
from nclue_build.stats.judgments import GOLD
from nclue_build.stats.measures import SCORES, Truth, auc, measure
from nclue_build.stats.rankings import look_up as labels_of
from nclue_build.stats.rankings import rank
from nclue_build.stats.resampling import DEFAULT_SEED
from nclue_build.stats.support import Support, gold_support

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.loading import LoadedRun
    from nclue_build.stats.measures import Outcomes
    from nclue_build.stats.rankings import Ranking, Ties

DEFAULT_K: Final = 10
MEASURES: Final = tuple(SCORES)


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How to score.

    Args:
        k: Cut-off.
        ties: Order of documents with equal scores.
        curve: Further cut-offs.
        intervals: Whether to give exact-family intervals.
        seed: Of what is drawn.
    """

    k: int = DEFAULT_K
    ties: Ties = "input"
    curve: tuple[int, ...] = ()
    intervals: bool = True
    seed: int = DEFAULT_SEED


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRun:
    """A run in the order in which its documents count, and what it achieves on every query.

    Args:
        run: As it was read.
        ranking: Its documents in order.
        outcomes: At the cut-off of the scorer, in the order of the ranking.
        values: float64, N x measures: points, in the order of :data:`MEASURES`.
    """

    run: LoadedRun
    ranking: Ranking
    outcomes: Outcomes
    values: NDArray[np.float64]


class Scorer:
    """Scores runs on a benchmark; what depends on the benchmark alone is worked out once."""

    def __init__(self, benchmark: Benchmark, options: ScoreOptions) -> None:
        """Prepare for runs of a benchmark."""
        self.benchmark, self.options = benchmark, options
        self.codes = DocumentCodes.of(benchmark)
        self.truth = Truth.of(benchmark.judgments, options.k)
        self.families = benchmark.judgments.families()
        self._draws = FamilyDraws.of(self.families, seed=options.seed) if options.intervals else None
        self._slices = slices(benchmark)
        self._curve = [Truth.of(benchmark.judgments, k, self.truth.labels) for k in options.curve]

    def measure(self, run: LoadedRun) -> MeasuredRun:
        """Put a run into order and measure it on every query."""
        ranking = rank(
            run.docs,
            run.scores,
            ties=self.options.ties,
            docno_ranks=self.codes.docno_ranks,
            labels=self.truth.labels,
        )
        outcomes = measure(self.truth, ranking)
        return MeasuredRun(run, ranking, outcomes, self.values(ranking, outcomes=outcomes))

    def values(
        self, ranking: Ranking, truth: Truth | None = None, outcomes: Outcomes | None = None
    ) -> NDArray[np.float64]:
        """Every measure on every query, in points: float64, N x measures, in the order of :data:`MEASURES`."""
        at = truth or self.truth
        if self.options.ties == "expected":
            return 100.0 * np.stack(expected_scores(at, ranking), axis=1)
        found = outcomes or measure(at, ranking)
        return np.stack([points(found) for points in SCORES.values()], axis=1)

    def scores(self, runs: Sequence[MeasuredRun]) -> tuple[RunScore, ...]:
        """Everything the report says of some runs, in the order given."""
        return tuple(map(self._score, runs, self._estimates(runs)))

    def _score(self, one: MeasuredRun, estimates: Sequence[MeasureScore]) -> RunScore:
        run, ranking, outcomes, values = one.run, one.ranking, one.outcomes, one.values
        n_clue, hit = values[:, MEASURES.index("n_clue_score")] / 100, values[:, MEASURES.index("gold_hit")] / 100
        first = outcomes.first_judged[outcomes.first_judged > 0]
        areas = auc(self.truth, ranking)
        return RunScore(
            run_id=run.name,
            **dict(zip(MEASURES, estimates, strict=True)),
            miss=_mean(1 - hit),
            partial_first=_mean(hit - n_clue),
            gold_first=_mean(n_clue),
            judged=100 * _mean(outcomes.n_judged / self.options.k),
            mean_first_judged=float(first.mean()) if len(first) else None,
            auc=None if np.isnan(areas).all() else float(np.nanmean(areas)),
            missing_queries=run.missing,
            tied_documents=int(ranking.n_tied().sum()),
            dropped_rows=run.n_dropped,
            curve=tuple(self._curve_point(ranking, truth) for truth in self._curve),
            slices=tuple(
                SliceScore(
                    stratum=one.stratum,
                    value=one.value,
                    n_queries=int(one.chosen.sum()),
                    n_clue_score=100 * _mean(n_clue[one.chosen]),
                    gold_hit=100 * _mean(hit[one.chosen]),
                )
                for one in self._slices
            ),
            pages=self._pages(run, ranking),
        )

    def report(self, runs: Sequence[MeasuredRun]) -> ScoreReport:
        """The scores of several runs, in the order given."""
        return ScoreReport(
            build=self.benchmark.name,
            qrels_sha256=self.benchmark.qrels_sha256,
            k=self.options.k,
            ties=self.options.ties,
            seed=self.options.seed,
            n_queries=len(self.benchmark.queries),
            n_families=int(self.families.max(initial=-1)) + 1,
            runs=self.scores(runs),
        )

    def per_query(self, one: MeasuredRun) -> Iterator[QueryScore]:
        """What a run achieves on each query, in the order of their ids."""
        ranking, outcomes, values = one.ranking, one.outcomes, one.values / 100
        docs = ranking.docs[:, : self.options.k]
        is_gold = labels_of(self.truth.labels, docs) >= GOLD
        names = self.benchmark.judgments.doc_ids
        for q, query_id in enumerate(self.benchmark.judgments.query_ids):
            golds = np.flatnonzero(is_gold[q])
            yield QueryScore(
                run_id=one.run.name,
                query_id=query_id,
                returned=bool(ranking.returned[q]),
                **dict(zip(MEASURES, values[q].tolist(), strict=True)),
                first_judged=int(outcomes.first_judged[q]) or None,
                first_gold=int(golds[0]) + 1 if len(golds) else None,
                judged=int(outcomes.n_judged[q]),
                golds=tuple(names[docs[q, place]] for place in golds.tolist()),
            )

    def _estimates(self, runs: Sequence[MeasuredRun]) -> Iterator[list[MeasureScore]]:
        """The mean of every measure of each run; intervals of all in one go, since they share the draws."""
        means = [[_mean(column) for column in one.values.T] for one in runs]
        if self._draws is None or not runs:
            yield from ([MeasureScore(value=mean, low=None, high=None) for mean in row] for row in means)
            return
        intervals = iter(self._draws.intervals(np.concatenate([one.values for one in runs], axis=1)))
        for row in means:
            yield [
                MeasureScore(value=mean, low=interval.low, high=interval.high)
                for mean, interval in zip(row, islice(intervals, len(row)), strict=True)
            ]

    def _curve_point(self, ranking: Ranking, truth: Truth) -> CurvePoint:
        outcomes = measure(truth, ranking)
        means = [_mean(column) for column in self.values(ranking, truth, outcomes).T]
        judged = 100 * _mean(outcomes.n_judged / truth.k)
        return CurvePoint(k=truth.k, **dict(zip(MEASURES, means, strict=True)), judged=judged)

    def _pages(self, run: LoadedRun, ranking: Ranking) -> PageSupport | None:
        """Gold+Support@k and conditional coverage, for a page-aware run on judgments that name pages."""
        if run.pages is None or not self.benchmark.page_sets:
            return None
        judgments, golds = self.benchmark.judgments, self.benchmark.page_sets
        found: list[Support] = []
        for q, query_id in enumerate(judgments.query_ids):
            named = [judgments.doc_ids[code] if 0 <= code < len(judgments.doc_ids) else "" for code in ranking.docs[q]]
            shown = [(doc_id, run.pages.get((query_id, doc_id), ())) for doc_id in named]
            found.append(gold_support(shown, golds.get(query_id, {}), self.options.k))
        reached = [one for one in found if one.best_share is not None]
        n_golds = sum(one.n_golds for one in reached)
        total = sum((one.mean_share or 0.0) * one.n_golds for one in reached)
        return PageSupport(
            gold_support=100 * sum(one.success for one in found) / max(len(found), 1),
            n_queries_with_gold=len(reached),
            condition_coverage=100 * sum(one.best_share or 0.0 for one in reached) / len(reached) if reached else None,
            all_conditions=100 * sum(one.success for one in reached) / len(reached) if reached else None,
            coverage_per_gold=100 * total / n_golds if n_golds else None,
        )


def _mean(values: NDArray[np.floating]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
