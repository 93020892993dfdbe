"""The plan: which stages are stale, and why, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from nclue_build.core.errors import UsageError
from nclue_build.workflow.receipts import (
    Digests,
    digest_inputs,
    load_receipt,
    plain_settings,
    receipt_path,
    written_files,
)
from nclue_build.workflow.registry import P0_STAGES, REPAIRED_STAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from nclue_build.records.config import BuildConfig
    from nclue_build.records.receipt import Receipt
    from nclue_build.store.stage import Declaration, Stage
    from nclue_build.store.workspace import Build

NOT_RUN: Final = "not run yet"
OUTPUTS_ALTERED: Final = "outputs altered: "
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a run would do with one stage.

    Args:
        stage: Its name.
        state: ``current`` (skipped), ``stale`` (runs) or ``waiting`` (an earlier stage runs first; whether this
            one follows depends on what comes out).
        reasons: Why, in words; empty when current.
    """

    stage: str
    state: Literal["current", "stale", "waiting"]
    reasons: tuple[str, ...] = ()


def make_plan(
    build: Build, config: BuildConfig, stages: Sequence[Stage], digests: Digests, *, fresh: bool = False
) -> tuple[StagePlan, ...]:
    """Compare every stage with its receipt, up to the first stale one.

    Args:
        build: The build.
        config: Its configuration as written.
        stages: In the order they run.
        digests: Digests known so far.
        fresh: Take every stage as stale.

    Returns:
        One plan per stage, in order.
    """
    plans: list[StagePlan] = []
    first_stale: str | None = None
    for stage in stages:
        if fresh:
            plans.append(StagePlan(stage.name, "stale", ("recomputed on request",)))
        elif first_stale is not None:
            plans.append(StagePlan(stage.name, "waiting", (f"comes after {first_stale}",)))
        else:
            reasons = stale_reasons(build, stage, stage.declare(build, config), digests)
            plans.append(StagePlan(stage.name, "stale" if reasons else "current", reasons))
            first_stale = stage.name if reasons else None
    return tuple(plans)


def check_repaired(build: Build, plans: Sequence[StagePlan]) -> None:
    """Refuse to replace P0, or the queries composed from it, once a repair has made a version from them.

    Writing lost files of the composed benchmark again is fine: they come out as they were.

    Raises:
        UsageError: P1 exists and a stage that it rests on would run.
    """
    if 1 not in build.versions():
        return
    for plan in plans:
        if plan.stage not in REPAIRED_STAGES or plan.state != "stale":
            continue
        if plan.stage not in P0_STAGES and all(reason.startswith(OUTPUTS_ALTERED) for reason in plan.reasons):
            continue
        what = "P0" if plan.stage in P0_STAGES else "The composed benchmark"
        raise UsageError(
            f"{what} of build {build.name!r} is stale ({plan.stage}: {'; '.join(plan.reasons)}), but "
            f"{build.relative(build.version(1))} was made from it. Undo the change, or copy "
            f"{build.relative(build.config_path)} to a new name for a new build, or remove the versions from P1 on and "
            f"{build.relative(build.benchmark)} to give the repairs up ('nclue-build gate' judges the build as it is)"
        )


def stale_reasons(build: Build, stage: Stage, declared: Declaration, digests: Digests) -> tuple[str, ...]:
    """Why a stage has to run again; empty when its receipt still matches."""
    receipt = load_receipt(build, stage.name)
    if receipt is None:
        if receipt_path(build, stage.name).exists():
            return ("its receipt cannot be read",)
        lost = any(path.exists() for path in declared.outputs)
        return ("its last run did not end, or .nclue was removed" if lost else NOT_RUN,)
    reasons = changed_since(build, stage, declared, receipt, digests)
    if altered := altered_outputs(build, receipt, digests):
        reasons += (OUTPUTS_ALTERED + _few([f"{path} {what}" for path, what in altered]),)
    return reasons


def changed_since(
    build: Build, stage: Stage, declared: Declaration, receipt: Receipt, digests: Digests
) -> tuple[str, ...]:
    """What a stage depends on and is no longer as its receipt says."""
    reasons: list[str] = []
    if receipt.stage_version != stage.version:
        reasons.append(f"its rules changed (version {receipt.stage_version}, now {stage.version})")
    settings, settings_sha256 = plain_settings(declared.settings)
    if receipt.settings_sha256 != settings_sha256:
        reasons.append("settings changed: " + _few(changed_settings(receipt.settings, settings)))
    inputs = digest_inputs(build, declared.inputs, digests)
    if changed := _changed_files(receipt.inputs, inputs, written_files(build)):
        reasons.append("inputs changed: " + _few(changed))
    return tuple(reasons)


def altered_outputs(build: Build, receipt: Receipt, digests: Digests) -> list[tuple[str, str]]:
    """Outputs that no longer are what the stage wrote: (workspace path, ``is missing`` or ``was edited``)."""
    found: list[tuple[str, str]] = []
    for path, digest in sorted(receipt.outputs.items()):
        now = digests.of(build.workspace.root / path)
        if now != digest:
            found.append((path, "is missing" if now is None else "was edited"))
    return found


def changed_settings(before: Mapping[str, JsonValue], now: Mapping[str, JsonValue], prefix: str = "") -> list[str]:
    """Settings that differ, as ``name: before -> now``."""
    found: list[str] = []
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            found.extend(changed_settings(old, new, f"{prefix}{key}."))
        elif old != new:
            found.append(f"{prefix}{key}: {_short(old)} -> {_short(new)}")
    return found


def _changed_files(
    before: Mapping[str, str | None], now: Mapping[str, str | None], written: Mapping[str, tuple[str, str]]
) -> list[str]:
    found: list[str] = []
    for path in sorted(before.keys() | now.keys()):
        old, new = before.get(path), now.get(path)
        if old == new:
            continue
        stage, digest = written.get(path, ("", None))
        if new is None:
            what = "is no longer an input"
        elif old is None:
            what = "is new"
        else:
            what = f"was recomputed by {stage}" if new == digest else "was edited"
        found.append(f"{path} {what}")
    return found


def _short(value: JsonValue) -> str:
    text = "(none)" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004 - a line's worth


def _few(items: Sequence[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more
