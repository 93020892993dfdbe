"""What the missing calls of a build come to, as far as that can be known before they are answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from nclue_build.calls.misses import following
from nclue_build.calls.pending import read_pending
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.sizes import input_tokens, most, price_of
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import UsageError
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.call_mode import asks_a_model
from nclue_build.workflow.planning import plan_build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.calls import PendingCall
    from nclue_build.records.config import CallsSection
    from nclue_build.store.workspace import Workspace
    from nclue_build.workflow.plan import StagePlan

Known = Literal["all", "round", "outdated", "nothing"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the missing calls of the next round come to.

    Args:
        known: What the figures cover. ``all``: the stages that ask are up to date, and nothing is missing;
            ``round``: the round that waits, as the last run or export listed it; ``outdated``: one that was listed
            before something changed; ``nothing``: a stage that asks has still to find out what.
        stage: The stage that has to run before more is known; None where all is.
        calls: By prompt.
        input_tokens: About so many.
        max_output_tokens: At most so many.
        follows: What the round leads to, whose calls are not counted.
        max_cost: At most about so much, as text; None where there is no price.
        currency: Of the cost.
        price_since: Day the price has been in force from.
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


def estimate_calls(workspace: Workspace | Path | None = None, build: str | None = None) -> Estimate:
    """What the calls that are known to be missing come to, at the price of today."""
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path).calls
        recorded = verify_calls(CallPlaces(chosen, config.generation)).recs
        pending = [call for call in read_pending(chosen, required=True) if call.key not in recorded]
    try:
        plans = plan_build(chosen.workspace, chosen.name, last="compose")
    except UsageError:  # nothing can run as things are: said where it is tried
        plans = ()
    known, stage = _known(pending, plans, config)
    requests = [call.request for call in pending]
    price = price_of(config, datetime.now(UTC).strftime("%Y-%m-%d"))
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
    )


def missing_calls(workspace: Workspace | Path | None = None, build: str | None = None) -> Estimate | None:
    """As :func:`estimate_calls`; None for a build that asks no model."""
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
    return estimate_calls(chosen.workspace, chosen.name) if asks_a_model(config) else None


def _known(
    pending: Sequence[PendingCall], plans: Sequence[StagePlan], config: CallsSection
) -> tuple[Known, str | None]:
    first = next((plan.stage for plan in plans if plan.state != "current"), None)
    if not pending:
        return ("all", None) if plans and first is None else ("nothing", first)
    asking = {call.stage for call in pending}
    meant = all(
        (call.request.profile, call.request.model, call.request.thinking, call.request.sampling)
        == (config.profile, config.model, config.thinking, config.sampling)
        for call in pending
    )
    return ("round", first) if first in asking and meant else ("outdated", first)
