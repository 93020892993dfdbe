"""What a judge is asked and what it answers: a need, and a quote or a refusal for each of its conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from nclue_build.compose.quotes import FoundQuote, Refusal
from nclue_build.core.errors import InternalError

CallFailure = Literal["call_truncated", "call_refused", "call_empty", "call_invalid"]
"""What a call came to that has no usable reply."""
CALL_FAILURES: Final = frozenset(get_args(CallFailure))

Reason = (
    Refusal
    | Literal[
        "judge_disagrees",
        "judge_finds_more",
        "evidence_not_on_page",
        "evidence_without_form",
        "evidence_trivial",
        "answer_ids_differ",
    ]
    | CallFailure
)
"""Why a judge has no quote for an item."""


@dataclass(frozen=True, slots=True)
class Need:
    """A document a candidate wants judged: its conditions there and, for a gold, the witness page of each.

    Args:
        document: Index.
        conditions: Indices of the conditions the document has, ascending.
        pages: Preferred page of each, parallel to ``conditions``; None where there is no preference.
        absent: The other conditions of the candidate, which the document does not have.
    """

    document: int
    conditions: tuple[int, ...]
    pages: tuple[int | None, ...]
    absent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemQuotes:
    """The quotes the judge found for one item, or why there is none.

    Args:
        condition: Index.
        quotes: Of the preferred pages that have one.
        best: The first sentence on the pages of P(d, c), those with most mentions first; a heading where none has
            a sentence; None where none has a quote.
        refusal: Why there is no quote.
        call_key: The model call it comes from, if any.
    """

    condition: int
    quotes: tuple[FoundQuote, ...]
    best: FoundQuote | None
    refusal: Reason | None = None
    call_key: str | None = None

    def quote_for(self, page: int | None) -> FoundQuote:
        """A sentence on that page, else one elsewhere, else the page's heading, else another one.

        Raises:
            InternalError: the item was refused.
        """
        if self.best is None:
            raise InternalError(f"condition {self.condition} was refused ({self.refusal}): there is no quote")
        there = next((quote for quote in self.quotes if quote.page == page), None)
        if there is None or (there.is_heading and not self.best.is_heading):
            return self.best
        return there


Judged = dict[Need, tuple[ItemQuotes, ...]]
"""What a judge says of each need: an answer for each of its conditions, then perhaps for each absent one."""
