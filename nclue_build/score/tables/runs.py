"""Tables with a row per system: matrix, controls, strata, forms, masked conditions, diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from nclue_build.records.scores import Form
from nclue_build.score.tables.material import missing, table
from nclue_build.stats.measures import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.records.scores import MeasureScore
    from nclue_build.records.tables import Kind, Table, Value
    from nclue_build.score.tables.material import Material, Measured

FORMS: Final[tuple[Form, ...]] = get_args(Form)
CUT_OFFS: Final = (1, 3, 5, 10, 20, 50, 100)


def matrix(material: Material) -> Table:
    """S1a-c: fair systems, ranked by n-Clue Score; equal scores share a rank."""
    name, catalogue, title = "matrix", "S1a-c", f"Systems on the {material.form} form"
    runs = material.ranked()
    if not runs:
        return missing(name, catalogue, title, f"there is no fair run on whole queries of the form {material.form}")
    ranks = shared_ranks([one.score.n_clue_score.value for one in runs])
    rows = [
        (
            rank,
            material.label(one),
            one.entry.category,
            one.score.n_clue_score.value,
            _interval(one.score.n_clue_score),
            one.score.gold_hit.value,
            one.score.gold_ndcg.value,
        )
        for rank, one in zip(ranks, runs, strict=True)
    ]
    notes = [f"{run_id} could not be made: {reason}" for run_id, reason in material.blocked.items()]
    notes += [
        f"{one.entry.run_id} lacks {len(one.score.missing_queries)} queries, which count as 0"
        for one in runs
        if one.score.missing_queries
    ]
    columns: list[tuple[str, Kind]] = [
        ("rank", "count"),
        ("system", "text"),
        ("category", "text"),
        ("Score", "points"),
        ("95 % by family", "interval"),
        ("Hit", "points"),
        ("Gold-NDCG", "points"),
    ]
    return table(name, catalogue, title, columns, rows, notes)


def controls(material: Material) -> Table:
    """S1d: systems that read construction facts; never ranked."""
    name, catalogue, title = "controls", "S1d", "Controls that read construction facts"
    found = [one for one in material.runs.values() if one.entry.privileged]
    if not found:
        return missing(name, catalogue, title, "no run of the manifest is privileged")
    return table(
        name,
        catalogue,
        title,
        [("control", "text"), ("privileged input", "text"), *_THREE],
        [(one.entry.system, one.entry.category, *_three(one)) for one in found],
        ["not ranked with fair systems"],
    )


def strata(material: Material) -> Table:
    """S1j: n-Clue Score and Gold Hit of each system by slice; slices of different strata overlap."""
    name, catalogue, title = "strata", "S1j", "n-Clue Score and Gold Hit by slice"
    runs = material.whole()
    if not runs:
        return missing(name, catalogue, title, "there is no fair run on whole queries")
    labels = [f"{one.stratum} {one.value} ({one.n_queries})" for one in runs[0].score.slices]
    return table(
        name,
        catalogue,
        title,
        [("system", "text"), *((label, "pair") for label in labels)],
        [(one.entry.system, *((part.n_clue_score, part.gold_hit) for part in one.score.slices)) for one in runs],
        ["queries of a slice in brackets; slices of different strata overlap"],
    )


def paraphrases(material: Material) -> Table:
    """S2a: raw against paraphrased queries."""
    name, catalogue, title = "paraphrases", "S2a", "Raw and paraphrased queries"
    pairs = [
        (raw, other)
        for raw in material.whole("raw")
        if (other := material.of_system(raw.entry.system, "paraphrase")) is not None
    ]
    if not pairs:
        return missing(name, catalogue, title, "no system has runs on raw and on paraphrased queries")
    return table(
        name,
        catalogue,
        title,
        [("system", "text"), ("raw", "pair"), ("paraphrase", "pair"), ("difference", "starred")],
        [(raw.entry.system, _pair(raw), _pair(other), _difference(material, raw, other)) for raw, other in pairs],
        [_star(material)],
    )


def forms(material: Material) -> Table:
    """S2b, S3: n-Clue Score and Gold Hit of every system on every form it was run on."""
    name, catalogue, title = "forms", "S2b, S3", "Systems by form of the queries"
    used = [form for form in FORMS if material.whole(form)]
    if len(used) < 2:  # noqa: PLR2004 - one form is the matrix
        return missing(name, catalogue, title, "the runs are on one form of the queries")
    systems = dict.fromkeys(one.entry.system for form in used for one in material.whole(form))
    rows: list[tuple[Value, ...]] = []
    for system in systems:
        found = [material.of_system(system, form) for form in used]
        if sum(one is not None for one in found) > 1:
            rows.append((system, *(None if one is None else _pair(one) for one in found)))
    return table(name, catalogue, title, [("system", "text"), *((form, "pair") for form in used)], rows)


def masking(material: Material) -> Table:
    """S5a: what a system loses when it is not told one of the conditions.

    The difference is over queries that have the condition; the same qrels, paired family bootstrap.
    """
    name, catalogue, title = "masking", "S5a", f"Without one condition ({material.measure})"
    n = material.benchmark.judgments.n
    places = range(1, int(n.max(initial=0)) + 1)
    rows: list[tuple[Value, ...]] = []
    for whole in material.whole():
        masked = [material.of_system(whole.entry.system, material.form, place) for place in places]
        if any(masked):
            cells = [
                None if one is None else _difference(material, whole, one, n >= place)
                for place, one in zip(places, masked, strict=True)
            ]
            rows.append((whole.entry.system, *cells))
    if not rows:
        return missing(name, catalogue, title, "no run of the manifest has a masked_condition")
    columns: list[tuple[str, Kind]] = [(f"c{place} ({int((n >= place).sum())})", "starred") for place in places]
    return table(
        name,
        catalogue,
        title,
        [("system", "text"), *columns],
        rows,
        [_star(material), "a condition that not every query has is measured on those that have it (their number)"],
    )


def diagnostics(material: Material) -> Table:
    """S5b: how each system treats judged documents."""
    name, catalogue, title = "diagnostics", "S5b", "Diagnostics"
    runs = material.whole()
    if not runs:
        return missing(name, catalogue, title, "there is no fair run on whole queries")
    rows: list[tuple[Value, ...]] = []
    for one in runs:
        score = one.score
        rows.append(
            (
                one.entry.system,
                (score.miss, score.partial_first, score.gold_first),
                score.auc,
                score.mean_first_judged,
                score.judged,
                score.ndcg_lin.value,
                score.ndcg_exp.value,
                score.tied_documents,
                len(score.missing_queries),
            )
        )
    columns: list[tuple[str, Kind]] = [
        ("system", "text"),
        ("miss/partial/gold", "shares"),
        ("AUC", "number"),
        ("first judged", "number"),
        ("judged", "points"),
        ("NDCG lin", "points"),
        ("NDCG exp", "points"),
        ("tied", "count"),
        ("missing", "count"),
    ]
    return table(name, catalogue, title, columns, rows)


def curve(material: Material) -> Table:
    """n-Clue Score by cut-off."""
    name, catalogue, title = "curve", "S5b", "n-Clue Score and Gold Hit by cut-off"
    runs = material.whole()
    if not runs:
        return missing(name, catalogue, title, "there is no fair run on whole queries")
    depth = max(one.ranking.docs.shape[1] for one in runs)
    cut_offs = [k for k in CUT_OFFS if k <= depth]
    scorer = material.scorer
    truths = [Truth.of(material.benchmark.judgments, k, scorer.truth.labels) for k in cut_offs]
    rows: list[tuple[Value, ...]] = []
    for one in runs:
        means = [scorer.values(one.ranking, truth)[:, :2].mean(axis=0).tolist() for truth in truths]
        rows.append((one.entry.system, *((n_clue, hit) for n_clue, hit in means)))
    return table(name, catalogue, title, [("system", "text"), *((f"@{k}", "pair") for k in cut_offs)], rows)


def pages(material: Material) -> Table:
    """Gold+Support@k of page-aware runs."""
    name, catalogue, title = "pages", "S5b", "Pages shown of retrieved golds"
    rows: list[tuple[Value, ...]] = []
    for one in material.whole():
        found = one.score.pages
        if found is not None:
            rows.append(
                (
                    one.entry.system,
                    found.gold_support,
                    found.n_queries_with_gold,
                    found.condition_coverage,
                    found.all_conditions,
                    found.coverage_per_gold,
                )
            )
    if not rows:
        reason = "no run is page-aware" if material.benchmark.page_sets else "the judgments name no pages"
        return missing(name, catalogue, title, reason)
    columns: list[tuple[str, Kind]] = [
        ("system", "text"),
        (f"Gold+Support@{material.scorer.options.k}", "points"),
        ("with gold", "count"),
        ("coverage", "points"),
        ("all conditions", "points"),
        ("per gold", "points"),
    ]
    return table(name, catalogue, title, columns, rows)


def shared_ranks(values: Sequence[float]) -> Iterator[int]:
    """Ranks of falling values: equal ones have the first of their places."""
    rank = 1
    for place, value in enumerate(values):
        if place and value != values[place - 1]:
            rank = place + 1
        yield rank


_THREE: Final[tuple[tuple[str, Kind], ...]] = (("Score", "points"), ("Hit", "points"), ("Gold-NDCG", "points"))


def _three(one: Measured) -> tuple[float, float, float]:
    return one.score.n_clue_score.value, one.score.gold_hit.value, one.score.gold_ndcg.value


def _pair(one: Measured) -> tuple[float, float]:
    return one.score.n_clue_score.value, one.score.gold_hit.value


def _interval(score: MeasureScore) -> tuple[float, float] | None:
    return None if score.low is None or score.high is None else (score.low, score.high)


def _difference(
    material: Material,
    base: Measured,
    variant: Measured,
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None,
) -> tuple[float, float, float] | None:
    """Variant minus base with its paired interval, over some of the queries."""
    wanted = np.ones(len(base.values), dtype=np.bool_) if chosen is None else chosen
    if not wanted.any():
        return None
    delta = (variant.on(material.measure) - base.on(material.measure))[wanted]
    interval = material.draws_for(wanted).intervals(delta)[0]
    return interval.value, interval.low, interval.high


def _star(material: Material) -> str:
    return f"differences in {material.measure}; * where the 95 % interval by family excludes 0"
