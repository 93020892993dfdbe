"""The verbs about runs; imports wait until a verb is used."""

from pathlib import Path
from typing import Annotated

import typer

from nclue_build.cli.reply import Reply
from nclue_build.cli.session import Session

# Options that several of these verbs take.
Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run files, folders of them, or manifests.")]
CutOff = Annotated[int, typer.Option("--k", metavar="K", min=1, help="Cut-off.")]
Contrasts = Annotated[
    list[str] | None, typer.Option("--contrast", metavar="BASE:VARIANT", help="Names of two runs; may be repeated.")
]
MeasureName = Annotated[
    str, typer.Option("--measure", metavar="NAME", help="What tests, influence and bounds are about.")
]
StrictTies = Annotated[str, typer.Option("--ties", metavar="RULE", help="Equal scores: input, trec or worst.")]
DrawSeed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of everything that is drawn.")]
BenchmarkCopy = Annotated[
    Path | None, typer.Option("--benchmark", metavar="DIR", help="Another copy, such as benchmarks/NAME/at-P0.")
]
AllowUnknown = Annotated[
    bool, typer.Option("--allow-unknown", help="Drop and count rows of unknown queries and documents.")
]


def score(  # noqa: PLR0913 - its options
    session: Session,
    runs: Runs,
    *,
    k: CutOff = 10,
    curve: Annotated[str, typer.Option("--curve", metavar="K,...", help="More cut-offs, such as 1,3,5,20,100.")] = "",
    ties: Annotated[
        str, typer.Option("--ties", metavar="RULE", help="Equal scores: input, trec, worst or expected.")
    ] = "input",
    intervals: Annotated[bool, typer.Option(help="95 % intervals over exact families.")] = True,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the intervals.")] = 11,
    benchmark: BenchmarkCopy = None,
    per_query: Annotated[
        Path | None, typer.Option("--per-query", metavar="FILE", help="Also write a JSON line per run and query.")
    ] = None,
    allow_unknown: AllowUnknown = False,
) -> Reply:
    """Score runs: n-Clue Score, Gold Hit, NDCG and more."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.scores import score_reply
    from nclue_build.cli.values import one_of, whole_numbers
    from nclue_build.score.scorer import ScoreOptions
    from nclue_build.stats.rankings import TIES
    from nclue_build.workflow.scoring import score_runs

    options = ScoreOptions(k, one_of("--ties", ties, TIES), whole_numbers("--curve", curve), intervals, seed)
    with make_display(quiet=session.quiet) as display:
        scored = score_runs(
            runs,
            session.workspace,
            session.build,
            options=options,
            benchmark=benchmark,
            allow_unknown=allow_unknown,
            per_query=per_query,
            progress=display,
        )
    return score_reply(scored, per_query)


def compare(  # noqa: PLR0913 - its options
    session: Session,
    runs: Runs,
    *,
    contrast: Contrasts = None,
    measure: MeasureName = "n_clue_score",
    k: CutOff = 10,
    ties: StrictTies = "input",
    seed: DrawSeed = 11,
    benchmark: BenchmarkCopy = None,
    allow_unknown: AllowUnknown = False,
) -> Reply:
    """Compare runs: intervals, tests, influence, bounds."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.scores import compare_reply
    from nclue_build.cli.values import one_of
    from nclue_build.score.comparison import CompareOptions
    from nclue_build.score.scorer import MEASURES, ScoreOptions
    from nclue_build.workflow.comparing import compare_runs

    options = ScoreOptions(k, one_of("--ties", ties, ("input", "trec", "worst")), seed=seed)
    with make_display(quiet=session.quiet) as display:
        report = compare_runs(
            runs,
            session.workspace,
            session.build,
            pairs=contrast or (),
            options=options,
            compare=CompareOptions(one_of("--measure", measure, MEASURES)),
            benchmark=benchmark,
            allow_unknown=allow_unknown,
            progress=display,
        )
    return compare_reply(report)
