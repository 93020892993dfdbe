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
from nclue_build.stats.bootstrap import FamilyDraws, crossed_interval, crossed_weights
from nclue_build.stats.bounds import fewest_promotions, gold_ndcg_bounds, n_clue_bounds
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
from nclue_build.stats.randomization import flip_p_values, holm, max_t_p_values
from nclue_build.stats.resampling import N_BOOTSTRAP, N_FLIPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.scores import Measure
    from nclue_build.score.scorer import MeasuredRun, Scorer
    from nclue_build.stats.bootstrap import CrossedWeights
    from nclue_build.stats.bounds import PromotionBounds
    from nclue_build.stats.contrasts import Split
    from nclue_build.stats.rankings import Ranking
    from nclue_build.stats.resampling import Interval

_PROMOTIONS: Final = (1, 2, 3)
_N_BUSIEST: Final = 20


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
    """Documents that queries hang on, and draws of them: the same for every contrast."""

    incidence: Incidence
    components: tuple[int, ...]
    busiest: Busiest
    crossed: CrossedWeights


class Comparer:
    """Compares runs that a scorer has ranked; every run is measured once, everything is drawn once."""

    def __init__(self, scorer: Scorer, runs: Sequence[MeasuredRun], options: CompareOptions) -> None:
        """Draw."""
        self._scorer, self._options, self._seed = scorer, options, scorer.options.seed
        self._judgments = scorer.benchmark.judgments
        self._runs = {one.run.name: one for one in runs}
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
            contrasts=tuple(self._result(one, found) for one, found in zip(contrasts, tests, strict=True)),
        )

    def _hold(self, *, gold_only: bool) -> _Hold:
        incidence = Incidence.of(self._judgments, gold_only=gold_only)
        crossed = crossed_weights(
            self._judgments, gold_only=gold_only, seed=self._seed, n_draws=self._options.n_bootstrap
        )
        busiest = Busiest.of(incidence, self._judgments.doc_ids, _N_BUSIEST)
        return _Hold(incidence, tuple(component_sizes(incidence)), busiest, crossed)

    def _delta(self, contrast: Contrast) -> NDArray[np.float64]:
        return self._differences(contrast)[:, MEASURES.index(self._options.measure)]

    def _differences(self, contrast: Contrast) -> NDArray[np.float64]:
        return np.asarray(self._runs[contrast.variant].values - self._runs[contrast.base].values)

    def _test(self, contrasts: Sequence[Contrast]) -> list[_Tests]:
        options, families = self._options, self._scorer.families
        deltas = np.column_stack([self._delta(one) for one in contrasts])
        by_query = flip_p_values(deltas, seed=self._seed, n_flips=options.n_flips).tolist()
        by_family = flip_p_values(deltas, families, seed=self._seed, n_flips=options.n_flips).tolist()
        detectable = smallest_detectable(deltas, self._families).tolist()
        by_block = [0.0] * len(contrasts)
        for block in dict.fromkeys(one.block for one in contrasts):
            places = [place for place, one in enumerate(contrasts) if one.block == block]
            adjusted = max_t_p_values(deltas[:, places], families, seed=self._seed, n_flips=options.n_flips)
            for place, p_value in zip(places, adjusted.tolist(), strict=True):
                by_block[place] = p_value
        displayed = [place for place, one in enumerate(contrasts) if one.displayed]
        by_holm = dict(zip(displayed, holm([by_block[place] for place in displayed]), strict=True))
        return [
            _Tests(by_query[place], by_family[place], by_block[place], by_holm.get(place), detectable[place])
            for place in range(len(contrasts))
        ]

    def _result(self, contrast: Contrast, tests: _Tests) -> ContrastResult:
        delta = self._delta(contrast)
        base, variant = self._runs[contrast.base].ranking, self._runs[contrast.variant].ranking
        intervals = self._families.intervals(self._differences(contrast))
        by_name = dict(zip(MEASURES, map(_difference, intervals), strict=True))
        golds = self._golds.incidence
        promotions = n_clue_bounds(self._scorer.truth, base, variant)
        return ContrastResult(
            contrast=contrast,
            differences=by_name,
            p_query=tests.p_query,
            p_family=tests.p_family,
            p_block=tests.p_block,
            p_holm=tests.p_holm,
            smallest_detectable=tests.smallest_detectable,
            ordering=self._ordering(contrast),
            document_macro=document_macro(delta, golds),
            one_query_per_document=_difference(one_query_per_document(delta, golds, self._thinned)),
            golds=self._influence(delta, self._golds),
            judged=self._influence(delta, self._judged),
            bounds=tuple(self._bounds(base, variant, promotions)),
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

    def _influence(self, delta: NDArray[np.float64], hold: _Hold) -> Influence:
        without_one = leave_one_out(delta, hold.incidence)
        return Influence(
            components=len(hold.components),
            largest_component=max(hold.components, default=0),
            crossed=_difference(crossed_interval(delta, hold.crossed)),
            n_redrawn=hold.crossed.n_redrawn,
            leave_one_low=_or_none(without_one.low),
            leave_one_high=_or_none(without_one.high),
            leave_one_skipped=without_one.n_empty,
            remove_busiest=_or_none(remove_busiest(delta, hold.busiest)),
            n_removed=len(hold.busiest.docs),
            n_queries_left=int(hold.busiest.left.sum()),
        )

    def _bounds(self, base: Ranking, variant: Ranking, promotions: PromotionBounds) -> Iterator[PromotionBound]:
        """Bounds of the measure; only n-Clue Score and Gold-NDCG have them."""
        if self._options.measure == "gold_ndcg":
            for n_promotions in _PROMOTIONS:
                found = gold_ndcg_bounds(self._scorer.truth, base, variant, n_promotions)
                yield PromotionBound(
                    promotions=n_promotions, low=100 * float(found.low.mean()), high=100 * float(found.high.mean())
                )
        elif self._options.measure == "n_clue_score":
            low, high = 100 * float(promotions.low.mean()), 100 * float(promotions.high.mean())
            for n_promotions in _PROMOTIONS:
                yield PromotionBound(promotions=n_promotions, low=low, high=high)


def _difference(interval: Interval) -> Difference:
    return Difference(value=interval.value, low=interval.low, high=interval.high)


def _shares(split: Split) -> Shares:
    return Shares(miss=split.miss, partial_first=split.partial_first, gold_first=split.gold_first)


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value
