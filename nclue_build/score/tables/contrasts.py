"""Tables with a row per displayed contrast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.score.tables.material import missing, table, turned
from nclue_build.score.tables.runs import FORMS
from nclue_build.stats.randomization import flip_p_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.comparison import ContrastResult, Difference, Influence, Shares
    from nclue_build.records.tables import Kind, Table, Value
    from nclue_build.score.tables.material import Material, Measured

_NO_CONTRAST: Final = "no contrast is displayed: declare some in the configuration ([score] contrasts), or name pairs"


def _displayed(material: Material) -> list[ContrastResult]:
    found = material.comparison.contrasts if material.comparison is not None else ()
    return [one for one in found if one.contrast.displayed]


def contrasts(material: Material) -> Table:
    """S1e: differences with intervals and adjusted p."""
    name, catalogue, title = "contrasts", "S1e", "Contrasts, variant minus base"
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    rows: list[tuple[Value, ...]] = []
    for one in found:
        score = one.differences["n_clue_score"]
        rows.append(
            (
                _label(one),
                one.contrast.status,
                score.value,
                _range(score),
                one.differences["gold_hit"].value,
                one.differences["gold_ndcg"].value,
                one.p_query,
                one.p_family,
                one.p_block,
                one.p_holm,
                one.smallest_detectable,
            )
        )
    columns: list[tuple[str, Kind]] = [
        ("contrast", "text"),
        ("status", "text"),
        ("dScore", "signed"),
        ("95 % by family", "signed_interval"),
        ("dHit", "signed"),
        ("dNDCG", "signed"),
        ("p query", "p"),
        ("p family", "p"),
        ("p block", "p"),
        ("p Holm", "p"),
        ("detectable", "points"),
    ]
    tried = len(material.contrasts)
    tests = (
        f"block: max-|T| over all {tried} contrasts tried, within their blocks; Holm over the {len(found)} displayed"
    )
    notes = [f"p of {material.measure}; {tests}"]
    if any(one.contrast.post_hoc for one in found):
        notes.append("+ chosen after its score was known")
    return table(name, catalogue, title, columns, rows, notes)


def ordering(material: Material) -> Table:
    """S1f: order of golds and subsets where both runs retrieve a gold."""
    name, catalogue, title = "ordering", "S1f", "Ordering on common support"
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    columns: list[tuple[str, Kind]] = [
        ("contrast", "text"),
        ("common n", "count"),
        ("dD", "signed"),
        ("base M/P/G", "shares"),
        ("variant M/P/G", "shares"),
    ]
    rows = [
        (
            _label(one),
            one.ordering.n_common,
            one.ordering.mean,
            _split(one.ordering.base),
            _split(one.ordering.variant),
        )
        for one in found
    ]
    return table(
        name, catalogue, title, columns, rows, ["shares are of all queries: M miss, P partial first, G gold first"]
    )


def dependence(material: Material) -> Table:
    """S1g: how the difference hangs on documents."""
    name, catalogue, title = "dependence", "S1g", f"Dependence on documents ({material.measure})"
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    columns: list[tuple[str, Kind]] = [
        ("contrast", "text"),
        ("document macro", "signed"),
        ("crossed, all judged", "signed_interval"),
        ("leave one out", "signed_interval"),
        ("one query each", "signed_interval"),
    ]
    rows = [
        (
            _label(one),
            one.document_macro,
            _range(one.judged.crossed),
            _leave_one(one.judged),
            _range(one.one_query_per_document),
        )
        for one in found
    ]
    notes = ["one query each shows what thinning does: it is no sampling error"]
    return table(name, catalogue, title, columns, rows, notes)


def bounds(material: Material) -> Table:
    """S1h: the lowest difference after promotions of judged subsets."""
    name, catalogue, title = "bounds", "S1h", f"Lowest difference after promotions ({material.measure})"
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    if not found[0].bounds:
        return missing(name, catalogue, title, f"{material.measure} has no bound: use n_clue_score or gold_ndcg")
    promotions = [bound.promotions for bound in found[0].bounds]
    rows = [
        (
            _label(one),
            one.differences[material.measure].value,
            *(bound.low for bound in one.bounds),
            one.fewest_promotions,
        )
        for one in found
    ]
    columns: list[tuple[str, Kind]] = [("contrast", "text"), ("observed", "signed")]
    columns += [(f"<={n}", "signed") for n in promotions]
    columns.append(("fewest to zero", "count"))
    notes = ["per query, up to so many judged subsets become golds; fewest to zero: in total, for n-Clue Score"]
    return table(name, catalogue, title, columns, rows, notes)


def graph(material: Material) -> Table:
    """S1i: what the graph of queries and documents does to a contrast, which has a column."""
    name, catalogue, title = "graph", "S1i", f"Shared documents ({material.measure})"
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    judgments = material.benchmark.judgments
    n_golds = len(np.unique(judgments.docs[judgments.gold]))
    golds, judged = max(one.golds.n_removed for one in found), max(one.judged.n_removed for one in found)
    rows: list[tuple[str, Kind, Callable[[ContrastResult], Value]]] = [
        ("queries / golds", "counts", lambda _: (len(judgments.query_ids), n_golds)),
        ("components (largest)", "counted", lambda one: (one.golds.components, one.golds.largest_component)),
        ("gap", "signed", lambda one: one.differences[material.measure].value),
        ("crossed, golds", "signed_interval", lambda one: _range(one.golds.crossed)),
        ("leave one out", "signed_interval", lambda one: _leave_one(one.golds)),
        (f"without the {golds} busiest (queries left)", "left", lambda one: _rest(one.golds)),
        (
            "all judged: components (largest)",
            "counted",
            lambda one: (one.judged.components, one.judged.largest_component),
        ),
        ("all judged: crossed", "signed_interval", lambda one: _range(one.judged.crossed)),
        ("all judged: leave one out", "signed_interval", lambda one: _leave_one(one.judged)),
        (f"all judged: without the {judged} busiest (queries left)", "left", lambda one: _rest(one.judged)),
    ]
    return turned(
        name,
        catalogue,
        title,
        [f"{material.benchmark.name}: {_label(one)}" for one in found],
        [(label, kind, list(map(of, found))) for label, kind, of in rows],
        ["golds are distinct documents; components are counted in queries; - where no query is left"],
    )


def by_form(material: Material) -> Table:
    """S4: the displayed contrasts on every form both systems were run on."""
    name, catalogue, title = "contrasts_by_form", "S4", f"Contrasts by form of the queries ({material.measure})"
    used = [form for form in FORMS if material.whole(form)]
    found = _displayed(material)
    if not found:
        return missing(name, catalogue, title, _NO_CONTRAST)
    rows: list[tuple[Value, ...]] = []
    for one in found:
        base, variant = material.runs[one.contrast.base].entry, material.runs[one.contrast.variant].entry
        cells = [
            _tested(material, material.of_system(base.system, form), material.of_system(variant.system, form))
            for form in used
        ]
        if sum(cell is not None for cell in cells) > 1:
            rows.append((_label(one), *cells))
    if not rows:
        return missing(name, catalogue, title, "no displayed contrast has runs of both systems on two forms")
    notes = ["difference and p of sign flips by family, not adjusted"]
    return table(name, catalogue, title, [("contrast", "text"), *((form, "tested") for form in used)], rows, notes)


def _tested(material: Material, base: Measured | None, variant: Measured | None) -> tuple[float, float] | None:
    if base is None or variant is None:
        return None
    delta = variant.on(material.measure) - base.on(material.measure)
    p_value = flip_p_values(delta, material.scorer.families, seed=material.scorer.options.seed)[0]
    return float(np.mean(delta)), float(p_value)


def _label(one: ContrastResult) -> str:
    return one.contrast.name + (" +" if one.contrast.post_hoc else "")


def _range(difference: Difference) -> tuple[float, float]:
    return difference.low, difference.high


def _leave_one(part: Influence) -> tuple[float, float] | None:
    return (
        None if part.leave_one_low is None or part.leave_one_high is None else (part.leave_one_low, part.leave_one_high)
    )


def _rest(part: Influence) -> tuple[float, float] | None:
    return None if part.remove_busiest is None else (part.remove_busiest, part.n_queries_left)


def _split(shares: Shares) -> tuple[float, float, float]:
    return shares.miss, shares.partial_first, shares.gold_first
