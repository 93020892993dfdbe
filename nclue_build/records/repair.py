"""Decisions of an audit, and what applying them changed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import Count, DocumentId, Id, Page, Record, Sha256
from nclue_build.records.benchmark import GateOutcome

Basis = Literal["consensus", "majority", "administrative", "import"]
Scope = Literal["inventory", "pair"]
Effect = Literal["applied", "unchanged", "unresolved"]
"""``unresolved``: an absence was concluded from pages that are not all there are, so nothing changes."""


class DecisionQuote(Record):
    """A verbatim piece of a page that a positive decision rests on."""

    page: Page
    quote: Annotated[str, Field(min_length=1)]


class Decision(Record):
    """What an audit concludes of one condition in one document (``decisions.jsonl``)."""

    decision_id: Id
    query_id: Id
    """The query whose pair was audited."""
    doc_id: DocumentId
    condition_id: Id
    present: bool
    pages: tuple[Page, ...]
    """Pages that establish the condition; empty for an absence."""
    pages_shown: tuple[Page, ...]
    """Pages that were looked at; an absence is about these alone."""
    quotes: tuple[DecisionQuote, ...]
    basis: Basis
    reason: Annotated[str, Field(min_length=1)]
    responses: tuple[str, ...]
    """Whose responses it rests on."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Decision:
        for name, pages in (("pages", self.pages), ("pages_shown", self.pages_shown)):
            if list(pages) != sorted(set(pages)):
                message = f"{name} must be ascending without repeats"
                raise ValueError(message)
        quoted = {quote.page for quote in self.quotes}
        if self.present and not self.pages:
            message = "a present condition needs a page"
            raise ValueError(message)
        if self.present and quoted != set(self.pages):
            message = f"every page of a present condition needs a quote, and every quote one of these pages: {quoted}"
            raise ValueError(message)
        if not self.present and (self.pages or self.quotes):
            message = "an absent condition has neither pages nor quotes"
            raise ValueError(message)
        if not self.present and not self.pages_shown:
            message = "an absence needs the pages that were looked at (pages_shown)"
            raise ValueError(message)
        return self


class PairOverride(Record):
    """P(d, c) as one query alone sees it (``pair_overrides.jsonl``); no pages: the condition is absent there."""

    query_id: Id
    condition_id: Id
    doc_id: DocumentId
    pages: tuple[Page, ...]
    decisions: tuple[Id, ...]


class Repair(Record):
    """What became of one decision (``repairs.jsonl``, append-only)."""

    version: Annotated[int, Field(ge=1)]
    decision_id: Id
    scope: Scope
    query_id: Id
    condition_id: Id
    doc_id: DocumentId
    present: bool
    effect: Effect
    old: tuple[Page, ...]
    """P(d, c) before, as the query of the decision saw it."""
    new: tuple[Page, ...]
    basis: Basis
    reason: str
    responses: tuple[str, ...]


class QrelState(Record):
    """A judgment before or after."""

    grade: Annotated[int, Field(ge=1)]
    gold: bool
    gate: GateOutcome
    pages: tuple[tuple[Page, ...], ...]


class QrelChange(Record):
    """One judgment that changed, came or went (``changes.jsonl``)."""

    query_id: Id
    doc_id: DocumentId
    n: Annotated[int, Field(ge=2)]
    source: str
    before: QrelState | None
    after: QrelState | None
    decisions: tuple[Id, ...]
    """All decisions so far on a condition of the query in the document."""
    audited: bool
    """Whether one of them was made on this very pair; the others follow, because they share P(d, c)."""


class QueryChange(Record):
    """A query that went or came back, with all its judgments."""

    query_id: Id
    concepts: tuple[str, ...]
    qrels: Count
    reason: Literal["no_gold", "ineligible_gold", "gold_again"]
    decisions: tuple[Id, ...]


class Transitions(Record):
    """``transitions.json``: how the judgments moved from one version to the next."""

    schema_version: Literal[1] = 1
    from_version: Count
    to_version: Annotated[int, Field(ge=1)]
    scope: Scope
    decisions: Count
    effects: dict[str, Count]
    grades: dict[str, Count]
    """Judgments by grade before and after, such as ``1->2``; 0 is no judgment."""
    audited_grades: dict[str, Count]
    """Those of audited pairs alone."""
    to_gold: dict[str, Count]
    """Of ``grades``, those that became gold."""
    from_gold: dict[str, Count]
    net_grade: int
    """Sum of all changes of grade."""
    subset_to_gold: Count
    gold_to_subset: Count
    unaudited_changes: Count
    """Judgments that moved although nobody looked at their pair."""
    corrections_by_source: dict[str, Count]
    corrections_by_n: dict[str, Count]
    removed_queries: tuple[QueryChange, ...]
    restored_queries: tuple[QueryChange, ...]
    queries: tuple[Count, Count]
    """Before and after, as in the next two."""
    qrels: tuple[Count, Count]
    golds: tuple[Count, Count]


class RunEffect(Record):
    """What the repair does to one run, in points."""

    run_id: str
    before: dict[str, float]
    after: dict[str, float]


class RankAgreement(Record):
    """How alike two qrels order the runs on one measure; null where that is not defined."""

    measure: str
    spearman: float | None
    kendall_tau_b: float | None
    runs: Count


class RepairReport(Record):
    """The result of ``repair``."""

    build: str
    dry_run: bool
    written: bool
    version: Count
    """The version there is now, or would be."""
    new_decisions: Count
    known_decisions: Count
    """Decisions of the file that a version has applied already."""
    transitions: Transitions | None
    repairs: tuple[Repair, ...]
    changes: tuple[QrelChange, ...]
    runs: tuple[RunEffect, ...]
    agreement: tuple[RankAgreement, ...]
    qrels_sha256: Sha256 | None
    """Of the regenerated qrels.jsonl."""
