"""The verbs. Each parses, makes one library call and renders; imports wait until the verb is used."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nclue_build.cli.audit import audit
from nclue_build.cli.calls import calls
from nclue_build.cli.options import with_common_options
from nclue_build.cli.repair import repair
from nclue_build.cli.reply import Reply
from nclue_build.cli.report import report
from nclue_build.cli.runs import compare, score
from nclue_build.cli.session import Session
from nclue_build.cli.tables import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.core.spending import Spending
    from nclue_build.store.stage import Stage

app = typer.Typer(
    name="nclue-build",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _verb(function: Callable[..., Reply]) -> Callable[..., Reply]:
    app.command(name=function.__name__)(with_common_options(function))
    return function


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the shape of an option's callback
    if wanted:
        from nclue_build import __version__

        typer.echo(f"nclue-build {__version__}")
        raise typer.Exit


@app.callback()
@with_common_options
def _root(
    session: Session,
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Build conjunctive cross-page retrieval benchmarks out of folders of PDFs.

    Start with: nclue-build init DIR --pdfs FOLDER, then nclue-build -w DIR run.
    Options stand before or after the verb.
    """


def _folder(value: str) -> Path:
    if not value.strip():  # which as a path would be the current folder
        raise typer.BadParameter("is empty: name a folder")
    return Path(value)


Fresh = Annotated[bool, typer.Option("--fresh", help="Recompute, up to date or not.")]


@_verb
def init(
    session: Session,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The workspace to make.")],
    pdfs: Annotated[
        Path | None, typer.Option("--pdfs", metavar="FOLDER", help="Folder of PDFs; they stay where they are.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="Corpus file, a document a line (JSONL).")
    ] = None,
) -> Reply:
    """Make a workspace for your own PDFs, ready to run."""
    from nclue_build.cli.render import scaffold_reply
    from nclue_build.workflow.scaffold import init_workspace

    return scaffold_reply(init_workspace(folder, pdfs=pdfs, corpus=corpus, build=session.build), folder)


@_verb
def doctor(session: Session) -> Reply:
    """Say whether this machine can run a build."""
    from nclue_build.cli.render import doctor_reply
    from nclue_build.workflow.doctor import examine

    return doctor_reply(examine(session.workspace))


@_verb
def validate(session: Session) -> Reply:
    """Check files, ids, digests and receipts of a build."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.render import validation_reply
    from nclue_build.workflow.validation.build import validate_build

    with make_display(quiet=session.quiet) as display:
        return validation_reply(validate_build(session.workspace, session.build, progress=display))


@_verb
def schema(
    session: Session,  # noqa: ARG001 - every verb takes the common options
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Kind of file; without it, all are listed.")
    ] = None,
) -> Reply:
    """List the kinds of files, or print the schema of one."""
    from nclue_build.cli.render import families_reply, schema_reply
    from nclue_build.workflow.families import FAMILIES, find_family

    return families_reply(FAMILIES) if name is None else schema_reply(find_family(name))


@_verb
def fetch(
    session: Session,
    *,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Only N documents, always the same ones.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep digests that are missing so far, in documents.jsonl.")
    ] = False,
) -> Reply:
    """Download documents that have a URL, and check them."""
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.render import fetch_reply
    from nclue_build.workflow.fetching import fetch_build

    with make_display(quiet=session.quiet) as display:
        report = fetch_build(session.workspace, session.build, sample=sample, record=record, progress=display)
    return fetch_reply(report)


@_verb
def extract(
    session: Session,
    *,
    fresh: Fresh = False,
    page_json: Annotated[
        Path | None, typer.Option("--page-json", parser=_folder, metavar="DIR", help="Also write a JSON file per page.")
    ] = None,
    from_page_json: Annotated[
        Path | None,
        typer.Option("--from-page-json", parser=_folder, metavar="DIR", help="Read pages from such files, this once."),
    ] = None,
    write_md: Annotated[
        Path | None, typer.Option("--write-md", parser=_folder, metavar="DIR", help="Also write Markdown per document.")
    ] = None,
    run_mineru: Annotated[
        bool, typer.Option("--run-mineru", help="Have MinerU read documents it has not read yet, first.")
    ] = False,
) -> Reply:
    """Read the PDFs into typed blocks, page by page."""
    from nclue_build.cli.render import exported_reply
    from nclue_build.workflow.exchange import export_pages, stages_reading

    if run_mineru and from_page_json is not None:
        raise typer.BadParameter("--run-mineru and --from-page-json exclude each other")
    stages = None if from_page_json is None else stages_reading(session.workspace, from_page_json)
    reply = _run(session, "extract", "extract", fresh=fresh, fetch=False, run_mineru=run_mineru, stages=stages)
    return exported_reply(reply, export_pages(session.workspace, session.build, page_json=page_json, markdown=write_md))


@_verb
def mine(session: Session, *, fresh: Fresh = False) -> Reply:
    """Find conditions and the pages that establish them (P0)."""
    return _run(session, "mine", "mine", fresh=fresh)


@_verb
def compose(session: Session, *, fresh: Fresh = False) -> Reply:
    """Make queries and all their relevance judgments."""
    return _run(session, "compose", "compose", fresh=fresh)


@_verb
def gate(
    session: Session,
    *,
    extraction: Annotated[
        bool, typer.Option("--extraction", help="Judge only how well each source could be read.")
    ] = False,
) -> Reply:
    """Re-derive the build independently; exit 1 on a finding."""
    if extraction:
        from nclue_build.cli.progress import make_display
        from nclue_build.cli.render import extraction_reply
        from nclue_build.workflow.extraction import judge_extraction

        with make_display(quiet=session.quiet) as display:
            return extraction_reply(judge_extraction(session.workspace, session.build, progress=display))
    return _run(session, "gate", "gate", fresh=True)


@_verb
def run(  # noqa: PLR0913 - its options
    session: Session,
    *,
    first: Annotated[
        str | None, typer.Option("--from", metavar="STAGE", help="First stage: extract, mine, compose, gate.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="STAGE", help="Last stage.")] = None,
    fresh: Fresh = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is stale and why; do nothing.")] = False,
    show: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="Print N of the queries with their golds.")
    ] = 0,
    calls_mode: Annotated[
        str | None, typer.Option("--calls", metavar="MODE", help="Model calls: frozen, record or refresh.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=0, help="Stop before more live calls.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=0, help="Stop before more tokens, in and out.")
    ] = None,
    max_cost: Annotated[
        str | None, typer.Option("--max-cost", metavar="AMOUNT", help="Stop before a higher cost.")
    ] = None,
) -> Reply:
    """Bring a build up to date: all stages that are stale."""
    from nclue_build.cli.values import money
    from nclue_build.core.spending import Spending

    spending = Spending(max_calls, max_tokens, money("--max-cost", max_cost))
    if dry_run:
        from nclue_build.cli.render import plan_reply
        from nclue_build.workflow.estimating import missing_calls
        from nclue_build.workflow.planning import plan_build

        plans = plan_build(session.workspace, session.build, first=first, last=last, fresh=fresh)
        return plan_reply(plans, missing_calls(session.workspace, session.build))
    return _run(session, first, last, fresh=fresh, show=show, calls_mode=calls_mode, spending=spending)


for _of_another_module in (score, compare, tables, repair):
    _verb(_of_another_module)
app.add_typer(audit, name="audit")
app.add_typer(report, name="report")
app.add_typer(calls, name="calls")


def _run(  # noqa: PLR0913 - the options of `run`
    session: Session,
    first: str | None,
    last: str | None,
    *,
    fresh: bool,
    show: int = 0,
    fetch: bool = True,
    run_mineru: bool = False,
    calls_mode: str | None = None,
    spending: "Spending | None" = None,
    stages: "Sequence[Stage] | None" = None,
) -> Reply:
    from nclue_build.cli.progress import make_display
    from nclue_build.cli.render import run_reply
    from nclue_build.workflow.runner import run_build
    from nclue_build.workflow.samples import sample_queries
    from nclue_build.workflow.summary import summarise

    with make_display(quiet=session.quiet) as display:
        report = run_build(
            session.workspace,
            session.build,
            first=first,
            last=last,
            fresh=fresh,
            fetch=fetch,
            run_mineru=run_mineru,
            calls=calls_mode,
            spending=spending,
            progress=display,
            stages=stages,
        )
    return run_reply(report, summarise(report), sample_queries(report.build, show))
