"""The runner: brings the stages of a build up to date, one after the other."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import nclue_build
from nclue_build.core.errors import NclueError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.records.receipt import Receipt
from nclue_build.store.config_file import load_config
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.lock import build_lock
from nclue_build.workflow.plan import StagePlan, check_repaired, make_plan, stale_reasons
from nclue_build.workflow.receipts import (
    Digests,
    digest_inputs,
    files_below,
    load_receipt,
    plain_settings,
    save_receipt,
    signature,
)
from nclue_build.workflow.registry import STAGE_NAMES, load_stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import Declaration, Mapper, Stage
    from nclue_build.workflow.receipts import Signature

VERDICT_STAGE = "gate"
"""The stage that judges: its findings decide whether a build is sound; those of others are warnings."""


@dataclass(frozen=True, slots=True)
class StageReport:
    """What became of one stage in a run.

    Args:
        stage: Its name.
        ran: False when it was up to date and skipped; the rest is then from its receipt.
        reasons: Why it ran.
        counts: Named figures.
        findings: Problems that did not stop it.
        shortfalls: Named shortfalls.
        elapsed_s: Wall time.
    """

    stage: str
    ran: bool
    reasons: tuple[str, ...]
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    shortfalls: tuple[str, ...]
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did: one report per stage it was asked for, in order."""

    build: Build
    stages: tuple[StageReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all stages."""
        return tuple(finding for stage in self.stages for finding in stage.findings)

    @property
    def ok(self) -> bool:
        """Whether the gate found nothing, as far as it was asked for."""
        return not any(stage.findings for stage in self.stages if stage.stage == VERDICT_STAGE)


def find_build(workspace: Workspace | Path | None = None, build: str | None = None) -> Build:
    """The build that a workspace and a build name (either may be left out) mean.

    Raises:
        UsageError: there is no such workspace or build, or no way to choose.
    """
    found = workspace if isinstance(workspace, Workspace) else Workspace.find(workspace)
    return found.choose_build(build)


def run_build(  # noqa: PLR0913 - the options of `nclue-build run`
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
    stages: Sequence[Stage] | None = None,
) -> RunReport:
    """Bring a build up to date: run its stale stages, skip the others.

    A run that was interrupted goes on where it stopped. The same inputs and settings
    give the same bytes, whatever the number of workers.

    Args:
        workspace: A workspace, its folder, or None for the nearest one above the current folder.
        build: Name of the build, or None for the only or the default one.
        first: First stage to run; the ones before it must be up to date, except for ``gate``, which judges a build
            as it lies there.
        last: Last stage to run.
        fresh: Recompute every stage asked for, up to date or not.
        progress: Listener for progress.
        stages: The stages of the build, for tests; the real ones by default.

    Returns:
        What each stage did, with its counts, findings and shortfalls.

    Raises:
        UsageError: bad workspace, configuration or stage name, another run going on, an earlier stage stale, or P0
            stale after a repair.
        DataError: a listed file is missing or not what it should be.
        OutcomeError: nothing to deliver: no document readable, or no query possible.
    """
    chosen = find_build(workspace, build)
    before, asked = _cut(stages, first, last)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        with build_lock(chosen), LocalMapper(config.run.workers) as mapper:
            run = _Run(chosen, config, mapper, progress or NullProgress(), Digests())
            return run.execute(before, asked, fresh=fresh)


def plan_build(
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    fresh: bool = False,
    stages: Sequence[Stage] | None = None,
) -> tuple[StagePlan, ...]:
    """Say what :func:`run_build` would do, and why, without doing it.

    Args:
        workspace: As for :func:`run_build`.
        build: As for :func:`run_build`.
        first: First stage asked for.
        last: Last stage asked for.
        fresh: Recompute every stage asked for.
        stages: The stages of the build, for tests.

    Returns:
        One plan per stage asked for, in order.

    Raises:
        UsageError: as :func:`run_build`.
    """
    chosen = find_build(workspace, build)
    before, asked = _cut(stages, first, last)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        digests = Digests()
        if asked[0].name != VERDICT_STAGE:
            _check_earlier(make_plan(chosen, config, before, digests), asked[0])
        plans = make_plan(chosen, config, asked, digests, fresh=fresh)
        check_repaired(chosen, plans)
    return plans


@dataclass(frozen=True, slots=True)
class _Run:
    build: Build
    config: BuildConfig
    mapper: Mapper
    progress: Progress
    digests: Digests

    def execute(self, before: Sequence[Stage], asked: Sequence[Stage], *, fresh: bool) -> RunReport:
        if asked[0].name == VERDICT_STAGE:
            self._note_earlier(before)
        else:
            _check_earlier(make_plan(self.build, self.config, before, self.digests), asked[0])
        check_repaired(self.build, make_plan(self.build, self.config, asked, self.digests, fresh=fresh))
        return RunReport(self.build, tuple(self._bring_up_to_date(stage, fresh=fresh) for stage in asked))

    def _note_earlier(self, stages: Sequence[Stage]) -> None:
        """Say what is stale: the gate judges the build as it lies there, above all when somebody edited it."""
        try:
            plans = make_plan(self.build, self.config, stages, self.digests)
        except NclueError as error:
            self.progress.note(f"the earlier stages cannot be compared: {error.message}")
            return
        for plan in plans:
            if plan.state == "stale":
                self.progress.note(f"{plan.stage} is stale ({'; '.join(plan.reasons)}): judging what is there")

    def _bring_up_to_date(self, stage: Stage, *, fresh: bool) -> StageReport:
        began = time.monotonic()
        declared = stage.declare(self.build, self.config)
        if fresh:
            reasons: tuple[str, ...] = ("recomputed on request",)
        else:
            reasons = stale_reasons(self.build, stage, declared, self.digests)
        if reasons:
            self.progress.note(f"{stage.name}: {'; '.join(reasons)}")
            receipt = self._run(stage, declared)
        else:
            known = load_receipt(self.build, stage.name)
            if known is None:  # removed since it was compared, a moment ago
                return self._bring_up_to_date(stage, fresh=True)
            receipt = known
        elapsed_s = time.monotonic() - began
        self.progress.note(f"{stage.name}: done in {elapsed_s:.1f} s" if reasons else f"{stage.name}: up to date")
        return StageReport(
            stage.name, bool(reasons), reasons, receipt.counts, receipt.findings, receipt.shortfalls, elapsed_s
        )

    def _run(self, stage: Stage, declared: Declaration) -> Receipt:
        build = self.build
        inputs = digest_inputs(build, declared.inputs, self.digests)
        settings, settings_sha256 = plain_settings(declared.settings)
        previous = load_receipt(build, stage.name)
        ours = frozenset(previous.outputs) if previous else frozenset[str]()
        before = _signatures(declared)
        result = stage.run(StageContext(build, self.config, self.mapper, self.progress))
        for shortfall in result.shortfalls:
            self.progress.warn(f"{stage.name}: {shortfall}")
        outputs: dict[str, str] = {}
        for path in files_below(declared.outputs):
            name = build.relative(path)
            # A file in an output folder that neither this run nor the last one wrote is somebody else's.
            written = path in declared.outputs or name in ours or before.get(path) != signature(path)
            if written and (digest := self.digests.of(path)) is not None:
                outputs[name] = digest
        receipt = Receipt(
            stage=stage.name,
            stage_version=stage.version,
            package_version=nclue_build.__version__,
            inputs=inputs,
            settings=settings,
            settings_sha256=settings_sha256,
            outputs=outputs,
            counts=dict(result.counts),
            findings=result.findings,
            shortfalls=result.shortfalls,
        )
        save_receipt(build, receipt)
        return receipt


def _signatures(declared: Declaration) -> dict[Path, Signature]:
    return {path: signature(path) for path in files_below(declared.outputs) if path.exists()}


def _cut(
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
