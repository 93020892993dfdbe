"""Runs and what they score: the manifest of a set of runs, the score report, rows per query."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from nclue_build.records.base import Count, DocumentId, Id, Record, Sha256

Percent = Annotated[float, Field(ge=0, le=100)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Form = Literal["raw", "clean_v2", "natural", "paraphrase"]
Measure = Literal["n_clue_score", "gold_hit", "gold_ndcg", "ndcg_lin", "ndcg_exp"]
TiesRule = Literal["input", "trec", "worst", "expected"]


class RunEntry(Record):
    """A row of ``runs.jsonl``, the manifest of a set of runs."""

    run_id: Id
    file: Annotated[str, Field(min_length=1)] | None
    """Relative to the manifest; null where the run could not be made (``blocked_reason``)."""
    system: Annotated[str, Field(min_length=1)]
    category: Annotated[str, Field(min_length=1)]
    """What kind of system it is: runs of one category are compared with each other."""
    form: Form
    """The rendering of the queries that it was given."""
    masked_condition: Annotated[int, Field(ge=1)] | None = None
    """1-based condition that was left out of the queries; null for whole queries."""
    privileged: bool = False
    """Whether it reads construction facts: such a control is never ranked with fair systems."""
    blocked_reason: str | None = None
    qrels_sha256: Sha256 | None = None
    """Digest of the qrels.jsonl that the run was made for; scoring refuses another one."""


class MeasureScore(Record):
    """Mean of a measure over all queries in points, and its 95 % exact-family interval where one was asked for."""

    value: Percent
    low: Percent | None
    high: Percent | None


class CurvePoint(Record):
    """The measures at one cut-off."""

    k: Annotated[int, Field(ge=1)]
    n_clue_score: Percent
    gold_hit: Percent
    gold_ndcg: Percent
    ndcg_lin: Percent
    ndcg_exp: Percent
    judged: Percent
    """Judged@k: share of the first k places that hold a judged document."""


class SliceScore(Record):
    """Scores on some of the queries; slices of different strata overlap."""

    stratum: Literal["n", "l_min", "d_plus", "source", "relaxation"]
    value: str
    n_queries: Annotated[int, Field(ge=1)]
    n_clue_score: Percent
    gold_hit: Percent


class PageSupport(Record):
    """What a page-aware run shows of the golds it retrieves."""

    gold_support: Percent
    """Gold+Support@k over all queries."""
    n_queries_with_gold: Count
    condition_coverage: Percent | None
    """Conditional page coverage: mean share of conditions met by the best-covered gold; null without a gold."""
    all_conditions: Percent | None
    """Share of queries with a retrieved gold whose best-covered gold meets all conditions."""
    coverage_per_gold: Percent | None
    """Mean share of conditions met, over all retrieved golds."""


class RunScore(Record):
    """Everything that one run scores at the cut-off of the report."""

    run_id: Annotated[str, Field(min_length=1)]
    n_clue_score: MeasureScore
    gold_hit: MeasureScore
    gold_ndcg: MeasureScore
    ndcg_lin: MeasureScore
    ndcg_exp: MeasureScore
    miss: Fraction
    partial_first: Fraction
    gold_first: Fraction
    judged: Percent
    mean_first_judged: Annotated[float, Field(ge=1)] | None
    """Mean rank of the first judged document within k, over the queries that have one; null where none has."""
    auc: Fraction | None
    """Mean over queries of the probability that a gold scores above a subset; null where no query has both."""
    missing_queries: tuple[Id, ...]
    """Queries the run does not return: each counts as 0."""
    tied_documents: Count
    """Documents that share their score with a neighbour, over all queries."""
    dropped_rows: Count
    """Rows of unknown queries or documents, dropped since that was allowed."""
    curve: tuple[CurvePoint, ...]
    slices: tuple[SliceScore, ...]
    pages: PageSupport | None
    """Null where the run is not page-aware, or the judgments name no pages."""


class ScoreReport(Record):
    """Scores of runs on one benchmark: what ``score`` answers."""

    schema_version: Literal[1] = 1
    build: Annotated[str, Field(min_length=1)]
    qrels_sha256: Sha256
    """Digest of the qrels.jsonl that every figure is about."""
    k: Annotated[int, Field(ge=1)]
    ties: TiesRule
    seed: int
    n_queries: Count
    n_families: Count
    runs: tuple[RunScore, ...]


class QueryScore(Record):
    """What a run achieves on one query, from 0 to 1 (a row of ``score --per-query``)."""

    run_id: Annotated[str, Field(min_length=1)]
    query_id: Id
    returned: bool
    n_clue_score: Fraction
    gold_hit: Fraction
    gold_ndcg: Fraction
    ndcg_lin: Fraction
    ndcg_exp: Fraction
    first_judged: Annotated[int, Field(ge=1)] | None
    first_gold: Annotated[int, Field(ge=1)] | None
    """Rank of the first gold within k."""
    judged: Count
    golds: tuple[DocumentId, ...]
    """Golds within k, best first."""
