"""The verbs of ``nclue-build report``: a sample of a build to read, and the verdicts on it."""

from pathlib import Path
from typing import Annotated

import typer

from nclue_build.cli.options import with_common_options
from nclue_build.cli.reply import Reply
from nclue_build.cli.session import Session

report = typer.Typer(rich_markup_mode=None, help="Read a sample of a build, and count verdicts.")


@report.callback()
@with_common_options
def _report(session: Session) -> None:
    """Read a sample of a build, and count verdicts."""


Drawn = Annotated[int, typer.Option(metavar="N", min=0, help="How many of them to draw.")]


@report.command()
@with_common_options
def sheet(  # noqa: PLR0913 - the options of the verb
    session: Session,
    *,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the draw.")] = 11,
    conditions: Drawn = 60,
    clusters: Drawn = 40,
    facts: Drawn = 40,
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", min=0, help="How many to draw of every relaxation step.")
    ] = 25,
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw again although the sheet has verdicts.")] = False,
) -> Reply:
    """Draw a sample of the build to read against its pages."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.render_reading import sheet_reply
    from nclue_build.reading.sample import Sizes
    from nclue_build.workflow.reading import draw_sheet

    sizes = Sizes(conditions, clusters, facts, queries)
    with make_display(quiet=session.quiet) as display:
        return sheet_reply(
            draw_sheet(session.workspace, session.build, seed=seed, sizes=sizes, fresh=fresh, progress=display)
        )


@report.command()
@with_common_options
def verdicts(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A sheet.jsonl with verdicts.")],
    *,
    without_text: Annotated[
        Path | None,
        typer.Option("--without-text", metavar="OUT", help="Also write the rows to OUT, without page text."),
    ] = None,
) -> Reply:
    """Count the verdicts on a sheet: shares with intervals."""
    from nclue_build.cli.render_reading import verdicts_reply
    from nclue_build.workflow.reading import read_verdicts

    return verdicts_reply(read_verdicts(file, session.workspace, session.build, without_text=without_text))
