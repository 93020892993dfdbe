"""The verbs of ``nclue-build audit``: an audit as files in a folder, one step a verb."""

from pathlib import Path
from typing import Annotated

import typer

from nclue_build.cli.options import with_common_options
from nclue_build.cli.reply import Reply, table
from nclue_build.cli.session import Session

audit = typer.Typer(rich_markup_mode=None, help="Have people check a sample of the judgments, step by step.")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the audit's files.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of everything that is drawn.")]


@audit.callback()
@with_common_options
def _audit(session: Session) -> None:
    """Have people check a sample of the judgments, step by step."""


@audit.command()
@with_common_options
def sample(
    session: Session,
    folder: Folder,
    *,
    size: Annotated[int, typer.Option("--size", metavar="N", min=1, help="Judged pairs to draw.")] = 300,
    zero: Annotated[int, typer.Option("--zero", metavar="N", min=0, help="Pairs of grade 0 to draw as well.")] = 0,
    seed: Seed = 11,
) -> Reply:
    """Draw pairs by strata: a blind packet and its key."""
    from collections import Counter

    from nclue_build.workflow.auditing import draw_audit

    key = draw_audit(folder, session.workspace, session.build, size=size, zero=zero, seed=seed)
    strata = Counter(item.stratum for item in key.items)
    available = {item.stratum: item.available for item in key.items}
    rows: list[tuple[str, object]] = [(name, f"{strata[name]} of {available[name]}") for name in sorted(strata)]
    result = {"items": len(key.items), "strata": {name: [strata[name], available[name]] for name in sorted(strata)}}
    return Reply(result, f"{len(key.items)} pairs drawn into {folder}\n{table(rows)}")


@audit.command(name="import")
@with_common_options
def import_(session: Session, folder: Folder) -> Reply:
    """Check all responses in the folder; exit 1 on a finding."""
    from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK
    from nclue_build.workflow.auditing import check_responses

    found = check_responses(folder, session.workspace, session.build)
    result = {
        "evaluators": found.evaluators,
        "collapsed": found.collapsed,
        "answers": found.answers,
        "quotes": found.quotes,
    }
    rows: list[tuple[str, object]] = [
        *((name, ", ".join(who)) for name, who in found.evaluators.items()),
        ("copies of another", ", ".join(found.collapsed)),
        ("answers", found.answers),
        ("quotes", found.quotes),
        ("verdict", "whole" if not found.findings else f"{len(found.findings)} findings"),
    ]
    return Reply(result, table(rows), found.findings, EXIT_FINDINGS if found.findings else EXIT_OK)


@audit.command()
@with_common_options
def score(
    session: Session,
    folder: Annotated[Path | None, typer.Argument(metavar="FOLDER", help="Folder of the audit's files.")] = None,
    *,
    confusion: Annotated[
        Path | None, typer.Option("--confusion", metavar="FILE", help="A table of grades instead (JSON rows).")
    ] = None,
    seed: Seed = 11,
) -> Reply:
    """Agreement of two evaluators, with intervals."""
    from nclue_build.workflow.auditing import score_audit, score_confusion

    if (folder is None) == (confusion is None):
        raise typer.BadParameter("name a FOLDER or --confusion FILE")
    if confusion is not None:
        found = score_confusion(confusion, seed)
    else:
        assert folder is not None  # noqa: S101 - for the type checker: one of both is there
        found = score_audit(folder, session.workspace, session.build, seed=seed)
    result = found.model_dump(mode="json")

    def shares(name: str) -> str:
        one = result[name]
        return (
            ""
            if one is None
            else f"{one['count']}/{one['total']} = {one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"
        )

    interval = found.kappa_linear_interval
    rows: list[tuple[str, object]] = [
        ("exact grade", shares("exact_grade")),
        ("condition", shares("condition")),
        ("page sets", shares("page_sets")),
        (
            "kappa, linear weights",
            _number(found.kappa_linear) + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""),
        ),
        ("kappa of conditions", _number(found.kappa_conditions)),
        ("Fleiss' kappa of conditions", _number(found.fleiss)),
    ]
    return Reply(result, table(rows))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


@audit.command()
@with_common_options
def queue(session: Session, folder: Folder) -> Reply:
    """Sort pairs: accepted, kept, or to be looked at again."""
    from collections import Counter

    from nclue_build.workflow.auditing import queue_audit

    found = queue_audit(folder, session.workspace, session.build)
    reasons = Counter(item.reason for item in found.queued)
    rows: list[tuple[str, object]] = [
        ("accepted", len(found.accepted)),
        ("kept", len(found.kept)),
        *((f"queued: {name.replace('_', ' ')}", count) for name, count in sorted(reasons.items())),
        ("open conditions", sum(len(item.open) for item in found.queued)),
        ("locked conditions", sum(len(item.locked) for item in found.queued)),
    ]
    return Reply(found.model_dump(mode="json"), table(rows))


@audit.command()
@with_common_options
def pool(session: Session, folder: Folder) -> Reply:
    """Collect more pages for every open condition."""
    from nclue_build.workflow.auditing import pool_audit

    found = pool_audit(folder, session.workspace, session.build)
    rows: list[tuple[str, object]] = [
        ("open conditions", len(found.pools)),
        ("pages to look at", found.contexts),
        *found.members.items(),
        ("held-out recall at 6", f"{found.recalled_at_6} of {found.locked}"),
        ("held-out recall at 9", f"{found.recalled_at_9} of {found.locked}"),
    ]
    return Reply(found.model_dump(mode="json"), table(rows))


@audit.command()
@with_common_options
def decide(
    session: Session,
    folder: Folder,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the decisions go (decisions.jsonl).")],
) -> Reply:
    """Turn the answers into decisions for repair."""
    from collections import Counter

    from nclue_build.workflow.auditing import decide_audit

    found = decide_audit(folder, out, session.workspace, session.build)
    counts = Counter(f"{row.basis}, {'present' if row.present else 'absent'}" for row in found)
    rows: list[tuple[str, object]] = [("decisions", len(found)), *sorted(counts.items())]
    return Reply({"decisions": len(found), "by_basis": dict(sorted(counts.items()))}, table(rows))
