"""What the page gate can say of a query-document pair, and the grade that follows."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from nclue_build.records.benchmark import GateOutcome

MAX_CONDITIONS: Final = 8
"""Conditions a query may have: the closed form looks at every subset of them."""


class Outcome(IntEnum):
    """A gate outcome as an array stores it; :attr:`label` is the word the files use.

    ``INCOMPLETE``: a condition has no page in the document. ``SINGLE_PAGE``: one page establishes every condition.
    ``NO_ASSIGNMENT``: no page does, yet the conditions cannot get a page each. ``DOCUMENT_LEVEL``: all conditions
    are there, and the inventory knows no pages. ``OK`` and ``DOCUMENT_LEVEL`` are golds.
    """

    OK = 0
    INCOMPLETE = 1
    SINGLE_PAGE = 2
    NO_ASSIGNMENT = 3
    DOCUMENT_LEVEL = 4

    @property
    def label(self) -> GateOutcome:
        """The word of ``qrels.jsonl``."""
        return cast("GateOutcome", self.name.lower())

    @property
    def gold(self) -> bool:
        """Whether a pair with this outcome is a gold."""
        return self in (Outcome.OK, Outcome.DOCUMENT_LEVEL)


def capped_grade(clue_count: int, outcome: Outcome) -> int:
    """Grade of a pair: its clue count, one less when every condition is there and the gate fails.

    The paper leaves the grade of such a pair open and only says that it is never a gold
    (n-Clue supplement, section 1); ``n - 1`` keeps gold the one highest grade.
    """
    return clue_count - (outcome in (Outcome.SINGLE_PAGE, Outcome.NO_ASSIGNMENT))
