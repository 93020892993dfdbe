"""Contrasts between runs, and what comparing them finds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nclue_build.records.base import Count, Record, Sha256
from nclue_build.records.scores import Fraction, Measure, TiesRule

Status = Literal["confirmatory", "exploratory", "stress"]
Points = Annotated[float, Field(ge=-100, le=100)]
Probability = Annotated[float, Field(gt=0, le=1)]


class Contrast(Record):
    """A declared comparison: a row of ``[[score.contrasts]]``."""

    name: Annotated[str, Field(min_length=1)]
    block: Annotated[str, Field(min_length=1)] = "all"
    """Contrasts of a block were tried together: its p is adjusted for all of them."""
    base: Annotated[str, Field(min_length=1)]
    variant: Annotated[str, Field(min_length=1)]
    displayed: bool = True
    """Whether it stands in the tables; one that was tried and is not shown still counts in its block."""
    post_hoc: bool = False
    """Whether it was chosen after its score was known."""
    status: Status = "exploratory"

    @model_validator(mode="after")
    def _compares_two(self) -> Contrast:
        if self.base == self.variant:
            message = "base and variant must be two runs"
            raise ValueError(message)
        return self


class Difference(Record):
    """Variant minus base in points, with its 95 % exact-family interval."""

    value: Points
    low: Points
    high: Points


class Shares(Record):
    """Of all queries: no gold within k, a subset before it, a gold first."""

    miss: Fraction
    partial_first: Fraction
    gold_first: Fraction


class Ordering(Record):
    """Queries where both runs retrieve a gold, and how much more often the variant has it first (points)."""

    n_common: Count
    difference: int
    mean: Points | None
    base: Shares
    variant: Shares


class Influence(Record):
    """How the difference hangs on documents: over golds, or over all judged documents."""

    components: Count
    largest_component: Count
    crossed: Difference
    n_redrawn: Count
    leave_one_low: Points | None
    leave_one_high: Points | None
    leave_one_skipped: Count
    """Documents on which every query hangs: nothing is left without them."""
    remove_busiest: Points | None
    n_removed: Count
    n_queries_left: Count


class PromotionBound(Record):
    """The lowest and highest difference after promoting up to so many judged subsets of each query."""

    promotions: Annotated[int, Field(ge=1)]
    low: Points
    high: Points


class ContrastResult(Record):
    """Everything about one contrast; what is about one measure is about that of the report."""

    contrast: Contrast
    differences: dict[Measure, Difference]
    p_query: Probability
    """Sign flips by query."""
    p_family: Probability
    """Sign flips by exact family."""
    p_block: Probability
    """Max-|T| over every contrast of the block, flips by family."""
    p_holm: Probability | None
    """Holm over the displayed contrasts of all blocks; null where it is not displayed."""
    smallest_detectable: Annotated[float, Field(ge=0)]
    """True difference in points that would be found with a power of 80 % at this size."""
    ordering: Ordering
    document_macro: Points
    one_query_per_document: Difference
    """What thinning does; it is no sampling error."""
    golds: Influence
    judged: Influence
    bounds: tuple[PromotionBound, ...]
    fewest_promotions: Count | None
    """Promotions in total that bring the difference in n-Clue Score, of either sign, to zero; null where none can."""


class ComparisonReport(Record):
    """What ``compare`` answers."""

    schema_version: Literal[1] = 1
    build: Annotated[str, Field(min_length=1)]
    qrels_sha256: Sha256
    k: Annotated[int, Field(ge=1)]
    ties: TiesRule
    measure: Measure
    """What p values, influence and bounds are about."""
    seed: int
    n_bootstrap: Count
    n_flips: Count
    n_queries: Count
    n_families: Count
    contrasts: tuple[ContrastResult, ...]
