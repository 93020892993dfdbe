"""The runner: brings the stages of a build up to date, one after the other."""

from __future__ import annotations

import contextlib
import errno
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import nclue_build
from nclue_build.core.errors import FrozenMiss, NclueError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.core.spending import Spending
from nclue_build.records.receipt import Receipt
from nclue_build.store.config_file import load_config
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import find_build
from nclue_build.workflow.asked import save_asked
from nclue_build.workflow.call_mode import in_mode
from nclue_build.workflow.executors import open_mapper
from nclue_build.workflow.fetching import fetch_missing
from nclue_build.workflow.lock import build_lock
from nclue_build.workflow.making import make_missing_outputs, running_mineru
from nclue_build.workflow.outdated import outdated_benchmark
from nclue_build.workflow.plan import StagePlan, make_plan, stale_reasons
from nclue_build.workflow.planning import VERDICT_STAGE, cut_stages, plan_stages
from nclue_build.workflow.receipts import (
    Digests,
    digest_inputs,
    files_below,
    load_receipt,
    plain_settings,
    receipt_path,
    save_receipt,
    signature,
)
from nclue_build.workflow.registry import STAGE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import Declaration, Mapper, Stage
    from nclue_build.store.workspace import Build, Workspace
    from nclue_build.workflow.receipts import Signature

_READ_ONLY: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


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
    """What a run did: one report per stage it was asked for, in order.

    ``outdated`` is there when the gate judged a benchmark that was composed from another inventory: most of what it
    finds then follows from that.
    """

    build: Build
    stages: tuple[StageReport, ...]
    outdated: Finding | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all stages, what explains the others first."""
        first = () if self.outdated is None else (self.outdated,)
        return first + tuple(finding for stage in self.stages for finding in stage.findings)

    @property
    def ok(self) -> bool:
        """Whether the gate found nothing, as far as it was asked for."""
        return not any(stage.findings for stage in self.stages if stage.stage == VERDICT_STAGE)


def run_build(  # noqa: PLR0913 - the options of `nclue-build run`
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    first: str | None = None,
    last: str | None = None,
    fresh: bool = False,
    fetch: bool = True,
    run_mineru: bool = False,
    calls: str | None = None,
    spending: Spending | None = None,
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
        fetch: Whether documents whose file is missing are downloaded first, where the corpus file says from where.
        run_mineru: Have MinerU read the documents it has not read yet, even if the configuration does not say so.
        calls: Mode of model calls (``frozen``, ``record``, ``refresh``), instead of the configured one.
        spending: What live calls may take in this run; anything by default.
        progress: Listener for progress.
        stages: The stages of the build, for tests; the real ones by default.

    Returns:
        What each stage did, with its counts, findings and shortfalls.

    Raises:
        UsageError: bad workspace, configuration or stage name, another run going on, an earlier stage stale, or P0
            stale after a repair.
        DataError: a listed file is missing and cannot be fetched, or is not what it should be.
        CallError: calls have no recorded reply, or a live service did not answer them all.
        OutcomeError: nothing to deliver: no document readable, or no query possible.
    """
    chosen = find_build(workspace, build)
    before, asked = cut_stages(stages, first, last)
    with chosen.workspace.relative_paths():
        config = in_mode(load_config(chosen.config_path), calls)
        listener = progress or NullProgress()
        if fetch and asked[0].name == STAGE_NAMES[0]:
            fetch_missing(chosen, config, listener)
        if asked[0].name == STAGE_NAMES[0] and (run_mineru or config.mineru.run) and not stages:
            make_missing_outputs(chosen, running_mineru(config), listener)
        digests = Digests()
        plans = plan_stages(chosen, config, (before, asked), digests, fresh=fresh)
        if all(plan.state == "current" for plan in plans):
            # Nothing gets written, so nothing needs to be locked: this also works where nothing can be written.
            return RunReport(chosen, tuple(_kept(chosen, stage, listener) for stage in asked))
        with open_mapper(config.run) as mapper, contextlib.ExitStack() as held:
            writable = True
            try:
                held.enter_context(build_lock(chosen))
            except OSError as error:
                if error.errno not in _READ_ONLY:
                    raise
                if asked[0].name != VERDICT_STAGE:
                    raise _cannot_write(chosen, plans) from None
                writable = False
            run = _Run(chosen, config, mapper, listener, digests, writable, spending or Spending())
            return run.execute(before, asked, fresh=fresh)


def _kept(build: Build, stage: Stage, progress: Progress) -> StageReport:
    """The report of a stage that is up to date, from its receipt."""
    receipt = load_receipt(build, stage.name)
    if receipt is None:
        raise UsageError(f"the receipt of {stage.name} was removed a moment ago: run again")
    progress.note(f"{stage.name}: up to date")
    return StageReport(stage.name, False, (), receipt.counts, receipt.findings, receipt.shortfalls, 0.0)  # noqa: FBT003 - it did not run


def _cannot_write(build: Build, plans: Sequence[StagePlan]) -> UsageError:
    plan = next(plan for plan in plans if plan.state == "stale")
    return UsageError(
        f"{build.workspace.root} cannot be written, and {plan.stage} has to run ({'; '.join(plan.reasons)}): "
        "make it writable, or work in a copy"
    )


@dataclass(frozen=True, slots=True)
class _Run:
    build: Build
    config: BuildConfig
    mapper: Mapper
    progress: Progress
    digests: Digests
    writable: bool
    spending: Spending
    known: dict[str, Receipt] = field(default_factory=dict)
    """Receipts of the stages asked for, as they were before the run."""

    def execute(self, before: Sequence[Stage], asked: Sequence[Stage], *, fresh: bool) -> RunReport:
        plans = plan_stages(self.build, self.config, (before, asked), self.digests, fresh=fresh)
        outdated = None
        if asked[0].name == VERDICT_STAGE:
            self._warn_of_earlier(before)
            outdated = outdated_benchmark(self.build, self.digests)
        self.known.update({stage.name: known for stage in asked if (known := load_receipt(self.build, stage.name))})
        if fresh and self.writable:
            # Whatever is not recomputed by the end, because somebody interrupts, stays stale.
            for stage in asked:
                receipt_path(self.build, stage.name).unlink(missing_ok=True)
        reports: list[StageReport] = []
        for stage, plan in zip(asked, plans, strict=True):
            if plan.state == "current":
                reports.append(_kept(self.build, stage, self.progress))
            else:
                reports.append(self._bring_up_to_date(stage, plan))
        return RunReport(self.build, tuple(reports), outdated)

    def _warn_of_earlier(self, stages: Sequence[Stage]) -> None:
        """Say what is stale: the gate judges the build as it lies there, above all when somebody edited it."""
        try:
            plans = make_plan(self.build, self.config, stages, self.digests)
        except NclueError as error:
            self.progress.warn(f"the earlier stages cannot be compared: {error.message}")
            return
        for plan in plans:
            if plan.state == "stale":
                self.progress.warn(f"{plan.stage} is stale ({'; '.join(plan.reasons)}): judging what is there")

    def _bring_up_to_date(self, stage: Stage, plan: StagePlan) -> StageReport:
        began = time.monotonic()
        declared = stage.declare(self.build, self.config)
        reasons = plan.reasons
        if plan.state == "waiting":  # what came before has run by now, so it can be told
            reasons = stale_reasons(self.build, stage, declared, self.digests)
        if not reasons:
            return _kept(self.build, stage, self.progress)
        self.progress.note(f"{stage.name}: {'; '.join(reasons)}")
        previous = self.known.get(stage.name)
        if self.writable:
            # From its first write on the stage is not what its receipt says; it gets a new one at its end.
            receipt_path(self.build, stage.name).unlink(missing_ok=True)
        before = _signatures(declared)
        try:
            receipt = self._run(stage, declared, previous, before)
        except NclueError as error:
            if isinstance(error, FrozenMiss) and self.writable:
                save_asked(self.build, stage, declared, self.digests)
            if stage.name != VERDICT_STAGE:
                self._warn_of_leftovers(stage, previous, before)
            raise
        elapsed_s = time.monotonic() - began
        self.progress.note(f"{stage.name}: done in {elapsed_s:.1f} s")
        return StageReport(
            stage=stage.name,
            ran=True,
            reasons=reasons,
            counts=receipt.counts,
            findings=receipt.findings,
            shortfalls=receipt.shortfalls,
            elapsed_s=elapsed_s,
        )

    def _warn_of_leftovers(self, stage: Stage, previous: Receipt | None, before: Mapping[Path, Signature]) -> None:
        """Say which files of an earlier run a failed stage leaves beside newer inputs."""
        untouched = [path for path, then in sorted(before.items()) if path.exists() and signature(path) == then]
        left = [self.build.relative(path) for path in untouched]
        if previous is not None:
            left = [name for name in left if name in previous.outputs]
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            self.progress.warn(
                f"{stage.name} failed: what an earlier run made stays ({left[0]}{more}), and does not belong to what "
                "is there now"
            )

    def _run(
        self, stage: Stage, declared: Declaration, previous: Receipt | None, before: Mapping[Path, Signature]
    ) -> Receipt:
        build = self.build
        inputs = digest_inputs(build, declared.inputs, self.digests)
        settings, settings_sha256 = plain_settings(declared.settings)
        ours = frozenset(previous.outputs) if previous else frozenset[str]()
        result = stage.run(StageContext(build, self.config, self.mapper, self.progress, self.writable, self.spending))
        if self.config.calls.mode != "frozen":
            # What the stage recorded is what it read.
            own = build.relative(build.frozen_outputs) + "/"
            now = digest_inputs(build, declared.inputs, self.digests)
            inputs = {
                name: digest for name, digest in (inputs | now).items() if not name.startswith(own) or name in now
            }
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
        if self.writable:
            save_receipt(build, receipt)
        return receipt


def _signatures(declared: Declaration) -> dict[Path, Signature]:
    return {path: signature(path) for path in files_below(declared.outputs) if path.exists()}
