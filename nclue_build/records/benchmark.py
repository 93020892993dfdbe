"""Queries and relevance judgments of a benchmark."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import Count, DocumentId, Id, Level, Page, Record, Sha256

GateOutcome = Literal["ok", "incomplete", "single_page", "no_assignment", "document_level"]


class QueryCondition(Record):
    """A condition as a query uses it: ``raw_name`` as mined, ``name`` cleaned."""

    condition_id: Id
    name: Annotated[str, Field(min_length=1)]
    raw_name: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...]


class Forms(Record):
    """The renderings of a query; ids and qrels never depend on them."""

    raw: str
    clean_v2: str
    natural: str
    paraphrase: str | None = None


class Strata(Record):
    """``l_min``: pages of the shortest gold; ``d_plus``: nonzero qrels; ``sources``: of the golds, sorted."""

    l_min: Count
    d_plus: Count
    sources: tuple[str, ...]


class Query(Record):
    """A conjunction of n conditions with at least one gold (``queries.jsonl``)."""

    query_id: Id
    n: Annotated[int, Field(ge=2, le=8)]
    """Number of conditions."""
    conditions: Annotated[tuple[QueryCondition, ...], Field(min_length=2, max_length=8)]
    relaxation: str | None
    """The step of requirements it was found at; null for the strict ones."""
    forms: Forms
    golds: Annotated[tuple[DocumentId, ...], Field(min_length=1)]
    """Every document that establishes all conditions on distinct pages."""
    n_judged: Annotated[int, Field(ge=1)]
    """Documents with at least one of the conditions."""
    strata: Strata

    @model_validator(mode="after")
    def _is_consistent(self) -> Query:
        if self.n != len(self.conditions):
            message = "n must be the number of conditions"
            raise ValueError(message)
        return self


class Violator(Record):
    """The Hall set: these conditions share fewer pages than there are of them."""

    conditions: tuple[Id, ...]
    pages: tuple[Page, ...]


class Quote(Record):
    """A verbatim piece of a page that shows a condition, found by the item judge."""

    condition_id: Id
    page: Page | None
    quote: Annotated[str, Field(min_length=1)]
    call_key: Sha256 | None = None


class Qrel(Record):
    """A nonzero judgment (``qrels.jsonl``): the complete truth about one query-document pair."""

    query_id: Id
    doc_id: DocumentId
    grade: Annotated[int, Field(ge=1)]
    """The clue count; n - 1 where all n conditions are there and the page checks fail."""
    clue_count: Annotated[int, Field(ge=1)]
    """Conditions of the query that the document establishes."""
    gold: bool
    gate: GateOutcome
    """Outcome of the page checks; a gold has ok, a document without all conditions incomplete."""
    pages: tuple[tuple[Page, ...], ...]
    """Pages that establish each condition, in the order of the query's conditions; empty where there is none."""
    witness: tuple[Page, ...] | None
    """A page of its own for each condition; null unless gold."""
    shared_pages: tuple[Page, ...] | None
    """Pages that establish every condition; null unless the outcome is single_page."""
    violator: Violator | None
    """Conditions with fewer pages between them than there are of them; null unless no_assignment."""
    evidence: tuple[Quote, ...]
    """What the item judge quoted; a quote may stand on another page than the witness."""


class QrelsMeta(Record):
    """``qrels.meta.json``: under which inventory version absent means 0."""

    schema_version: Literal[1] = 1
    judging: Literal["complete"] = "complete"
    inventory_version: Count
    inventory_digests: dict[str, Sha256]
    """SHA-256 of the inventory files that the judgments follow from."""
    level: Level
    item_judge: str
    """Who checked the golds; rules is no language model."""
    item_model: str | None
    n_queries: Count
    n_qrels: Count
    n_golds: Count
    qrels_sha256: Sha256
