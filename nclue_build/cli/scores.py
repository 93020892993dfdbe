"""Scores as replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.cli.reply import Reply
from nclue_build.core.errors import EXIT_FINDINGS
from nclue_build.core.phrases import counted
from nclue_build.score.typesetting import aligned, as_csv, latex, markdown, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nclue_build.records.comparison import ComparisonReport, ContrastResult, Difference, Influence, Shares
    from nclue_build.records.scores import MeasureScore, RunScore, ScoreReport
    from nclue_build.records.tables import Table
    from nclue_build.workflow.scoring import Scored
    from nclue_build.workflow.tabulating import Tabulated

FORMATS: Final[dict[str, Callable[[Table], str]]] = {"text": text, "markdown": markdown, "latex": latex, "csv": as_csv}
"""How ``tables`` prints."""


def score_reply(scored: Scored, per_query: Path | None) -> Reply:
    """Reply of ``score``: a table of the runs, best first, then curves and slices."""
    report = scored.report
    ranked = sorted(report.runs, key=lambda run: (-run.n_clue_score.value, -run.gold_hit.value, run.run_id))
    sizes = f"{counted(report.n_queries, 'query')} in {counted(report.n_families, 'gold family')}"
    lines = [
        f"build {report.build!r}: {sizes}, qrels {report.qrels_sha256[:12]}, k = {report.k}, ties: {report.ties}",
        *columns(
            ("run", "n-Clue", "95 %", "Hit", "Gold-NDCG", "NDCG lin", "exp", "miss/partial/gold", "judged"),
            [_cells(run) for run in ranked],
        ),
    ]
    if report.runs and report.runs[0].curve:
        lines += ["", "by cut-off (n-Clue / Hit / Gold-NDCG)", *_curves(ranked)]
    lines += ["", "by slice (n-Clue / Hit; queries in brackets)", *_slices(ranked)]
    if any(run.pages for run in ranked):
        lines += ["", *_pages(ranked, report)]
    lines += [f"blocked: {one.run_id}: {one.reason}" for one in scored.blocked]
    if per_query is not None:
        lines.append(f"wrote {per_query}: a row per run and query")
    result = report.model_dump(mode="json") | {"blocked": {one.run_id: one.reason for one in scored.blocked}}
    return Reply(result, "\n".join(lines), scored.findings)


def tables_reply(made: Tabulated, output: str, only: Sequence[str]) -> Reply:
    """Reply of ``tables``: the tables wanted in a format; exit 1 when they are not those that were declared."""
    by_name = {table.name: table for table in made.report.tables}
    shown = [by_name[name] for name in only] if only else list(by_name.values())
    lines = [FORMATS[output](table).rstrip("\n") + "\n" for table in shown]
    if made.written and output == "text":
        lines.append(f"wrote {counted(len(made.written), 'file')} in {made.written[0].parent}")
    exit_code = EXIT_FINDINGS if made.drift else 0
    return Reply(
        made.report.model_dump(mode="json"), "\n".join(lines).rstrip("\n"), (*made.drift, *made.remarks), exit_code
    )


def compare_reply(report: ComparisonReport) -> Reply:
    """Reply of ``compare``: differences and tests, then ordering, influence and bounds."""
    contrasts = report.contrasts
    sizes = f"{counted(report.n_queries, 'query')} in {counted(report.n_families, 'gold family')}"
    lines = [
        f"build {report.build!r}: {sizes}, qrels {report.qrels_sha256[:12]}, k = {report.k}, ties: {report.ties}",
        f"variant minus base in points; tests, influence and bounds on {report.measure}, seed {report.seed}",
        *columns(
            (
                "contrast",
                "n-Clue",
                "95 % by family",
                "Hit",
                "Gold-NDCG",
                "p query",
                "family",
                "block",
                "Holm",
                "detectable",
            ),
            [_contrast_cells(one) for one in contrasts],
        ),
        "",
        *columns(
            ("ordering", "common", "gold first", "mean", "base m/p/g", "variant m/p/g"),
            [
                (
                    one.contrast.name,
                    str(one.ordering.n_common),
                    f"{one.ordering.difference:+d}",
                    _signed(one.ordering.mean),
                    _split(one.ordering.base),
                    _split(one.ordering.variant),
                )
                for one in contrasts
            ],
        ),
        "",
        *columns(
            ("influence", "over", "components (largest)", "crossed 95 %", "leave one out", "without busiest (queries)"),
            [
                (one.contrast.name, over, *_influence_cells(influence))
                for one in contrasts
                for over, influence in (("golds", one.golds), ("judged", one.judged))
            ],
        ),
        "",
        *columns(
            ("labels", "document macro", "one query each", "<=1", "<=2", "<=3", "fewest to zero"),
            [_label_cells(one) for one in contrasts],
        ),
        "  (one query each shows what thinning does: it is no sampling error)",
    ]
    return Reply(report.model_dump(mode="json"), "\n".join(lines))


def _contrast_cells(one: ContrastResult) -> tuple[str, ...]:
    score = one.differences["n_clue_score"]
    return (
        one.contrast.name,
        _signed(score.value),
        _range(score),
        _signed(one.differences["gold_hit"].value),
        _signed(one.differences["gold_ndcg"].value),
        *(_p_value(value) for value in (one.p_query, one.p_family, one.p_block, one.p_holm)),
        f"{one.smallest_detectable:.1f}",
    )


def _influence_cells(influence: Influence) -> tuple[str, ...]:
    return (
        f"{influence.components} ({influence.largest_component})",
        _range(influence.crossed),
        f"{_signed(influence.leave_one_low)} to {_signed(influence.leave_one_high)}",
        f"{_signed(influence.remove_busiest)} ({influence.n_queries_left})",
    )


def _label_cells(one: ContrastResult) -> tuple[str, ...]:
    bounds = [f"{_signed(bound.low)} to {_signed(bound.high)}" for bound in one.bounds] or ["-"] * 3
    fewest = "-" if one.fewest_promotions is None else str(one.fewest_promotions)
    return (
        one.contrast.name,
        _signed(one.document_macro),
        _range(one.one_query_per_document),
        *bounds,
        fewest,
    )


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def _range(difference: Difference) -> str:
    return f"{difference.low:+.1f} to {difference.high:+.1f}"


def _p_value(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _split(shares: Shares) -> str:
    return "/".join(f"{share:.3f}".lstrip("0") for share in (shares.miss, shares.partial_first, shares.gold_first))


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of text: the first column to the left, the others to the right."""
    return aligned(header, rows, [place == 0 for place in range(len(header))])


def _cells(run: RunScore) -> tuple[str, ...]:
    shares = "/".join(f"{share:.3f}".lstrip("0") for share in (run.miss, run.partial_first, run.gold_first))
    return (
        run.run_id,
        f"{run.n_clue_score.value:.1f}",
        _interval(run.n_clue_score),
        f"{run.gold_hit.value:.1f}",
        f"{run.gold_ndcg.value:.1f}",
        f"{run.ndcg_lin.value:.1f}",
        f"{run.ndcg_exp.value:.1f}",
        shares,
        f"{run.judged:.1f}",
    )


def _interval(score: MeasureScore) -> str:
    return "-" if score.low is None or score.high is None else f"{score.low:.1f}-{score.high:.1f}"


def _curves(runs: Sequence[RunScore]) -> list[str]:
    header = ("run", *(f"@{point.k}" for point in runs[0].curve))
    rows = [
        (run.run_id, *(f"{one.n_clue_score:.1f}/{one.gold_hit:.1f}/{one.gold_ndcg:.1f}" for one in run.curve))
        for run in runs
    ]
    return columns(header, rows)


def _slices(runs: Sequence[RunScore]) -> list[str]:
    """A table per stratum, so that many runs and many slices stay readable."""
    if not runs:
        return []
    lines: list[str] = []
    for stratum in dict.fromkeys(one.stratum for one in runs[0].slices):
        places = [place for place, one in enumerate(runs[0].slices) if one.stratum == stratum]
        slices = [runs[0].slices[place] for place in places]
        header = (stratum, *(f"{one.value} ({one.n_queries})" for one in slices))
        rows = [
            (run.run_id, *(f"{run.slices[at].n_clue_score:.1f}/{run.slices[at].gold_hit:.1f}" for at in places))
            for run in runs
        ]
        lines += columns(header, rows)
    return lines


def _pages(runs: Sequence[RunScore], report: ScoreReport) -> list[str]:
    def percent(value: float | None) -> str:
        return "-" if value is None else f"{value:.1f}"

    rows = [
        (
            run.run_id,
            percent(run.pages.gold_support),
            str(run.pages.n_queries_with_gold),
            percent(run.pages.condition_coverage),
            percent(run.pages.all_conditions),
            percent(run.pages.coverage_per_gold),
        )
        for run in runs
        if run.pages is not None
    ]
    header = ("page-aware run", f"Gold+Support@{report.k}", "with gold", "coverage", "all conditions", "per gold")
    return columns(header, rows)
