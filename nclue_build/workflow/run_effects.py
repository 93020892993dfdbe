"""What new judgments do to runs: scores before and after, and whether the order of the runs stays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.records.repair import RankAgreement, RunEffect
from nclue_build.score.benchmark import load_benchmark
from nclue_build.score.scorer import MEASURES, ScoreOptions, Scorer
from nclue_build.stats.contrasts import rank_agreement
from nclue_build.workflow.scoring import RunSource, list_runs, measure_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.store.workspace import Build


class ScoredTwice(NamedTuple):
    """Runs on two benchmarks."""

    runs: tuple[RunEffect, ...] = ()
    agreement: tuple[RankAgreement, ...] = ()


def effect_on_runs(build: Build, runs: Sequence[Path], after: Path, progress: Progress) -> ScoredTwice:
    """Score runs on the benchmark of a build and on another copy of it.

    Rows of queries that only one of the two has are dropped there: each mean is over its own queries.

    Args:
        build: The build.
        runs: As for ``score``.
        after: Folder of the other copy.
        progress: Listener.

    Raises:
        UsageError: two runs of one name.
        DataError: a bad row of a run.
    """
    if not runs:
        return ScoredTwice()
    sources = [RunSource(one.name, one.path) for one in list_runs(runs).sources]  # a manifest's digest is of one copy
    before, then = (_scores(build, sources, folder, progress) for folder in (None, after))
    agreement = []
    for measure in MEASURES:
        found = rank_agreement(*([scores[one.name][measure] for one in sources] for scores in (before, then)))
        agreement.append(
            RankAgreement(
                measure=measure,
                spearman=_defined(found.spearman),
                kendall_tau_b=_defined(found.kendall_tau_b),
                runs=found.n_systems,
            )
        )
    effects = tuple(RunEffect(run_id=one.name, before=before[one.name], after=then[one.name]) for one in sources)
    return ScoredTwice(effects, tuple(agreement))


def _scores(
    build: Build, sources: Sequence[RunSource], folder: Path | None, progress: Progress
) -> dict[str, dict[str, float]]:
    scorer = Scorer(load_benchmark(build, folder), ScoreOptions(intervals=False))
    return {
        one.run.name: dict(zip(MEASURES, one.values.mean(axis=0).tolist(), strict=True))
        for one in measure_runs(scorer, sources, allow_unknown=True, progress=progress)
    }


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
