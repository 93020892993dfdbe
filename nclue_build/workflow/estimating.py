"""What the missing calls of a build come to, as far as that can be known before they are answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from nclue_build.calls.misses import following
from nclue_build.calls.pending import still_missing
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.sizes import input_tokens, most, price_of
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import UsageError
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.asked import changed_since_asked
from nclue_build.workflow.call_mode import asks_a_model
from nclue_build.workflow.planning import plan_build
from nclue_build.workflow.receipts import Digests
from nclue_build.workflow.registry import load_stage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.config import BuildConfig
    from nclue_build.store.workspace import Build, Workspace
    from nclue_build.workflow.plan import StagePlan

Known = Literal["all", "round", "outdated", "nothing"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the missing calls of the next round come to.

    Args:
        known: What the figures cover. ``all``: the stages that ask are up to date, and nothing is missing;
            ``round``: the round that waits, as the last run or export listed it; ``outdated``: one that was listed
            before something changed; ``nothing``: a stage that asks has still to find out what.
        stage: The stage that has to run before more is known; None where all is, or where nothing can run.
        calls: By prompt.
        input_tokens: About so many.
        max_output_tokens: At most so many.
        follows: What the round leads to, whose calls are not counted.
        max_cost: At most about so much, as text; None where there is no price.
        currency: Of the cost.
        price_since: Day the price has been in force from.
        changed: What has changed since ``outdated`` calls were listed, in words.
        refused: Why the build cannot run as it is; None where it can.
    """

    known: Known
    stage: str | None
    calls: Mapping[str, int]
    input_tokens: int
    max_output_tokens: int
    follows: str
    max_cost: str | None = None
    currency: str | None = None
    price_since: str | None = None
    changed: tuple[str, ...] = ()
    refused: str | None = None


def estimate_calls(workspace: Workspace | Path | None = None, build: str | None = None) -> Estimate:
    """What the calls that are known to be missing come to, at the price of today."""
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        recorded = verify_calls(CallPlaces(chosen, config.calls.generation)).recs
        pending = still_missing(chosen, recorded)
    plans: Sequence[StagePlan] = ()
    refused = None
    try:
        plans = plan_build(chosen.workspace, chosen.name, last="compose")
    except UsageError as error:
        refused = error.message
    stage = next((plan.stage for plan in plans if plan.state != "current"), None)
    changed: tuple[str, ...] = ()
    if pending and refused is None:
        with chosen.workspace.relative_paths():
            changed = _changed(chosen, config, {call.stage for call in pending}, stage)
    known: Known = "outdated" if changed or refused else "round"
    if not pending:
        known = "all" if stage is None and refused is None else "nothing"
    requests = [call.request for call in pending]
    price = price_of(config.calls, datetime.now(UTC).strftime("%Y-%m-%d"))
    cost = most(requests, price).cost
    prompts = Counter(request.prompt_id for request in requests)
    return Estimate(
        known=known,
        stage=stage,
        calls=dict(sorted(prompts.items())),
        input_tokens=sum(map(input_tokens, requests)),
        max_output_tokens=sum(request.max_tokens for request in requests),
        follows=following(prompts),
        max_cost=None if cost is None else f"{cost:.2f}",
        currency=None if price is None else price.currency,
        price_since=None if price is None else price.since,
        changed=changed,
        refused=refused,
    )


def missing_calls(workspace: Workspace | Path | None = None, build: str | None = None) -> Estimate | None:
    """As :func:`estimate_calls`; None for a build that asks no model."""
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
    return estimate_calls(chosen.workspace, chosen.name) if asks_a_model(config) else None


def _changed(build: Build, config: BuildConfig, asking: Collection[str], first: str | None) -> tuple[str, ...]:
    """Why the calls that were listed are not what would be asked now, in words; empty where they are.

    Args:
        build: The build.
        config: Its configuration.
        asking: The stages that listed calls.
        first: The first stage that is not up to date.
    """
    if first is None:
        return ("every stage is up to date",)
    if first not in asking:
        return (f"{first} has to run first",)
    stage = load_stage(first)
    return changed_since_asked(build, stage, stage.declare(build, config), Digests())
