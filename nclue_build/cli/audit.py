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
    rubrics: Annotated[
        Path | None,
        typer.Option("--rubrics", metavar="FILE", help="What counts for conditions, instead of their judge's words."),
    ] = None,
) -> Reply:
    """Draw pairs by strata: a blind packet and its key."""
    from collections import Counter

    from nclue_build.workflow.auditing import draw_audit

    packet, key = draw_audit(folder, session.workspace, session.build, size=size, zero=zero, seed=seed, rubrics=rubrics)
    strata = Counter(item.stratum for item in key.items)
    available = {item.stratum: item.available for item in key.items}
    asked = [one for item in packet.items for one in item.conditions]
    with_rubric = sum(one.rubric is not None for one in asked)
    rows: list[tuple[str, object]] = [(name, f"{strata[name]} of {available[name]}") for name in sorted(strata)]
    rows.append(("conditions", f"{len(asked)}, {with_rubric} with a rubric"))
    result = {
        "items": len(key.items),
        "conditions": len(asked),
        "with_rubric": with_rubric,
        "strata": {name: [strata[name], available[name]] for name in sorted(strata)},
    }
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
    """Agreement of evaluators, with intervals."""
    from nclue_build.cli.people import agreement_reply
    from nclue_build.workflow.auditing import score_audit, score_confusion

    if confusion is not None and folder is None:
        return agreement_reply(score_confusion(confusion, seed))
    if folder is not None and confusion is None:
        return agreement_reply(*score_audit(folder, session.workspace, session.build, seed=seed))
    raise typer.BadParameter("name a FOLDER or --confusion FILE")


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
    sizes = [len(row.pages) for row in found.pools]
    spread = (
        f" ({min(sizes)} to {max(sizes)} a condition, {found.contexts / len(sizes):.2f} in the mean)" if sizes else ""
    )
    rows: list[tuple[str, object]] = [
        ("open conditions", len(found.pools)),
        ("pages to look at", f"{found.contexts}{spread}"),
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

    from nclue_build.core.phrases import counted
    from nclue_build.workflow.deciding import decide_audit

    found = decide_audit(folder, out, session.workspace, session.build)
    counts = Counter(f"{row.basis}, {'present' if row.present else 'absent'}" for row in found.decisions)
    rows: list[tuple[str, object]] = [
        ("decisions", f"{len(found.decisions)} on {counted(found.facts, 'condition')} in documents"),
        *sorted(counts.items()),
        ("said again by another pair", len(found.decisions) - found.facts),
        ("denied by another pair", ", ".join(found.denied)),
        ("ties, as before", found.ties),
        ("overrides", found.overrides),
        ("in both rounds", ", ".join(found.in_both_rounds)),
    ]
    result = {
        "decisions": len(found.decisions),
        "by_basis": dict(sorted(counts.items())),
        "facts": found.facts,
        "denied": list(found.denied),
        "ties": found.ties,
        "overrides": found.overrides,
        "in_both_rounds": list(found.in_both_rounds),
    }
    return Reply(result, table(rows))
