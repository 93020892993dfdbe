"""Comparing runs of a build by the contrasts that are declared, or by pairs of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.records.comparison import Contrast
from nclue_build.score.benchmark import load_benchmark
from nclue_build.score.comparison import CompareOptions, Comparer
from nclue_build.score.scorer import ScoreOptions, Scorer
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.scoring import list_runs, measure_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.records.comparison import ComparisonReport
    from nclue_build.store.workspace import Workspace


def compare_runs(  # noqa: PLR0913 - the options of `compare`
    runs: Sequence[Path],
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    pairs: Sequence[str] = (),
    options: ScoreOptions | None = None,
    compare: CompareOptions | None = None,
    benchmark: Path | None = None,
    allow_unknown: bool = False,
    progress: Progress | None = None,
) -> ComparisonReport:
    """Compare runs: variant minus base, for every contrast.

    Args:
        runs: Run files, folders of them, or manifests.
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        pairs: ``BASE:VARIANT``, by the names of runs; without any, the contrasts of the configuration, and without
            those the first run against each other one.
        options: How to score.
        compare: How to compare.
        benchmark: Another copy of the build's benchmark.
        allow_unknown: Drop and count rows of queries and documents that the benchmark does not have.
        progress: Listener for progress.

    Raises:
        UsageError: no such workspace or build, fewer than two runs, a contrast of a run that was not given.
        DataError: a run or the benchmark does not hold what its format promises.
    """
    chosen, listener = find_build(workspace, build), progress or NullProgress()
    listed = list_runs(runs)
    with chosen.workspace.relative_paths():
        declared = load_config(chosen.config_path).score.contrasts
        contrasts = choose_contrasts([source.name for source in listed.sources], pairs, declared)
        needed = {name for one in contrasts for name in (one.base, one.variant)}
        sources = [source for source in listed.sources if source.name in needed]
        scorer = Scorer(load_benchmark(chosen, benchmark), options or ScoreOptions())
        measured = measure_runs(scorer, sources, allow_unknown=allow_unknown, progress=listener)
        listener.start("comparing", len(contrasts), "contrasts")
        return Comparer(scorer, measured, compare or CompareOptions()).report(contrasts)


def choose_contrasts(names: Sequence[str], pairs: Sequence[str], declared: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts to look at: pairs that were named, else declared ones, else the first run against the others.

    Raises:
        UsageError: there are none, or one names a run that is not there.
    """
    if pairs:
        contrasts = [_pair(text, names) for text in pairs]
    elif declared:
        contrasts = list(declared)
    else:
        contrasts = [Contrast(name=f"{names[0]} -> {name}", base=names[0], variant=name) for name in names[1:]]
    if not contrasts:
        raise UsageError("comparing takes two runs: name a base and a variant")
    for one in contrasts:
        for name in (one.base, one.variant):
            if name not in names:
                advice = "add it, or name pairs of those that are there (--contrast BASE:VARIANT)"
                raise UsageError(f"contrast {one.name!r}: there is no run {name!r} among {', '.join(names)}: {advice}")
    return contrasts


def _pair(text: str, names: Sequence[str]) -> Contrast:
    base, colon, variant = text.partition(":")
    if not (colon and base and variant) or base == variant:
        raise UsageError(f"--contrast {text}: must be BASE:VARIANT, two of {', '.join(names)}")
    return Contrast(name=f"{base} -> {variant}", base=base, variant=variant)
