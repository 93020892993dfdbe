"""The evidence-asymmetric policy: what is accepted, what people look at again, and what is decided then.

Fixed before the second round (n-Clue supplement, section 4): consensus increases with quotes and a distinct-page
assignment are accepted; every split and every consensus decrease goes to adjudication, because three pages without
evidence prove nothing about a document. Equal grades on different conditions go there as well, counted apart [R].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.gate.explain import judge_pages
from nclue_build.records.audit import Queue, QueueItem
from nclue_build.records.repair import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.records.audit import Answer, Key, KeyItem, Override, Packet, PacketItem, Reason, Response
    from nclue_build.records.repair import Basis, DecisionQuote

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


class Adjudicated(NamedTuple):
    """The second round: its packet, its answers, and what an administrator decided against a majority."""

    packet: Packet
    answers: Sequence[Mapping[Place, Answer]]
    names: Sequence[str]
    overrides: Mapping[Place, Override]


def decide(audit: Round, queue: Queue, second: Adjudicated | None) -> list[Decision]:
    """Turn answers into decisions, wherever they say otherwise than the inventory does.

    A positive takes the pages with quotes from the winning side, and removes none; a negative names the pages that
    were shown. A tie of votes keeps what the inventory says.
    """
    decisions: list[Decision] = []
    found: Verdict | None
    keys = {item.item_id: item for item in audit.key.items}
    queued = {item.item_id: item for item in queue.queued}
    asked_again = second.packet.items if second is not None else ()
    pools = {(item.item_id, one.condition_id): one.pages for item in asked_again for one in item.conditions}
    for item in audit.packet.items:
        known = keys[item.item_id]
        if item.item_id not in queued and item.item_id not in queue.accepted:
            continue
        still_open = queued[item.item_id].open if item.item_id in queued else ()
        for index, asked in enumerate(item.conditions):
            place = (item.item_id, asked.condition_id)
            if asked.condition_id in still_open:
                if second is None:
                    continue
                found = _adjudicated(place, second)
                shown = tuple(sorted(pools.get(place, asked.pages)))
            else:
                votes = [audit.first[place], audit.second[place]]
                if not all(vote.present for vote in votes):
                    continue
                found = (True, _quotes(votes), "consensus", "both say so", audit.evaluators)
                shown = asked.pages
            if found is None or found[0] == bool(known.pages[index]):
                continue
            decisions.append(_decision(known, item, asked.condition_id, found, shown))
    return decisions


Verdict = tuple[bool, "tuple[DecisionQuote, ...]", "Basis", str, "Sequence[str]"]


def _adjudicated(place: Place, second: Adjudicated) -> Verdict | None:
    override = second.overrides.get(place)
    if override is not None:
        return override.present, override.quotes, "administrative", override.reason, second.names
    votes = [answers[place] for answers in second.answers]
    n_yes = sum(vote.present for vote in votes)
    if 2 * n_yes == len(votes):
        return None
    present = 2 * n_yes > len(votes)
    side = n_yes if present else len(votes) - n_yes
    return present, _quotes(votes) if present else (), "majority", f"{side} of {len(votes)} say so", second.names


def _quotes(votes: Iterable[Answer]) -> tuple[DecisionQuote, ...]:
    found = {(quote.page, quote.quote): quote for vote in votes if vote.present for quote in vote.quotes}
    return tuple(found[key] for key in sorted(found))


def _decision(known: KeyItem, item: PacketItem, condition_id: str, found: Verdict, shown: Sequence[int]) -> Decision:
    present, quotes, basis, reason, names = found
    return Decision(
        decision_id=f"{item.item_id}-{condition_id}",
        query_id=known.query_id,
        doc_id=known.doc_id,
        condition_id=condition_id,
        present=present,
        pages=tuple(sorted({quote.page for quote in quotes})),
        pages_shown=tuple(sorted(shown)),
        quotes=quotes,
        basis=basis,
        reason=reason,
        responses=tuple(names),
    )
