"""Reading sheets: a sample of a build for somebody to read against the pages, and what they said of it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import DocumentId, Id, Page, Record, Sha256
from nclue_build.records.corpus import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

ItemKind = Literal["condition", "cluster", "fact", "query"]

VERDICTS: Final[Mapping[ItemKind, tuple[str, ...]]] = MappingProxyType(
    {
        "condition": ("good", "vague", "junk"),
        "cluster": ("right", "wrong"),
        "fact": ("right", "wrong", "header", "contents", "reference"),
        "query": ("acceptable", "implausible", "uncovered"),
    }
)
"""What may be said of an item of each kind; the first one is what a build should have."""


class SheetPlace(Record):
    """A page to read an item against."""

    doc_id: DocumentId
    page: Page
    condition_id: Id
    role: Role | None
    """Role of the block that holds the form; null where no block of the page does."""
    text: str | None
    """The block around the form, and the ends of its neighbours; null in a sheet without page text."""


class SheetItem(Record):
    """Something of a build to be read, and the verdict on it."""

    item_id: Annotated[str, Field(min_length=1)]
    kind: ItemKind
    stratum: str
    """Drawn from: a relaxation step (or strict) for queries, how its forms were joined for clusters, else all."""
    population: Annotated[int, Field(ge=1)]
    """Items the stratum has."""
    build_sha256: Sha256
    """Digest over the files of the build that the sheet was drawn from."""
    seed: Annotated[int, Field(ge=0)]
    name: str
    """Name of the condition, or the query in its raw form."""
    forms: tuple[str, ...]
    """Surface forms, or the names of a query's conditions."""
    places: tuple[SheetPlace, ...]
    verdict: str | None = None
    """One of those for its kind; null until somebody has read it."""
    reader: str | None = None
    """Who read it: a person, or the name of a model."""
    note: str | None = None

    @model_validator(mode="after")
    def _has_known_verdict(self) -> SheetItem:
        if self.verdict is not None and self.verdict not in VERDICTS[self.kind]:
            message = f"verdict of a {self.kind} must be one of {', '.join(VERDICTS[self.kind])}, or null"
            raise ValueError(message)
        if self.verdict is not None and not self.reader:
            message = "a verdict needs its reader: who gave it"
            raise ValueError(message)
        return self
