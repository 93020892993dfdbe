"""The item judge ``model``: one call per candidate and document, checked mechanically.

The reply has a Boolean and a passage for every condition (n-Clue supplement, section 2). A passage counts when it
stands in one block of a shown page and holds a form of its condition. Whatever differs from the mined condition set, or
cannot be checked, drops the candidate: there is no vote, no second chance and no default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.compose.needs import ItemQuotes
from nclue_build.compose.quotes import ROLE_RANK, FoundQuote, alias_occurs
from nclue_build.core.text import fold, occurs, readings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.calls.outcomes import Outcome
    from nclue_build.calls.replies import ConditionReply, ItemReply
    from nclue_build.compose.needs import CallFailure, Need, Reason
    from nclue_build.compose.shown import ItemCase, Question, ShownBlock
    from nclue_build.records.calls import Status

MODEL: Final = "model"
_MIN_EVIDENCE: Final = 20
_WITHOUT_REPLY: Final[dict[Status, CallFailure]] = {
    "truncated": "call_truncated",
    "refused": "call_refused",
    "empty": "call_empty",
    "invalid": "call_invalid",
}


def read_outcome(need: Need, case: ItemCase, outcome: Outcome[ItemReply]) -> tuple[ItemQuotes, ...]:
    """What a reply says of a need: for each of its conditions, then for each absent one.

    Args:
        need: What was asked for.
        case: What was shown.
        outcome: Of the call.
    """
    by_condition = {question.condition: question for question in case.questions}
    order = (*need.conditions, *need.absent)
    if outcome.reply is None:
        reason = _WITHOUT_REPLY[outcome.status]
        return tuple(ItemQuotes(index, (), None, reason, outcome.key) for index in order)
    answers = {answer.id: answer for answer in outcome.reply.conditions}
    if sorted(answer.id for answer in outcome.reply.conditions) != sorted(question.id for question in case.questions):
        return tuple(ItemQuotes(index, (), None, "answer_ids_differ", outcome.key) for index in order)
    found = []
    for index in order:
        question = by_condition[index]
        quote = _check(question, answers[question.id], case.blocks)
        if quote is None:
            found.append(ItemQuotes(index, (), None, None, outcome.key))
        elif isinstance(quote, FoundQuote):
            found.append(ItemQuotes(index, (quote,), quote, None, outcome.key))
        else:
            found.append(ItemQuotes(index, (), None, quote, outcome.key))
    return tuple(found)


def _check(question: Question, answer: ConditionReply, blocks: Sequence[ShownBlock]) -> FoundQuote | Reason | None:
    """The quote of an answer; None for a condition that is rightly said to be absent; else what is wrong."""
    if answer.present != question.is_present:
        return "judge_disagrees" if question.is_present else "judge_finds_more"
    return None if answer.evidence is None else _find_evidence(answer.evidence, question, blocks)


def _find_evidence(text: str, question: Question, blocks: Sequence[ShownBlock]) -> FoundQuote | Reason:
    evidence = " ".join(text.split())
    pieces = tuple(piece for piece in readings(evidence) if piece)
    if not pieces or len(pieces[0]) < _MIN_EVIDENCE:
        return "evidence_trivial"
    is_proof = _has_form(question, pieces)
    stands = False
    for is_other in (False, True):  # the preferred page, then the others
        places = [block for block in blocks if (block.page != question.preferred) == is_other and _holds(block, pieces)]
        stands = stands or bool(places)
        places.sort(key=lambda block: (ROLE_RANK.get(block.role, 2), block.page))
        # A passage that ends inside a word may hold a form that the page does not have there.
        best = next((block for block in places if is_proof and _has_form(question, block.readings)), None)
        if best is not None:
            return FoundQuote((ROLE_RANK.get(best.role, 2), 0, 0, 0, 0), best.page, evidence)
    return "evidence_without_form" if stands else "evidence_not_on_page"


def _holds(block: ShownBlock, pieces: Sequence[str]) -> bool:
    for reading in block.readings:
        for piece in pieces:
            if piece in reading and occurs(piece, reading):
                return True
    return False


def _has_form(question: Question, texts: Sequence[str]) -> bool:
    folded = tuple(map(fold, texts))
    return any(alias_occurs(alias, texts, folded) for alias in question.aliases)
