"""What a run would do: the stages it is asked for, whether those before them allow it, and what comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import UsageError
from nclue_build.core.phrases import counted
from nclue_build.core.progress import NullProgress
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.fetching import missing_documents
from nclue_build.workflow.making import missing_outputs
from nclue_build.workflow.plan import StagePlan, check_repaired, make_plan
from nclue_build.workflow.receipts import Digests
from nclue_build.workflow.registry import STAGE_NAMES, load_stage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import Stage
    from nclue_build.store.workspace import Build, Workspace

VERDICT_STAGE: Final = "gate"
"""The stage that judges: its findings decide whether a build is sound; those of others are warnings."""


def plan_build(
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    fresh: bool = False,
    stages: Sequence[Stage] | None = None,
) -> tuple[StagePlan, ...]:
    """Say what :func:`~nclue_build.workflow.runner.run_build` would do, and why, without doing it.

    Args:
        workspace: As for running.
        build: As for running.
        first: First stage asked for.
        last: Last stage asked for.
        fresh: Recompute every stage asked for.
        stages: The stages of the build, for tests.

    Returns:
        One plan per stage asked for, in order; before them one of ``fetch``, when documents are missing, or of
        ``mineru``, when it is to read some first.

    Raises:
        UsageError: as for running.
    """
    chosen = find_build(workspace, build)
    before, asked = cut_stages(stages, first, last)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        reads_corpus = asked[0].name == STAGE_NAMES[0]
        if reads_corpus and (missing := missing_documents(chosen, config.corpus, config.fetch.folder)):
            # What the stages will read is not known before it is there.
            plan = StagePlan("fetch", "stale", (f"{counted(len(missing), 'document')} not there yet",))
            return (plan, *(StagePlan(stage.name, "waiting", ("comes after fetch",)) for stage in asked))
        if reads_corpus and (missing := missing_outputs(chosen, config, NullProgress())):
            plan = StagePlan("mineru", "stale", (f"{counted(len(missing), 'document')} not read by MinerU yet",))
            return (plan, *(StagePlan(stage.name, "waiting", ("comes after mineru",)) for stage in asked))
        return plan_stages(chosen, config, (before, asked), Digests(), fresh=fresh)


def plan_stages(
    build: Build,
    config: BuildConfig,
    parts: tuple[Sequence[Stage], Sequence[Stage]],
    digests: Digests,
    *,
    fresh: bool,
) -> tuple[StagePlan, ...]:
    """Plan the stages asked for, and check that those before them allow it."""
    before, asked = parts
    if asked[0].name == VERDICT_STAGE:
        _check_something_to_judge(build, config, before)
    else:
        _check_earlier(make_plan(build, config, before, digests), asked[0])
    plans = make_plan(build, config, asked, digests, fresh=fresh)
    check_repaired(build, plans)
    return plans


def _check_something_to_judge(build: Build, config: BuildConfig, before: Sequence[Stage]) -> None:
    """The gate judges what lies there, whatever the receipts say, but something has to.

    Raises:
        UsageError: the stage before the gate never wrote anything.
    """
    for stage in before[-1:]:
        if not any(path.exists() for path in stage.declare(build, config).outputs):
            raise UsageError(f"there is nothing to judge: {stage.name} has not run yet. Run 'nclue-build run' first")


def cut_stages(
    stages: Sequence[Stage] | None, first: str | None, last: str | None
) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """The stages before ``first`` and those from ``first`` to ``last``; later ones are not even imported."""
    given = {stage.name: stage for stage in stages or ()}
    names = list(given or STAGE_NAMES)
    for name in (first, last):
        if name is not None and name not in names:
            raise UsageError(f"no stage {name!r}: there are {', '.join(names)}")
    start = names.index(first) if first else 0
    end = names.index(last) + 1 if last else len(names)
    if start >= end:
        raise UsageError(f"stage {first!r} comes after {last!r}: the order is {', '.join(names)}")
    loaded = [given[name] if given else load_stage(name) for name in names[:end]]
    return tuple(loaded[:start]), tuple(loaded[start:])


def _check_earlier(plans: Sequence[StagePlan], first: Stage) -> None:
    for plan in plans:
        if plan.state != "current":
            raise UsageError(
                f"{first.name} needs {plan.stage}, which is stale ({'; '.join(plan.reasons)}): "
                f"run 'nclue-build run --to {first.name}', or 'nclue-build {plan.stage}' first"
            )
