"""The inventory P(d, c) on disk, and what mining saw on the way to it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import MAX_INT32, Count, DocumentId, Id, Level, Page, Record, Sha256
from nclue_build.records.corpus import Role

Match = Literal["exact", "folded"]


class Alias(Record):
    """A surface form of a condition, as it stands on pages.

    ``exact`` forms (acronyms) are case-sensitive, ``folded`` ones are not.
    """

    form: Annotated[str, Field(min_length=1)]
    match: Match
    document_frequency: Count
    page_frequency: Count


class Verdict(Record):
    """Who kept this condition and why. ``judge = rules`` is no language model."""

    judge: str
    model: str | None = None
    call_key: Sha256 | None = None
    reason: str


class Rubric(Record):
    """What an auditor is asked: requirement, what counts, what does not."""

    requirement: str
    counts: str
    does_not_count: str
    note: str | None = None


class Condition(Record):
    """A concept: canonical name and aliases, with frequencies over the benchmark's corpus."""

    condition_id: Id
    name: Annotated[str, Field(min_length=1)]
    aliases: Annotated[tuple[Alias, ...], Field(min_length=1)]
    document_frequency: Count
    page_frequency: Count
    verdict: Verdict
    rubric: Rubric | None = None


class EvidenceRow(Record):
    """One non-empty P(d, c). In document-level builds ``pages`` is null and the parallel lists are empty."""

    condition_id: Id
    doc_id: DocumentId
    pages: Annotated[tuple[Page, ...], Field(min_length=1)] | None
    mentions: tuple[Annotated[int, Field(ge=1, le=MAX_INT32)], ...]
    in_heading: tuple[bool, ...]

    @model_validator(mode="after")
    def _is_consistent(self) -> EvidenceRow:
        n_pages = 0 if self.pages is None else len(self.pages)
        if len(self.mentions) != n_pages or len(self.in_heading) != n_pages:
            message = "mentions and in_heading must be parallel to pages"
            raise ValueError(message)
        if self.pages is not None and any(a >= b for a, b in zip(self.pages, self.pages[1:], strict=False)):
            message = "pages must be ascending without repeats"
            raise ValueError(message)
        return self


class InventoryVersion(Record):
    """``P<k>/version.json``: what this version is made of."""

    schema_version: Literal[1] = 1
    version: Count
    parent: Count | None
    level: Level
    decisions: tuple[str, ...]
    allowed_roles: tuple[Role, ...]
    text_version: int
    digests: dict[str, Sha256]
    counts: dict[str, int]


class SurfaceForm(Record):
    """A string mining considered (``surface_forms.jsonl``); scores are integers (thousandths)."""

    form: str
    normal: str
    n_words: Annotated[int, Field(ge=1)]
    document_frequency: Count
    page_frequency: Count
    mentions: Count
    heading_documents: Count
    termhood_milli: int


PART_OF: Final = "part of "
"""How the link of a part of a split cluster begins; the id of the whole follows."""


class Cluster(Record):
    """Alias cluster and what the judge said of it (``clusters.jsonl``)."""

    cluster_id: Id
    name: str
    aliases: tuple[str, ...]
    links: tuple[str, ...]
    document_frequency: Count
    mentions: Count
    decision: Literal["KEEP", "SPLIT", "REJECT", "NONE"]
    """NONE: a call to a model had no usable reply, so there is no verdict."""
    reason: str
    judge: str
    model: str | None = None
    call_key: Sha256 | None = None


class Rejected(Record):
    """Something dropped, with its reason (``rejected.jsonl``): nothing vanishes silently."""

    stage: Literal["mine", "compose"]
    kind: Literal["cluster", "condition", "candidate"]
    id: str
    reason: str
    detail: str | None = None
