"""The evidence-asymmetric policy: what is accepted, and what people look at again.

Fixed before the second round (n-Clue supplement, section 4): consensus increases with quotes and a distinct-page
assignment are accepted; every split and every consensus decrease goes to adjudication, because three pages without
evidence prove nothing about a document. Equal grades on different conditions go there as well, counted apart [R].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.gate.explain import judge_pages
from nclue_build.records.audit import Queue, QueueItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.records.audit import Answer, Key, Packet, Reason, Response

Place = tuple[str, str]
"""Item id, condition id."""


class Round(NamedTuple):
    """The first round: who answered, and what."""

    packet: Packet
    key: Key
    first: Mapping[Place, Answer]
    second: Mapping[Place, Answer]
    evaluators: tuple[str, str]


def by_place(response: Response) -> dict[Place, Answer]:
    """The answers of an evaluator."""
    return {(answer.item_id, answer.condition_id): answer for answer in response.answers}


def make_queue(audit: Round) -> Queue:
    """Sort every item: accepted, kept or queued."""
    accepted: list[str] = []
    kept: list[str] = []
    queued: list[QueueItem] = []
    keys = {item.item_id: item for item in audit.key.items}
    for item in audit.packet.items:
        both = [
            (audit.first[item.item_id, one.condition_id], audit.second[item.item_id, one.condition_id])
            for one in item.conditions
        ]
        grade, other = (sum(pair[side].present for pair in both) for side in (0, 1))
        reason: Reason | None = None
        if grade != other:
            reason = "split"
        elif grade < keys[item.item_id].grade:
            reason = "decrease"
        elif any(one.present != two.present for one, two in both):
            reason = "other_conditions"
        if reason is not None:
            locked = tuple(one.condition_id for one, two in both if one.present and two.present)
            still_open = tuple(one.condition_id for one, two in both if not (one.present and two.present))
            queued.append(QueueItem(item_id=item.item_id, reason=reason, open=still_open, locked=locked))
        elif grade > keys[item.item_id].grade and _passes(both):
            accepted.append(item.item_id)
        else:
            kept.append(item.item_id)
    return Queue(evaluators=audit.evaluators, accepted=tuple(accepted), kept=tuple(kept), queued=tuple(queued))


def _passes(both: Sequence[tuple[Answer, Answer]]) -> bool:
    """Both page checks on the union of selected pages, where every condition is reached."""
    if not all(one.present and two.present for one, two in both):
        return True
    return judge_pages([sorted({*one.pages, *two.pages}) for one, two in both]).gold
