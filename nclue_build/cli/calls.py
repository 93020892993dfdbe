"""The verbs of ``nclue-build calls``: recorded model calls, out to be answered and back in."""

from pathlib import Path
from typing import Annotated

import typer

from nclue_build.cli.options import with_common_options
from nclue_build.cli.reply import Reply
from nclue_build.cli.session import Session

calls = typer.Typer(rich_markup_mode=None, help="Recorded model calls, to be answered and replayed.")


@calls.callback()
@with_common_options
def _calls(session: Session) -> None:
    """Recorded model calls, to be answered and replayed."""


@calls.command()
@with_common_options
def status(session: Session) -> Reply:
    """Count recorded, used, orphaned and missing calls."""
    from nclue_build.cli.render_calls import status_reply
    from nclue_build.workflow.calls import calls_status

    return status_reply(calls_status(session.workspace, session.build))


@calls.command()
@with_common_options
def estimate(session: Session) -> Reply:
    """Size up the calls of the next round."""
    from nclue_build.cli.render_calls import estimate_reply
    from nclue_build.workflow.estimating import estimate_calls

    return estimate_reply(estimate_calls(session.workspace, session.build))


@calls.command()
@with_common_options
def export(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Batch file to write (JSONL).")],
    *,
    optional: Annotated[
        bool, typer.Option("--optional", help="The calls the build can do without (paraphrases) instead.")
    ] = False,
) -> Reply:
    """Write the missing calls as a batch file."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.render_calls import export_reply
    from nclue_build.workflow.calls import export_calls

    with make_display(quiet=session.quiet) as display:
        return export_reply(export_calls(session.workspace, session.build, file, optional=optional, progress=display))


@calls.command(name="import")
@with_common_options
def import_(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Answers, in the shape of batch results (JSONL).")],
    *,
    answered_by: Annotated[
        str, typer.Option("--answered-by", metavar="NAME", help="Who answered; every report says so.")
    ],
    keep_failures: Annotated[
        bool, typer.Option("--keep-failures", help="Also record replies without a usable text, as a live call would.")
    ] = False,
) -> Reply:
    """Record the answers of a file; all others are refused."""
    from nclue_build.cli.render_calls import import_reply
    from nclue_build.workflow.calls import import_calls

    return import_reply(import_calls(session.workspace, session.build, file, answered_by, keep_failures=keep_failures))


@calls.command()
@with_common_options
def verify(session: Session) -> Reply:
    """Hash every record again; exit 1 on a finding."""
    from nclue_build.cli.render_calls import verify_reply
    from nclue_build.workflow.calls import verify_recorded

    return verify_reply(*verify_recorded(session.workspace, session.build))


@calls.command()
@with_common_options
def why(
    session: Session,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of a call, or the beginning of it.")],
) -> Reply:
    """Show one call: request, reply, who answered, what uses it."""
    from nclue_build.cli.render_calls import why_reply
    from nclue_build.workflow.calls import explain_call

    return why_reply(explain_call(session.workspace, session.build, key))


@calls.command()
@with_common_options
def agree(session: Session) -> Reply:
    """Compare the model's verdicts with those of the rules."""
    from nclue_build.cli.render_calls import agree_reply
    from nclue_build.workflow.calls import compare_judges

    return agree_reply(compare_judges(session.workspace, session.build))


@calls.command()
@with_common_options
def prune(
    session: Session,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Remove them; without it they are only listed.")] = False,
) -> Reply:
    """List the recorded calls that the build does not use."""
    from nclue_build.cli.render_calls import prune_reply
    from nclue_build.workflow.calls import prune_calls

    return prune_reply(prune_calls(session.workspace, session.build, apply=apply), applied=apply)


@calls.command()
@with_common_options
def probe(session: Session) -> Reply:
    """Ask the live service a few tiny questions."""
    from nclue_build.cli.render_calls import probe_reply
    from nclue_build.workflow.probing import probe_service

    return probe_reply(probe_service(session.workspace, session.build))


@calls.command()
@with_common_options
def seal(session: Session) -> Reply:
    """Fold interrupted recordings into the frozen outputs."""
    from nclue_build.cli.render_calls import seal_reply
    from nclue_build.workflow.calls import seal_calls

    return seal_reply(seal_calls(session.workspace, session.build))
