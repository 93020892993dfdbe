"""What composing reports of itself: ``composition.json`` and ``forms_qa.json``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nclue_build.records.base import Count, Id, Record

Permille = Annotated[int, Field(ge=0, le=1000)]


class StepReport(Record):
    """One step of the relaxation ladder: what it required, and what came of it.

    ``enumerated`` counts what was looked at and found; ``dropped`` why conjunctions fell out during enumeration, as
    ``<pairs|n2|n3>.<reason>``. ``sampled``, ``verified`` and ``selected`` are per number of conditions.
    """

    name: str | None
    max_weak_conditions: Count
    titles: bool
    """Whether conditions may be titles of bodies, offices and programmes."""
    relation: Literal["any", "associated", "close"]
    min_subsets: Count
    max_golds: Count
    max_capped_documents: Count
    enumerated: dict[str, Count]
    dropped: dict[str, Count]
    sampled: dict[str, Count]
    verified: dict[str, Count]
    selected: dict[str, Count]


class DropRate(Record):
    """How many candidates with so many golds the item judge dropped: judging all golds favours queries with one."""

    n_golds: Count
    candidates: Count
    dropped: Count
    dropped_permille: Permille


class MixRow(Record):
    """Realised against declared share of one stratum; ``declared_permille`` is null where nothing is declared."""

    stratum: Literal["n", "source", "l_min", "d_plus", "n_golds", "relaxation"]
    value: str
    declared_permille: Permille | None
    queries: Count
    realised_permille: Permille


class Caps(Record):
    """The caps that applied, and how close the selection came."""

    max_per_condition: Count
    max_per_gold: Count
    busiest_condition_queries: Count
    busiest_gold_queries: Count
    busiest_gold_permille: Permille


class Diversity(Record):
    """How much the queries repeat each other; a family is the queries with the same complete gold set."""

    gold_documents: Count
    families: Count
    conditions: Count
    queries_without_20_busiest_golds: Count


class Composition(Record):
    """``composition.json``; below the goals, relaxed requirements make up for what the strict ones lack."""

    schema_version: Literal[1] = 1
    n_queries_asked: Count
    n_queries: Count
    goal_queries: Count
    goal_families: Count
    goal_golds: Count
    seed: Count
    item_judge: str
    verify: str
    steps: tuple[StepReport, ...]
    refusals: dict[str, Count]
    drop_rates: tuple[DropRate, ...]
    mix: tuple[MixRow, ...]
    caps: Caps
    diversity: Diversity
    blocked: dict[str, Count]
    shortfalls: tuple[str, ...]


class FormProblem(Record):
    """A form in which a concept does not stand verbatim, or which does not parse back."""

    query_id: Id
    form: Literal["raw", "clean_v2", "natural"]
    problem: str


class FormsQa(Record):
    """``forms_qa.json``: proof that every concept stands verbatim in every deterministic form."""

    schema_version: Literal[1] = 1
    queries: Count
    passed: Count
    concepts_checked: Count
    names_cleaned: Count
    raw_names_with_and: Count
    problems: tuple[FormProblem, ...]
