"""Contrasts between runs: differences with intervals, tests, and how much hangs on few documents or labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.records.comparison import (
    ComparisonReport,
    Contrast,
    ContrastResult,
    Difference,
    Influence,
    Ordering,
    PromotionBound,
    Shares,
)
from nclue_build.score.scorer import MEASURES
from nclue_build.stats.bootstrap import FamilyDraws, crossed_weights
from nclue_build.stats.bounds import fewest_promotions, first_judged, gold_ndcg_bounds, n_clue_bounds
from nclue_build.stats.contrasts import common_support, smallest_detectable
from nclue_build.stats.influence import (
    Busiest,
    Incidence,
    component_sizes,
    document_macro,
    leave_one_out,
    one_query_per_document,
    remove_busiest,
    thin,
)
from nclue_build.stats.randomization import flip_p_values, flip_tests, holm
from nclue_build.stats.resampling import N_BOOTSTRAP, N_FLIPS, percentile_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.scores import Measure
    from nclue_build.score.scorer import MeasuredRun, Scorer
    from nclue_build.stats.bounds import NdcgBounds, PromotionBounds
    from nclue_build.stats.contrasts import Split
    from nclue_build.stats.resampling import Interval

_N_PROMOTIONS: Final = 3
_N_BUSIEST: Final = 20
_BATCH: Final = 256
"""Contrasts that are worked out together: enough for speed, few enough for memory."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How to compare.

    Args:
        measure: What tests, influence and bounds are about.
        n_bootstrap: Replicates of every bootstrap.
        n_flips: Draws of signs.
    """

    measure: Measure = "n_clue_score"
    n_bootstrap: int = N_BOOTSTRAP
    n_flips: int = N_FLIPS


@dataclass(frozen=True, slots=True)
class _Tests:
    """What is tested for all contrasts together, of one of them."""

    p_query: float
    p_family: float
    p_block: float
    p_holm: float | None
    smallest_detectable: float


@dataclass(frozen=True, slots=True, eq=False)
class _Hold:
    """Documents that queries hang on, and draws of them: the same for every contrast.

    ``replicates`` are the crossed bootstrap's of each run, by name: float64, replicates.
    """

    incidence: Incidence
    components: tuple[int, ...]
    busiest: Busiest
    n_redrawn: int
    replicates: Mapping[str, NDArray[np.float64]]


class Comparer:
    """Compares runs that a scorer has measured; everything is drawn once, and what can be told of a run alone is."""

    def __init__(self, scorer: Scorer, runs: Sequence[MeasuredRun], options: CompareOptions) -> None:
        """Draw."""
        self._scorer, self._options, self._seed = scorer, options, scorer.options.seed
        self._judgments = scorer.benchmark.judgments
        self._runs = {one.run.name: one for one in runs}
        self._first = {name: first_judged(scorer.truth, one.ranking) for name, one in self._runs.items()}
        self._families = FamilyDraws.of(scorer.families, seed=self._seed, n_draws=options.n_bootstrap)
        self._golds, self._judged = self._hold(gold_only=True), self._hold(gold_only=False)
        self._thinned = thin(self._golds.incidence, seed=self._seed, n_draws=options.n_bootstrap)

    def report(self, contrasts: Sequence[Contrast]) -> ComparisonReport:
        """Compare, and adjust p values within blocks and over the displayed contrasts.

        Args:
            contrasts: Every contrast that was tried, displayed or not; their runs are among those measured.
        """
        scorer, options = self._scorer, self._options
        tests = self._test(contrasts)
        results: list[ContrastResult] = []
        for begin in range(0, len(contrasts), _BATCH):
            part = slice(begin, begin + _BATCH)
            results += self._results(contrasts[part], tests[part])
        return ComparisonReport(
            build=scorer.benchmark.name,
            qrels_sha256=scorer.benchmark.qrels_sha256,
            k=scorer.options.k,
            ties=scorer.options.ties,
            measure=options.measure,
            seed=self._seed,
            n_bootstrap=options.n_bootstrap,
            n_flips=options.n_flips,
            n_queries=len(scorer.families),
            n_families=int(scorer.families.max(initial=-1)) + 1,
            contrasts=tuple(results),
        )

    def _hold(self, *, gold_only: bool) -> _Hold:
        incidence = Incidence.of(self._judgments, gold_only=gold_only)
        crossed = crossed_weights(
            self._judgments, gold_only=gold_only, seed=self._seed, n_draws=self._options.n_bootstrap
        )
        at = MEASURES.index(self._options.measure)
        return _Hold(
            incidence,
            tuple(component_sizes(incidence)),
            Busiest.of(incidence, self._judgments.doc_ids, _N_BUSIEST),
            crossed.n_redrawn,
            {name: crossed.means(one.values[:, at]) for name, one in self._runs.items()},
        )

    def _deltas(self, contrasts: Sequence[Contrast], measure: Measure) -> NDArray[np.float64]:
        """Variant minus base: float64, N x contrasts."""
        at = MEASURES.index(measure)
        return np.column_stack(
            [self._runs[one.variant].values[:, at] - self._runs[one.base].values[:, at] for one in contrasts]
        )

    def _test(self, contrasts: Sequence[Contrast]) -> list[_Tests]:
        options, families = self._options, self._scorer.families
        deltas = self._deltas(contrasts, options.measure)
        names = {block: number for number, block in enumerate(dict.fromkeys(one.block for one in contrasts))}
        blocks = np.array([names[one.block] for one in contrasts], dtype=np.int64)
        by_query = flip_p_values(deltas, seed=self._seed, n_flips=options.n_flips).tolist()
        by_family = flip_tests(deltas, families, blocks, seed=self._seed, n_flips=options.n_flips)
        single, by_block = by_family.single.tolist(), by_family.block.tolist()
        detectable = smallest_detectable(deltas, self._families).tolist()
        displayed = [place for place, one in enumerate(contrasts) if one.displayed]
        by_holm = dict(zip(displayed, holm([by_block[place] for place in displayed]), strict=True))
        return [
            _Tests(by_query[place], single[place], by_block[place], by_holm.get(place), detectable[place])
            for place in range(len(contrasts))
        ]

    def _results(self, contrasts: Sequence[Contrast], tests: Sequence[_Tests]) -> Iterator[ContrastResult]:
        """What is told of some contrasts, all of which are worked out together."""
        by_measure = {
            name: map(_difference, self._families.intervals(self._deltas(contrasts, name))) for name in MEASURES
        }
        deltas = self._deltas(contrasts, self._options.measure)
        macro = document_macro(deltas, self._golds.incidence).tolist()
        thinned = one_query_per_document(deltas, self._golds.incidence, self._thinned)
        golds, judged = (self._influences(contrasts, deltas, hold) for hold in (self._golds, self._judged))
        for place, (contrast, found) in enumerate(zip(contrasts, tests, strict=True)):
            promotions = n_clue_bounds(self._first[contrast.base], self._first[contrast.variant])
            yield ContrastResult(
                contrast=contrast,
                differences={name: next(differences) for name, differences in by_measure.items()},
                p_query=found.p_query,
                p_family=found.p_family,
                p_block=found.p_block,
                p_holm=found.p_holm,
                smallest_detectable=found.smallest_detectable,
                ordering=self._ordering(contrast),
                document_macro=macro[place],
                one_query_per_document=_difference(thinned[place]),
                golds=next(golds),
                judged=next(judged),
                bounds=tuple(self._bounds(contrast, promotions)),
                fewest_promotions=fewest_promotions(promotions),
            )

    def _ordering(self, contrast: Contrast) -> Ordering:
        found = common_support(self._runs[contrast.base].outcomes, self._runs[contrast.variant].outcomes)
        return Ordering(
            n_common=found.n_common,
            difference=found.difference,
            mean=None if isnan(found.mean) else 100 * found.mean,
            base=_shares(found.base),
            variant=_shares(found.variant),
        )

    def _influences(
        self, contrasts: Sequence[Contrast], deltas: NDArray[np.float64], hold: _Hold
    ) -> Iterator[Influence]:
        replicates = np.column_stack([hold.replicates[one.variant] - hold.replicates[one.base] for one in contrasts])
        crossed = percentile_intervals(deltas.mean(axis=0), replicates)
        without_one = leave_one_out(deltas, hold.incidence)
        rest = remove_busiest(deltas, hold.busiest)
        for interval, low, high, left in zip(
            crossed, without_one.low.tolist(), without_one.high.tolist(), rest.tolist(), strict=True
        ):
            yield Influence(
                components=len(hold.components),
                largest_component=max(hold.components, default=0),
                crossed=_difference(interval),
                n_redrawn=hold.n_redrawn,
                leave_one_low=_or_none(low),
                leave_one_high=_or_none(high),
                leave_one_skipped=without_one.n_empty,
                remove_busiest=_or_none(left),
                n_removed=len(hold.busiest.docs),
                n_queries_left=int(hold.busiest.left.sum()),
            )

    def _bounds(self, contrast: Contrast, promotions: PromotionBounds) -> Iterator[PromotionBound]:
        """Bounds of the measure; only n-Clue Score and Gold-NDCG have them."""
        found: Sequence[PromotionBounds | NdcgBounds] = ()
        if self._options.measure == "n_clue_score":
            found = (promotions,) * _N_PROMOTIONS
        elif self._options.measure == "gold_ndcg":
            base, variant = self._runs[contrast.base].ranking, self._runs[contrast.variant].ranking
            found = gold_ndcg_bounds(self._scorer.truth, base, variant, _N_PROMOTIONS)
        for number, one in enumerate(found, start=1):
            low, high = 100 * float(one.low.mean()), 100 * float(one.high.mean())
            yield PromotionBound(promotions=number, low=low, high=high)


def _difference(interval: Interval) -> Difference:
    return Difference(value=interval.value, low=interval.low, high=interval.high)


def _shares(split: Split) -> Shares:
    return Shares(miss=split.miss, partial_first=split.partial_first, gold_first=split.gold_first)


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value
