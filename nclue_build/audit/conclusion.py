"""What the answers come to: a verdict on every condition that was asked, overrides, and the decisions for a repair.

Two audited pairs may ask about one condition in one document, and P(d, c) is one fact: their verdicts have to agree.
Where they do not, and the inventory would change, people have to say which of them holds, by an override: that then
holds in every pair that asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.records.repair import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nclue_build.audit.policy import Place, Round
    from nclue_build.records.audit import Answer, Override, Packet, Queue
    from nclue_build.records.repair import Basis, DecisionQuote

Fact = tuple[str, str]
"""Condition id, document id."""


class Adjudicated(NamedTuple):
    """The second round: its packet, and what everybody answered; nobody where nothing was queued."""

    packet: Packet
    answers: Sequence[Mapping[Place, Answer]]
    names: tuple[str, ...]


class Verdict(NamedTuple):
    """What is held of one condition of an item.

    Args:
        place: Item and condition.
        present: Whether the document establishes it.
        quotes: Of a positive.
        basis: Whose verdict it is.
        reason: Why.
        names: Whose answers it rests on.
        shown: Pages that were looked at.
    """

    place: Place
    present: bool
    quotes: tuple[DecisionQuote, ...]
    basis: Basis
    reason: str
    names: tuple[str, ...]
    shown: tuple[int, ...]


class Conclusion(NamedTuple):
    """What an audit concludes.

    Args:
        decisions: By id.
        conflicts: Verdicts on one condition in one document that say the opposite, where the inventory would change.
        ties: Open conditions on which the votes are even: they stay what the inventory says.
        denied: Positive decisions of which the evaluators of another pair, asked once, both said no.
    """

    decisions: tuple[Decision, ...]
    conflicts: tuple[tuple[Verdict, ...], ...]
    ties: tuple[Place, ...]
    denied: tuple[str, ...]


class Asked(NamedTuple):
    """Everything that was asked of an audit, and what the inventory says of it.

    Args:
        facts: Condition and document of each place.
        pages: P(d, c) when the audit was drawn.
        shown: Pages that were shown: in the second round where a condition was asked again.
    """

    facts: Mapping[Place, Fact]
    pages: Mapping[Place, tuple[int, ...]]
    shown: Mapping[Place, tuple[int, ...]]

    @classmethod
    def of(cls, audit: Round, second: Packet) -> Asked:
        """Collect it from both packets and the key."""
        facts: dict[Place, Fact] = {}
        pages: dict[Place, tuple[int, ...]] = {}
        shown: dict[Place, tuple[int, ...]] = {}
        keys = {item.item_id: item for item in audit.key.items}
        for item in audit.packet.items:
            known = keys[item.item_id]
            for asked, found in zip(item.conditions, known.pages, strict=True):
                place = (item.item_id, asked.condition_id)
                facts[place], pages[place] = (asked.condition_id, known.doc_id), found
                shown[place] = tuple(sorted(asked.pages))
        for item in second.items:
            shown |= {(item.item_id, one.condition_id): tuple(sorted(one.pages)) for one in item.conditions}
        return cls(facts, pages, shown)

    def displayed(self, fact: Fact) -> tuple[int, ...]:
        """All pages that anybody was shown for a condition in a document."""
        found = {page for place, own in self.facts.items() if own == fact for page in self.shown[place]}
        return tuple(sorted(found))


def conclude(
    audit: Round, queue: Queue, second: Adjudicated, overrides: Mapping[Fact, Override], tag: str
) -> Conclusion:
    """Turn answers into decisions, wherever they say otherwise than the inventory does.

    A positive takes the pages with quotes from the winning side, and removes none; a negative names the pages that
    were shown. A tie of votes keeps what the inventory says. An override replaces the verdicts of every pair that asks
    about its condition in its document, and is no vote. Pairs that the policy keeps decide nothing, unless an override
    names them.

    Args:
        audit: The first round.
        queue: What the policy made of it.
        second: The adjudication.
        overrides: By what they are about.
        tag: Ends the id of every decision: ids of two audits must not meet.
    """
    asked = Asked.of(audit, second.packet)
    verdicts: dict[Place, Verdict] = {}
    ties: list[Place] = []
    opened = {(item.item_id, condition_id) for item in queue.queued for condition_id in item.open}
    for place, fact in asked.facts.items():
        override = overrides.get(fact)
        if place in opened:
            votes, names = [answers[place] for answers in second.answers], second.names
        else:
            votes, names = [audit.first[place], audit.second[place]], audit.evaluators
        if override is not None:
            verdicts[place] = Verdict(
                place, override.present, override.quotes, "administrative", override.reason, names,
                asked.displayed(fact),
            )  # fmt: skip
        elif (found := _counted(votes, is_open=place in opened)) is not None:
            verdicts[place] = Verdict(place, *found, names, asked.shown[place])
        elif place in opened:
            ties.append(place)
    moving = {*queue.accepted, *(item.item_id for item in queue.queued)}
    named = {(row.item_id, row.condition_id) for row in overrides.values()}
    changing = {
        place: verdict
        for place, verdict in verdicts.items()
        if (place[0] in moving or place in named) and _changes(verdict, asked.pages[place])
    }
    decisions = sorted((_decision(audit, one, tag) for one in changing.values()), key=lambda row: row.decision_id)
    return Conclusion(
        tuple(decisions),
        tuple(_conflicts(verdicts, changing.keys(), asked)),
        tuple(ties),
        tuple(_denied(audit, verdicts, opened, decisions, asked)),
    )


def _counted(votes: Sequence[Answer], *, is_open: bool) -> tuple[bool, tuple[DecisionQuote, ...], Basis, str] | None:
    """The verdict of votes; None for a tie, and for a no of the first round, which three pages do not prove."""
    n_yes = sum(vote.present for vote in votes)
    if not is_open:
        return (True, _quotes(votes), "consensus", "both say so") if n_yes == len(votes) else None
    if 2 * n_yes == len(votes):
        return None
    present = 2 * n_yes > len(votes)
    side = n_yes if present else len(votes) - n_yes
    return present, _quotes(votes) if present else (), "majority", f"{side} of {len(votes)} say so"


def _quotes(votes: Iterable[Answer]) -> tuple[DecisionQuote, ...]:
    found = {(quote.page, quote.quote): quote for vote in votes if vote.present for quote in vote.quotes}
    return tuple(found[key] for key in sorted(found))


def _changes(verdict: Verdict, pages: Sequence[int]) -> bool:
    """Whether a verdict says otherwise than the inventory: another presence, or pages that it does not have."""
    if not verdict.present:
        return bool(pages)
    return not {quote.page for quote in verdict.quotes} <= set(pages)


def _conflicts(
    verdicts: Mapping[Place, Verdict], changing: Iterable[Place], asked: Asked
) -> Iterator[tuple[Verdict, ...]]:
    """Opposite verdicts on a fact that some decision would change."""
    changed = {asked.facts[place] for place in changing}
    on: dict[Fact, list[Verdict]] = {}
    for place, verdict in verdicts.items():
        if asked.facts[place] in changed:
            on.setdefault(asked.facts[place], []).append(verdict)
    for _, found in sorted(on.items()):
        if len({verdict.present for verdict in found}) > 1:
            yield tuple(sorted(found, key=lambda verdict: verdict.place))


def _denied(
    audit: Round,
    verdicts: Mapping[Place, Verdict],
    opened: Iterable[Place],
    decisions: Iterable[Decision],
    asked: Asked,
) -> Iterator[str]:
    """Positive decisions against which the evaluators of another pair stand, who were not asked again."""
    settled = {*verdicts, *opened}
    denied = {
        fact
        for place, fact in asked.facts.items()
        if place not in settled and not audit.first[place].present and not audit.second[place].present
    }
    for row in decisions:
        if row.present and row.basis != "administrative" and (row.condition_id, row.doc_id) in denied:
            yield row.decision_id


def _decision(audit: Round, verdict: Verdict, tag: str) -> Decision:
    item_id, condition_id = verdict.place
    known = next(item for item in audit.key.items if item.item_id == item_id)
    return Decision(
        decision_id=f"{item_id}-{condition_id}-{tag}",
        query_id=known.query_id,
        doc_id=known.doc_id,
        condition_id=condition_id,
        present=verdict.present,
        pages=tuple(sorted({quote.page for quote in verdict.quotes})),
        pages_shown=verdict.shown,
        quotes=verdict.quotes,
        basis=verdict.basis,
        reason=verdict.reason,
        responses=verdict.names,
    )
