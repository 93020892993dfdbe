"""The verb ``repair``; imports wait until it is used."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from nclue_build.cli.reply import Reply
from nclue_build.cli.session import Session

if TYPE_CHECKING:
    from nclue_build.records.repair import RepairReport


def repair(
    session: Session,
    *,
    decisions: Annotated[
        Path, typer.Option("--decisions", metavar="FILE", help="What an audit concluded (decisions.jsonl).")
    ],
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="inventory: every query; pair: the audited query alone.")
    ] = "inventory",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; write nothing.")] = False,
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", metavar="RUN", help="Score this run before and after; repeatable.")
    ] = None,
) -> Reply:
    """Apply decisions: a new inventory version and benchmark."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.values import one_of
    from nclue_build.records.repair import Scope
    from nclue_build.workflow.repairing import RepairOptions, repair_build

    options = RepairOptions(one_of("--scope", scope, get_args(Scope)), dry_run, tuple(runs or ()))
    with make_display(quiet=session.quiet) as display:
        return repair_reply(
            repair_build(decisions, session.workspace, session.build, options=options, progress=display)
        )


def repair_reply(report: "RepairReport") -> Reply:
    """Reply of ``repair``: counts, queries that go, conflicts of scope, and what it does to runs."""
    import json

    from nclue_build.cli.reply import table
    from nclue_build.core.phrases import counted

    result: dict[str, object] = json.loads(report.model_dump_json())
    found = report.transitions
    if found is None:
        applied = f"P{report.version} has applied all {counted(report.known_decisions, 'decision')} of the file"
        said = f"nothing new, {applied}" if report.known_decisions else "the file holds no decisions, nothing is done"
        return Reply(result, f"build {report.build!r}: {said}")
    head = f"build {report.build!r}: P{found.from_version} -> P{found.to_version}" + (
        " (dry run: nothing is written)" if report.dry_run else ""
    )
    effects = ", ".join(f"{count} {name}" for name, count in found.effects.items())
    rows: list[tuple[str, object]] = [
        ("decisions", f"{report.new_decisions} new ({effects}), {report.known_decisions} known, scope {found.scope}"),
        *(
            (name, f"{before} -> {after}")
            for name, (before, after) in (
                ("queries", found.queries),
                ("judgments", found.qrels),
                ("golds", found.golds),
            )
        ),
        ("grades", ", ".join(f"{key} {count}" for key, count in found.grades.items())),
        ("became gold", found.subset_to_gold),
        ("no longer gold", found.gold_to_subset),
        ("moved, not audited", found.unaudited_changes),
    ]
    lines = [head, table(rows)]
    for title, queries in (("removed", found.removed_queries), ("back", found.restored_queries)):
        lines += [
            f"  {title}: {row.query_id} ({'; '.join(row.concepts)}), {counted(row.qrels, 'judgment')}: "
            + row.reason.replace("_", " ")
            for row in queries
        ]
    if report.runs:
        lines += ["", "runs (n-Clue Score / Gold Hit / Gold-NDCG)"]
        measures = ("n_clue_score", "gold_hit", "gold_ndcg")
        lines += [
            f"  {row.run_id}: " + " / ".join(f"{row.before[name]:.2f} -> {row.after[name]:.2f}" for name in measures)
            for row in report.runs
        ]
        lines += [
            f"  order by {row.measure}: Spearman {row.spearman:.4f}, tau-b {row.kendall_tau_b:.4f}"
            for row in report.agreement
            if row.spearman is not None and row.kendall_tau_b is not None and row.measure in measures
        ]
    if not report.dry_run:
        lines += ["", "what changed and why: changes.md beside the benchmark. Next: nclue-build gate"]
    return Reply(result, "\n".join(lines))
