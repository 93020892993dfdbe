"""``tables``: every table of a set of runs; imports wait until the verb is used."""

from pathlib import Path
from typing import Annotated

import typer

from nclue_build.cli.reply import Reply
from nclue_build.cli.runs import (
    AllowUnknown,
    BenchmarkCopy,
    Contrasts,
    CutOff,
    DrawSeed,
    MeasureName,
    Runs,
    StrictTies,
)
from nclue_build.cli.session import Session


def tables(  # noqa: PLR0913 - its options
    session: Session,
    runs: Runs,
    *,
    output: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="What to print: text, markdown, latex or csv.")
    ] = "text",
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="TABLE", help="Print this table; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write all tables in every format there.")
    ] = None,
    plots: Annotated[bool, typer.Option("--plots", help="Also draw plots there (SVG and PNG).")] = False,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Stored tables.json that these must agree with.")
    ] = None,
    form: Annotated[
        str, typer.Option("--form", metavar="FORM", help="Rendering of the queries whose runs are ranked.")
    ] = "raw",
    contrast: Contrasts = None,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="DIR", help="Copy of the benchmark to compare orders with.")
    ] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="QUERY", help="Query whose labels are shown.")
    ] = None,
    measure: MeasureName = "n_clue_score",
    k: CutOff = 10,
    ties: StrictTies = "input",
    seed: DrawSeed = 11,
    benchmark: BenchmarkCopy = None,
    allow_unknown: AllowUnknown = False,
) -> Reply:
    """Make every table of a set of runs, and check stored ones."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.scores import FORMATS, tables_reply
    from nclue_build.cli.values import one_of
    from nclue_build.score.comparison import CompareOptions
    from nclue_build.score.scorer import MEASURES, ScoreOptions
    from nclue_build.score.tables.catalogue import TABLES
    from nclue_build.score.tables.runs import FORMS
    from nclue_build.workflow.tabulating import TableOptions, make_tables

    shown = one_of("--format", output, tuple(FORMATS))
    printed = [one_of("--only", name, TABLES) for name in only or ()]
    wanted = TableOptions(one_of("--form", form, FORMS), tuple(contrast or ()), against, example, out, plots, check)
    with make_display(quiet=session.quiet) as display:
        made = make_tables(
            runs,
            session.workspace,
            session.build,
            options=ScoreOptions(k, one_of("--ties", ties, ("input", "trec", "worst")), seed=seed),
            compare=CompareOptions(one_of("--measure", measure, MEASURES)),
            tables=wanted,
            benchmark=benchmark,
            allow_unknown=allow_unknown,
            progress=display,
        )
    return tables_reply(made, shown, printed)
