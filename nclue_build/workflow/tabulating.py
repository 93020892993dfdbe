"""Every table of the study for the runs of a build."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.records.benchmark import Qrel
from nclue_build.records.tables import TablesReport
from nclue_build.score.benchmark import load_benchmark
from nclue_build.score.comparison import CompareOptions, Comparer
from nclue_build.score.plots import plots as draw_plots
from nclue_build.score.scorer import ScoreOptions, Scorer
from nclue_build.score.tables.catalogue import all_tables, drift
from nclue_build.score.tables.material import Material, entry_of, scored
from nclue_build.score.typesetting import as_csv, latex, markdown
from nclue_build.store.atomic import write_bytes, write_text
from nclue_build.store.config_file import load_config
from nclue_build.store.jsonl import read_json, read_jsonl
from nclue_build.store.layout import QRELS
from nclue_build.store.workspace import find_build
from nclue_build.workflow.comparing import choose_contrasts
from nclue_build.workflow.scoring import list_runs, measure_runs, remarks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.comparison import Contrast
    from nclue_build.records.scores import Form, RunEntry
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.loading import LoadedRun
    from nclue_build.score.scorer import MeasuredRun
    from nclue_build.store.workspace import Workspace
    from nclue_build.workflow.scoring import RunSet


@dataclass(frozen=True, slots=True)
class Tabulated:
    """The tables, what is to be said of the runs, what drifted from the declared tables, and the files written."""

    report: TablesReport
    remarks: tuple[Finding, ...]
    drift: tuple[Finding, ...]
    written: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What to make.

    Args:
        form: The rendering of the queries whose runs are ranked.
        pairs: Contrasts as ``BASE:VARIANT``; without any, those of the configuration.
        against: Another copy of the benchmark, to compare orders of systems with.
        example: The query whose labels are shown; None: the first one.
        out: Folder for the tables as JSON, Markdown, LaTeX and CSV; None: nothing is written.
        plots: Draw plots there, too.
        check: Stored tables (``tables.json``) that these must agree with.
    """

    form: Form = "raw"
    pairs: tuple[str, ...] = ()
    against: Path | None = None
    example: str | None = None
    out: Path | None = None
    plots: bool = False
    check: Path | None = None


def make_tables(  # noqa: PLR0913 - the options of `tables`
    runs: Sequence[Path],
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    options: ScoreOptions | None = None,
    compare: CompareOptions | None = None,
    tables: TableOptions | None = None,
    benchmark: Path | None = None,
    allow_unknown: bool = False,
    progress: Progress | None = None,
) -> Tabulated:
    """Make every table from runs and judgments.

    Args:
        runs: Run files, folders of them, or manifests; a manifest tells systems, forms, masked conditions and controls.
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        options: How to score.
        compare: How to compare.
        tables: What to make.
        benchmark: Another copy of the build's benchmark.
        allow_unknown: Drop and count rows of queries and documents that the benchmark does not have.
        progress: Listener for progress.

    Raises:
        UsageError: as for :func:`nclue_build.compare_runs`; an unknown example query; plots without matplotlib.
        DataError: a run, the benchmark or the stored tables do not hold what their format promises.
    """
    chosen, listener = find_build(workspace, build), progress or NullProgress()
    scoring, comparing, wanted = options or ScoreOptions(), compare or CompareOptions(), tables or TableOptions()
    if wanted.plots and wanted.out is None:
        raise UsageError("plots need a folder: name one with --out")
    listed = list_runs(runs)
    with chosen.workspace.relative_paths():
        declared = None if wanted.check is None else read_json(wanted.check, TablesReport)
        contrasts, blocked = _contrasts(listed, wanted.pairs, load_config(chosen.config_path).score.contrasts)
        scorer = Scorer(load_benchmark(chosen, benchmark), scoring)
        truth = scorer.benchmark
        example = wanted.example or next(iter(truth.queries), "")
        if example not in truth.queries:
            raise UsageError(f"--example {example}: the benchmark has no such query")
        measured = measure_runs(scorer, listed.sources, allow_unknown=allow_unknown, progress=listener)
        listener.start("scoring and comparing", len(measured), "runs")
        material = _material(
            scorer,
            listed=listed,
            measured=measured,
            contrasts=contrasts,
            blocked=blocked,
            form=wanted.form,
            compare=comparing,
        )
        other = None
        if wanted.against is not None:
            other = _on_copy(load_benchmark(chosen, wanted.against), listed, material, scoring)
        home = chosen.benchmark if benchmark is None else benchmark
        rows = [row for row in read_jsonl(home / QRELS, Qrel) if row.query_id == example]
        report = TablesReport(
            build=truth.name,
            qrels_sha256=truth.qrels_sha256,
            k=scoring.k,
            ties=scoring.ties,
            measure=comparing.measure,
            form=wanted.form,
            seed=scoring.seed,
            n_bootstrap=comparing.n_bootstrap,
            n_flips=comparing.n_flips,
            tables=all_tables(material, other, (example, rows)),
        )
        drifted = () if declared is None else tuple(drift(declared, report, str(wanted.check)))
        written = () if wanted.out is None else tuple(_write(report, wanted.out, plots=wanted.plots))
    said = tuple(
        remarks(one for one in measured if not _is_masked_as_told(one.run, material.runs[one.run.name].entry, truth))
    )
    return Tabulated(report, said, drifted, written)


def _contrasts(
    listed: RunSet, pairs: Sequence[str], declared: Sequence[Contrast]
) -> tuple[tuple[Contrast, ...], dict[str, str]]:
    """Contrasts that can be made; and what is blocked, contrasts of blocked runs among it."""
    blocked = {one.run_id: one.reason for one in listed.blocked}
    possible = [one for one in declared if one.base not in blocked and one.variant not in blocked]
    refused = {f"contrast {one.name}": "one of its runs is blocked" for one in declared if one not in possible}
    if not pairs and not possible:
        return (), {**blocked, **refused}
    names = [source.name for source in listed.sources]
    return tuple(choose_contrasts(names, pairs, possible)), {**blocked, **refused}


def _material(  # noqa: PLR0913 - all that tables are made of
    scorer: Scorer,
    *,
    listed: RunSet,
    measured: Sequence[MeasuredRun],
    contrasts: tuple[Contrast, ...],
    blocked: dict[str, str],
    form: Form,
    compare: CompareOptions,
) -> Material:
    entries = {source.name: source.entry or entry_of(source.name, form) for source in listed.sources}
    compared = {name for one in contrasts for name in (one.base, one.variant)}
    comparison = None
    if contrasts:
        chosen = [one for one in measured if one.run.name in compared]
        comparison = Comparer(scorer, chosen, compare).report(contrasts)
    return Material(scorer, scored(scorer, measured, entries), form, compare.measure, contrasts, comparison, blocked)


def _on_copy(copy: Benchmark, listed: RunSet, material: Material, options: ScoreOptions) -> Material:
    """The same runs on another copy of the judgments, whose digest no manifest can name as well."""
    scorer = Scorer(copy, replace(options, intervals=False))
    sources = [replace(source, entry=None) for source in listed.sources]
    measured = measure_runs(scorer, sources, allow_unknown=True)
    runs = scored(scorer, measured, {name: one.entry for name, one in material.runs.items()})
    return replace(material, scorer=scorer, runs=runs, comparison=None)


def _is_masked_as_told(run: LoadedRun, entry: RunEntry, truth: Benchmark) -> bool:
    """Whether a masked run lacks only queries that do not have the condition: there is nothing to remark."""
    place = entry.masked_condition
    return place is not None and not run.n_dropped and all(truth.queries[one].n < place for one in run.missing)


def _write(report: TablesReport, out: Path, *, plots: bool) -> list[Path]:
    drawn = draw_plots({table.name: table for table in report.tables}) if plots else {}
    written = [out / "tables.json", out / "tables.md"]
    write_text(written[0], report.model_dump_json(indent=1) + "\n")
    write_text(written[1], "\n".join(map(markdown, report.tables)))
    for table in report.tables:
        if table.unavailable is None:
            for path, text in ((out / f"{table.name}.tex", latex(table)), (out / f"{table.name}.csv", as_csv(table))):
                write_text(path, text)
                written.append(path)
    for name, data in drawn.items():
        write_bytes(out / name, data)
        written.append(out / name)
    return written
