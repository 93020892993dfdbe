"""Tables about the queries and judgments: what makes them hard, shortcuts, agreement of measures, an example."""

from __future__ import annotations

from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.score.scorer import MEASURES
from nclue_build.score.tables.material import missing, table
from nclue_build.stats.contrasts import rank_agreement
from nclue_build.stats.popularity import best_for_gold_ndcg, greedy_for_gold_hit, greedy_for_n_clue
from nclue_build.stats.regression import N_GROUPS, linear_fit, logistic_fit, quantile_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.benchmark import Qrel
    from nclue_build.records.tables import Kind, Table, Value
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.tables.material import Material
    from nclue_build.stats.regression import Fit

_MIN_SYSTEMS: Final = 2
_N_EXAMPLE_ROWS: Final = 12
_MATCHED: Final = {"density": "log |D+|", "length": "log L_min"}
"""What is held like in the variants of the difficulty regression."""


def difficulty(material: Material) -> Table:
    """S5b: failure (1 - s) of each system on what a query is like, errors clustered by family [R]."""
    title = "What makes a query hard (share of failures per standard deviation)"
    return _difficulty(material, "difficulty", title, {"": None}, [])


def difficulty_matched(material: Material) -> Table:
    """S5b: the same among queries of like density of judgments, and of like length of the shortest gold [R]."""
    title = "What makes a query hard, among queries of like density or length"
    notes = [f"{label}: within {N_GROUPS} groups of like {held}" for label, held in _MATCHED.items()]
    return _difficulty(material, "difficulty_matched", title, dict(_MATCHED), notes)


def _difficulty(
    material: Material, name: str, title: str, variants: Mapping[str, str | None], notes: list[str]
) -> Table:
    """A fit of every system and variant.

    Args:
        material: Measured runs.
        name: Of the table.
        title: Of the table.
        variants: By label: the predictor that is held like within groups of queries; None: all are compared.
        notes: To begin with.
    """
    predictors = difficulty_predictors(material.benchmark)
    if isinstance(predictors, str):
        return missing(name, "S5b", title, predictors)
    families = material.scorer.families
    fits: dict[str, Callable[..., Fit]] = {"linear": linear_fit}
    if material.scorer.options.ties != "expected":
        fits["logistic"] = logistic_fit
    rows: list[tuple[Value, ...]] = []
    for one in material.whole():
        failed = 1.0 - one.on("n_clue_score") / 100.0
        if not 0 < failed.mean() < 1:
            notes.append(f"{one.entry.system}: every query has the same outcome, so there is nothing to explain")
            continue
        for label, held in variants.items():
            used = {predictor: values for predictor, values in predictors.items() if predictor != held}
            groups = None if held is None else quantile_groups(predictors[held])
            for kind, fit_of in fits.items():
                fit = fit_of(failed, used, families, groups)
                model = f"{kind}, {label}" if label else kind
                if fit.converged:
                    rows.append((one.entry.system, model, fit.n_queries, *_coefficients(fit, predictors)))
                else:
                    notes.append(f"{one.entry.system}: the model {model} has no finite fit")
    if not rows:
        return missing(name, "S5b", title, "no system fails on some queries and succeeds on others")
    constant = [label for label, values in predictors.items() if not np.std(values) > 0]
    notes += [f"{label} is the same for every query" for label in constant]
    columns: list[tuple[str, Kind]] = [("system", "text"), ("model", "text"), ("queries", "count")]
    columns += [(label, "estimate") for label in predictors]
    notes.insert(0, "in brackets: standard error, clustered by exact family; logistic: change of log odds")
    return table(name, "S5b", title, columns, rows, notes)


def difficulty_predictors(benchmark: Benchmark) -> Mapping[str, NDArray[np.float64]] | str:
    """Of every query: rarity (mean log N / df of its conditions), n, log L_min, log |D+|; or why there are none."""
    queries = list(benchmark.queries.values())
    if not queries:
        return "the benchmark has no query"
    if not all(all(benchmark.frequencies.get(query.query_id, (0,))) for query in queries):
        return "the judgments name no pages of conditions, so nothing is known of how rare those are"
    if not all(query.strata.l_min > 0 for query in queries):
        return "the length of some gold is not known"
    n_docs = len(benchmark.doc_ids)
    rarity = [float(np.mean(np.log(n_docs / np.array(benchmark.frequencies[query.query_id])))) for query in queries]
    return {
        "rarity": np.array(rarity),
        "n": np.array([float(query.n) for query in queries]),
        "log L_min": np.log([float(query.strata.l_min) for query in queries]),
        "log |D+|": np.log([float(query.n_judged) for query in queries]),
    }


def shortcuts(material: Material) -> Table:
    """S5b: what one list of documents scores for all queries."""
    truth, names = material.scorer.truth, material.benchmark.judgments.doc_ids
    found = (
        ("Gold-NDCG", best_for_gold_ndcg(truth)),
        ("Gold Hit", greedy_for_gold_hit(truth)),
        ("n-Clue Score", greedy_for_n_clue(truth)),
    )
    columns: list[tuple[str, Kind]] = [
        ("measure", "text"),
        ("one list for all", "points"),
        ("best possible", "text"),
        ("first documents", "text"),
    ]
    rows = [
        (label, 100.0 * one.value, "yes" if one.exact else "at least", ", ".join(names[doc] for doc in one.docs[:3]))
        for label, one in found
    ]
    title = f"Popularity: one list of {truth.k} documents for every query"
    notes = ["at least: found document by document, so a better list may exist"]
    return table("shortcuts", "S5b", title, columns, rows, notes)


def measures_agree(material: Material) -> Table:
    """Rank agreement of every two measures over the systems of the matrix."""
    name, catalogue, title = "agreement_of_measures", "6", "Agreement of measures on the order of systems"
    runs = material.ranked()
    if len(runs) < _MIN_SYSTEMS:
        return missing(name, catalogue, title, "an order takes two systems")
    means = {measure: [float(one.on(measure).mean()) for one in runs] for measure in MEASURES}
    rows = [(first, second, *_agreement(means[first], means[second])) for first, second in combinations(MEASURES, 2)]
    return table(name, catalogue, title, [("measure", "text"), ("and", "text"), *_AGREEMENT], rows)


def copies_agree(material: Material, other: Material | None) -> Table:
    """Rank agreement of two copies of the judgments over the same systems."""
    name, catalogue, title = "agreement_of_copies", "6", "Agreement of two copies of the judgments"
    if other is None:
        return missing(name, catalogue, title, "no other copy was named (--against DIR)")
    runs = [(one, other.runs[one.entry.run_id]) for one in material.ranked()]
    if len(runs) < _MIN_SYSTEMS:
        return missing(name, catalogue, title, "an order takes two systems")
    rows: list[tuple[Value, ...]] = []
    for measure in MEASURES:
        here = [float(one.on(measure).mean()) for one, _ in runs]
        there = [float(one.on(measure).mean()) for _, one in runs]
        shift = max((b - a for a, b in zip(here, there, strict=True)), key=abs)
        rows.append((measure, *_agreement(here, there), shift))
    columns: list[tuple[str, Kind]] = [("measure", "text"), *_AGREEMENT, ("largest shift", "signed")]
    notes = [f"the other copy has the qrels {other.benchmark.qrels_sha256[:12]}"]
    return table(name, catalogue, title, columns, rows, notes)


def example(material: Material, query_id: str, rows: Sequence[Qrel]) -> Table:
    """S6: documents of one query, their grade, and the first page of each condition.

    Args:
        material: Of the benchmark.
        query_id: The query.
        rows: Its judgments.
    """
    query = material.benchmark.queries[query_id]
    ordered = sorted(rows, key=lambda row: (not row.gold, -row.grade, row.doc_id))
    columns: list[tuple[str, Kind]] = [("document", "text"), ("grade", "count"), ("gold", "text")]
    columns += [(condition.name, "text") for condition in query.conditions]
    cells = [
        (row.doc_id, row.grade, "yes" if row.gold else "", *(_page(row, place) for place in range(query.n)))
        for row in ordered[:_N_EXAMPLE_ROWS]
    ]
    notes = [query.forms.natural]
    if len(ordered) > _N_EXAMPLE_ROWS:
        notes.append(f"the first {_N_EXAMPLE_ROWS} of {len(ordered)} judged documents")
    return table("example", "S6", f"Labels of the query {query_id}", columns, cells, notes)


_AGREEMENT: Final[tuple[tuple[str, Kind], ...]] = (
    ("Spearman", "number"),
    ("Kendall tau-b", "number"),
    ("systems", "count"),
)


def _agreement(first: Sequence[float], second: Sequence[float]) -> tuple[float | None, float | None, int]:
    found = rank_agreement(first, second)
    return _or_none(found.spearman), _or_none(found.kendall_tau_b), found.n_systems


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value


def _coefficients(fit: Fit, predictors: Mapping[str, object]) -> list[Value]:
    by_name = {one.name: one for one in fit.coefficients}
    return [(by_name[label].value, by_name[label].standard_error) if label in by_name else None for label in predictors]


def _page(row: Qrel, place: int) -> str:
    """The page that the witness gives a condition, else its first."""
    if row.witness is not None:
        return str(row.witness[place])
    pages = row.pages[place] if place < len(row.pages) else ()
    return str(pages[0]) if pages else ""
