"""Scoring run files on a build."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import orjson

from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.phrases import counted
from nclue_build.core.progress import NullProgress
from nclue_build.records.scores import RunEntry
from nclue_build.score.benchmark import load_benchmark
from nclue_build.score.loading import load_run, run_name
from nclue_build.score.scorer import MeasuredRun, ScoreOptions, Scorer
from nclue_build.store.jsonl import read_jsonl, write_jsonl
from nclue_build.store.runs import has_fast_engine
from nclue_build.store.workspace import find_build
from nclue_build.workflow.executors import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.records.scores import ScoreReport
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.store.workspace import Workspace

_ENDINGS: Final = (".trec", ".run", ".txt", ".jsonl")


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run file and what is known of it: its row of a manifest, or its name alone."""

    name: str
    path: Path
    entry: RunEntry | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """A run of a manifest that could not be made, and why."""

    run_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunSet:
    """The runs a command was given, in order."""

    sources: tuple[RunSource, ...]
    blocked: tuple[Blocked, ...] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """What scoring found: the report, and what is to be said of the runs themselves."""

    report: ScoreReport
    findings: tuple[Finding, ...]
    blocked: tuple[Blocked, ...] = field(default=())


def score_runs(  # noqa: PLR0913 - the options of `score`
    runs: Sequence[Path],
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    options: ScoreOptions | None = None,
    benchmark: Path | None = None,
    allow_unknown: bool = False,
    per_query: Path | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Score run files on the benchmark of a build.

    Args:
        runs: Run files, folders of them, or manifests (``runs.jsonl``).
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        options: How to score.
        benchmark: Another copy of the build's benchmark, such as ``benchmarks/<build>/at-P0``.
        allow_unknown: Drop and count rows of queries and documents that the benchmark does not have.
        per_query: Also write a row per run and query there.
        progress: Listener for progress.

    Raises:
        UsageError: no such workspace or build, no run, two runs of one name.
        DataError: a run or the benchmark does not hold what its format promises; every bad row of a run is named.
    """
    chosen, listener = find_build(workspace, build), progress or NullProgress()
    listed = list_runs(runs)
    with chosen.workspace.relative_paths():
        scorer = Scorer(load_benchmark(chosen, benchmark), options or ScoreOptions())
        measured = measure_runs(scorer, listed.sources, allow_unknown=allow_unknown, progress=listener)
        listener.start("scoring", len(measured), "runs")
        report = scorer.report(measured)
        if per_query is not None:
            write_jsonl(per_query, (row for one in measured for row in scorer.per_query(one)))
    return Scored(report, tuple(remarks(measured)), listed.blocked)


def list_runs(paths: Sequence[Path]) -> RunSet:
    """Find the run files that paths mean; a file that is named twice counts once.

    Args:
        paths: Run files; folders, whose files with the endings of runs count, sorted; manifests.

    Raises:
        UsageError: nothing is given, a folder holds no run, or two runs have the same name.
        DataError: a bad row of a manifest.
    """
    sources: list[RunSource] = []
    blocked: list[Blocked] = []
    for file in (file for path in paths for file in _files(path)):
        if not _is_manifest(file):
            sources.append(RunSource(run_name(file), file))
            continue
        for entry in read_jsonl(file, RunEntry):
            if entry.file is None:
                blocked.append(Blocked(entry.run_id, entry.blocked_reason or "no file"))
            else:
                sources.append(RunSource(entry.run_id, file.parent / entry.file, entry))
    if not sources:
        raise UsageError("no run to score: name run files, a folder of them, or a manifest (runs.jsonl)")
    by_name: dict[str, RunSource] = {}
    for source in sources:
        other = by_name.setdefault(source.name, source)
        if other.path.resolve() != source.path.resolve():
            raise UsageError(f"two runs are called {source.name!r}: {other.path} and {source.path}; rename one")
    return RunSet(tuple(by_name.values()), tuple(blocked))


def measure_runs(
    scorer: Scorer, sources: Sequence[RunSource], *, allow_unknown: bool = False, progress: Progress | None = None
) -> list[MeasuredRun]:
    """Read and measure all runs; what is wrong with any of them comes in one report.

    Raises:
        DataError: as :func:`~nclue_build.score.loading.load_run`, over all runs; or a run was made for other qrels.
    """
    listener = progress or NullProgress()
    listener.start("reading runs", len(sources), "runs")

    def read(source: RunSource) -> MeasuredRun | Sequence[Finding]:
        if refused := _made_for_others(source, scorer.benchmark):
            return [refused]
        try:
            run = load_run(source.path, scorer.benchmark, scorer.codes, name=source.name, allow_unknown=allow_unknown)
        except DataError as error:
            return error.findings
        return scorer.measure(run)

    measured: list[MeasuredRun] = []
    wrong: list[Finding] = []
    # The CSV engine and numpy let another thread work meanwhile; reading line by line does not.
    with ThreadPoolExecutor(available_cores() if has_fast_engine() else 1) as pool:
        try:
            for found in pool.map(read, sources):
                if isinstance(found, MeasuredRun):
                    measured.append(found)
                else:
                    wrong += found
                listener.advance()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    if wrong:
        raise DataError.from_findings(wrong)
    return measured


def _made_for_others(source: RunSource, benchmark: Benchmark) -> Finding | None:
    """What to say of a run whose manifest names other qrels than those at hand."""
    made_for = source.entry.qrels_sha256 if source.entry else None
    if made_for is None or made_for == benchmark.qrels_sha256:
        return None
    message = (
        f"{source.name} was made for the qrels {made_for[:12]}..., "
        f"the benchmark has {benchmark.qrels_sha256[:12]}...: score it on the benchmark it was made for"
    )
    return Finding("digest-differs", message, str(source.path), id=source.name)


def _files(path: Path) -> list[Path]:
    """The files a path means: those of a folder (its manifests alone, where there are some), else itself."""
    if not path.is_dir():
        return [path]
    found = [one for one in sorted(path.iterdir()) if one.name.removesuffix(".gz").endswith(_ENDINGS)]
    if not found:
        raise UsageError(f"{path} holds no run: names end in {', '.join(_ENDINGS)}, gzipped or not")
    return [one for one in found if _is_manifest(one)] or found


def _is_manifest(path: Path) -> bool:
    """Whether a JSONL file lists runs: its first row names a run and its file."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open("rb") as stream:
        first = stream.readline()
    try:
        row = orjson.loads(first)
    except orjson.JSONDecodeError:
        return False
    return isinstance(row, dict) and "run_id" in row and "query_id" not in row


def remarks(runs: Iterable[MeasuredRun]) -> Iterable[Finding]:
    """What does not stop scoring and must be known: queries that count as 0, rows that were dropped."""
    for run in (one.run for one in runs):
        if run.missing:
            message = f"{run.name}: {counted(len(run.missing), 'query')} missing, each counts as 0: "
            yield Finding("run-query-missing", message + ", ".join(run.missing[:3]), id=run.name)
        if run.n_dropped:
            message = (
                f"{run.name}: {counted(run.n_dropped, 'row')} dropped: {counted(len(run.dropped_queries), 'query')} "
                f"and {counted(len(run.dropped_docs), 'document')} that the benchmark does not have"
            )
            yield Finding("unknown-run-id", message, id=run.name)
