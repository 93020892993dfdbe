"""Packets, responses and figures of an audit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nclue_build.records.base import Count, DocumentId, Id, Page, Record, Sha256
from nclue_build.records.inventory import Rubric
from nclue_build.records.repair import DecisionQuote

Route = Literal["original", "selected", "alias", "bm25", "fuzzy", "construction"]
Reason = Literal["split", "decrease", "other_conditions"]


class AskedCondition(Record):
    """A condition as an evaluator sees it, with the pages to look at."""

    condition_id: Id
    name: str
    pages: tuple[Page, ...]
    rubric: Rubric | None = None
    """What counts and what does not, where the judge of the condition or the administrator wrote it down."""


class ConditionRubric(Rubric):
    """A row of a file of rubrics, for conditions whose judge wrote none."""

    condition_id: Id


class PacketItem(Record):
    """A query and a document, blind: no grade, no route, no document id."""

    item_id: Id
    query: str
    conditions: Annotated[tuple[AskedCondition, ...], Field(min_length=1)]


class Packet(Record):
    """``packet.json`` (first round) and ``adjudication.json`` (open conditions, larger pools)."""

    schema_version: Literal[1] = 1
    items: tuple[PacketItem, ...]


class KeyItem(Record):
    """What an item is, and how it was drawn; for the administrator alone."""

    item_id: Id
    query_id: Id
    doc_id: DocumentId
    grade: Count
    gold: bool
    stratum: str
    drawn: Annotated[int, Field(ge=1)]
    """Pairs drawn from the stratum, out of ``available``: their ratio is the probability to be drawn."""
    available: Annotated[int, Field(ge=1)]
    pages: tuple[tuple[Page, ...], ...]
    """P(d, c) at construction, in the order of the query's conditions."""


class Key(Record):
    """``key.json``."""

    schema_version: Literal[1] = 1
    seed: Count
    qrels_sha256: Sha256
    items: tuple[KeyItem, ...]


class Answer(Record):
    """A yes with pages and a quote from each, or a no with neither."""

    item_id: Id
    condition_id: Id
    present: bool
    pages: tuple[Page, ...]
    quotes: tuple[DecisionQuote, ...]


class Clarity(Record):
    """Whether it is clear what the query of an item asks for."""

    item_id: Id
    clear: bool
    note: str | None = None


class Response(Record):
    """``responses/<evaluator>.json`` and ``adjudication/<evaluator>.json``."""

    schema_version: Literal[1] = 1
    evaluator: Id
    answers: tuple[Answer, ...]
    clarity: tuple[Clarity, ...] = ()
    """Of every item, or of none: the question is not part of any agreement."""


class QueueItem(Record):
    """A pair for adjudication: ``open`` conditions are asked again, ``locked`` ones are positive by both."""

    item_id: Id
    reason: Reason
    open: tuple[Id, ...]
    locked: tuple[Id, ...]


class Queue(Record):
    """``queue.json``: what the policy makes of the first round."""

    schema_version: Literal[1] = 1
    evaluators: tuple[Id, Id]
    accepted: tuple[Id, ...]
    """Items whose grade rises by consensus, with both page checks where all conditions are reached."""
    kept: tuple[Id, ...]
    queued: tuple[QueueItem, ...]


class PoolRow(Record):
    """Where the pages of one pool come from."""

    item_id: Id
    condition_id: Id
    pages: tuple[Page, ...]
    routes: dict[str, tuple[Page, ...]]


class PoolReport(Record):
    """``pool.json``."""

    schema_version: Literal[1] = 1
    pools: tuple[PoolRow, ...]
    members: dict[str, Count]
    """Pages that each route contributes to or shares with the pools."""
    contexts: Count
    locked: Count
    recalled_at_6: Count
    recalled_at_9: Count
    """Locked positives with a selected page among the first pages of a pool made without the selections."""


class Override(Record):
    """An administrative decision against the majority, never counted as a vote."""

    item_id: Id
    condition_id: Id
    present: bool
    quotes: tuple[DecisionQuote, ...]
    reason: Annotated[str, Field(min_length=1)]


class Figure(Record):
    """A share with its interval."""

    count: Count
    total: Count
    value: float | None
    low: float
    high: float


class PairAgreement(Record):
    """Agreement of two evaluators; without grades in the adjudication, which asks about parts of pairs."""

    evaluators: tuple[str, str]
    exact_grade: Figure | None
    condition: Figure
    page_sets: Figure
    confusion: tuple[tuple[Count, ...], ...] | None
    kappa: float | None
    kappa_linear: float | None
    kappa_linear_interval: tuple[float, float] | None
    kappa_conditions: float | None


class SecondRound(Record):
    """Agreement of the adjudication; null where fewer than two answered."""

    evaluators: tuple[str, ...]
    in_both_rounds: tuple[str, ...]
    """Evaluators who had answered the first round as well."""
    conditions: Count
    positives: dict[str, Count]
    quotes: Count
    unanimous: Figure | None
    page_sets: Figure | None
    fleiss: float | None
    pairs: tuple[PairAgreement, ...]
    collapsed: tuple[str, ...]


class Agreement(Record):
    """The result of ``audit score``: shares of what all evaluators agree on, and of every two of them."""

    evaluators: tuple[str, ...]
    exact_grade: Figure
    condition: Figure | None
    page_sets: Figure | None
    confusion: tuple[tuple[Count, ...], ...] | None
    """Of grades; rows are of the first evaluator. Null, as the kappas of two, where there are more: see ``pairs``."""
    kappa: float | None
    """Cohen's kappa of the grades."""
    kappa_linear: float | None
    kappa_linear_interval: tuple[float, float] | None
    """Bootstrap over pairs, 1,000 replicates, 2.5 and 97.5 percentiles."""
    kappa_conditions: float | None
    fleiss: float | None
    """Fleiss' kappa on conditions, of all evaluators."""
    strata: dict[str, Figure]
    collapsed: tuple[str, ...]
    """Evaluators left out because their answers are the same as another's throughout."""
    positives: dict[str, Count]
    """Conditions that each evaluator says yes to."""
    pairs: tuple[PairAgreement, ...] = ()
    clarity: dict[str, Figure]
    """Queries that each evaluator who was asked calls clear."""
    unclear: tuple[Id, ...] = ()
    """Items whose query somebody calls unclear."""
    adjudication: SecondRound | None = None
    """Where the second round has been answered."""
