"""Repairing a build: decisions go into the inventory, and everything that follows from it is made again."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nclue_build.compose import emit, report
from nclue_build.compose.writing import BenchmarkWriting, write_benchmark
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, OutcomeError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.inventory.decided import decisions_so_far
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.inventory.files import read_version, write_version
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.records.repair import Repair, RepairReport
from nclue_build.repair.apply import apply_decisions, recounted, repairs
from nclue_build.repair.benchmark import collect_quotes, evidence_of, regraded
from nclue_build.repair.changes import Because, Judged, qrel_changes, query_changes, transitions
from nclue_build.repair.reading import Known, read_decisions
from nclue_build.repair.text import as_text
from nclue_build.store import layout
from nclue_build.store.atomic import write_text
from nclue_build.store.config_file import load_config
from nclue_build.store.jsonl import read_json, read_jsonl, run_first, write_json, write_jsonl
from nclue_build.store.workspace import find_build
from nclue_build.workflow.executors import open_mapper
from nclue_build.workflow.lock import build_lock
from nclue_build.workflow.outdated import outdated_benchmark
from nclue_build.workflow.receipts import Digests
from nclue_build.workflow.run_effects import effect_on_runs
from nclue_build.workflow.switching import keep_older, staged_benchmark, staged_version, switch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nclue_build.compose.emit import Judgment
    from nclue_build.core.progress import Progress
    from nclue_build.inventory.decided import Scoped
    from nclue_build.inventory.files import StoredVersion
    from nclue_build.records.corpus import DocumentQuality
    from nclue_build.records.repair import QrelChange, Scope, Transitions
    from nclue_build.repair.apply import Applied
    from nclue_build.store.workspace import Build, Workspace


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """How to repair.

    Args:
        scope: Whether a decision reaches every query that shares its P(d, c), or the query it was made for alone.
        dry_run: Say what would change, and write nothing.
        runs: Run files, folders of them or manifests, to be scored before and after.
    """

    scope: Scope = "inventory"
    dry_run: bool = False
    runs: Sequence[Path] = field(default=())


def repair_build(
    decisions: Path,
    workspace: Workspace | Path | None = None,
    build: str | None = None,
    *,
    options: RepairOptions | None = None,
    progress: Progress | None = None,
) -> RepairReport:
    """Apply decisions to a build: write inventory version P<k+1> and regenerate the benchmark from it.

    All decisions so far are applied together, from P0. Decisions that a version has applied already are passed over,
    so the same file twice is the same as once.

    Args:
        decisions: ``decisions.jsonl``.
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        options: How.
        progress: Listener for progress.

    Raises:
        UsageError: no such workspace or build, another run going on, a benchmark that does not follow from the
            inventory beside it, or a document-level build.
        DataError: everything that is wrong with the decisions, conflicts between them included.
        OutcomeError: no query would be left.
    """
    chosen, how = find_build(workspace, build), options or RepairOptions()
    listener = progress or NullProgress()
    with chosen.workspace.relative_paths(), contextlib.ExitStack() as held:
        if not how.dry_run:
            held.enter_context(build_lock(chosen))
        work = _Work.read(chosen)
        version = chosen.versions()[-1] + 1
        known = Known(
            chosen,
            work.queries,
            {row.doc_id: row.n_pages for row in work.quality},
            work.p0.version.allowed_roles,
            work.decided,
        )
        incoming = read_decisions(decisions, known, how.scope, version)
        if not incoming.new:
            return _nothing_new(chosen, how, version - 1, incoming.n_known)
        plan = _Plan.make(work, incoming.new, version, how.scope)
        folders = _Folders.choose(chosen, how, version, held)
        _stage(work, plan, folders, listener)
        scored = effect_on_runs(chosen, how.runs, folders.benchmark, listener)
        if not how.dry_run:
            keep_older(chosen, folders.benchmark, version - 1)
            switch(chosen, version)
        return RepairReport(
            build=chosen.name,
            dry_run=how.dry_run,
            written=not how.dry_run,
            version=version,
            new_decisions=len(incoming.new),
            known_decisions=incoming.n_known,
            transitions=plan.transitions,
            repairs=plan.repairs,
            changes=plan.changes,
            runs=scored.runs,
            agreement=scored.agreement,
            qrels_sha256=plan.digest_of(folders, how),
        )


def _nothing_new(build: Build, how: RepairOptions, version: int, n_known: int) -> RepairReport:
    return RepairReport(
        build=build.name,
        dry_run=how.dry_run,
        written=False,
        version=version,
        new_decisions=0,
        known_decisions=n_known,
        transitions=None,
        repairs=(),
        changes=(),
        runs=(),
        agreement=(),
        qrels_sha256=None,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """What a repair starts from.

    Args:
        build: The build.
        quality: The benchmark's documents.
        p0: As mined.
        queries: As composed, by id.
        composed: The judgments as composed.
        current: The benchmark that is there now.
        meta: Of that benchmark.
        decided: Decisions applied so far.
    """

    build: Build
    quality: list[DocumentQuality]
    p0: StoredVersion
    queries: dict[str, Query]
    composed: list[Qrel]
    current: Judged
    meta: QrelsMeta
    decided: list[Scoped]

    @classmethod
    def read(cls, build: Build) -> _Work:
        advice = run_first("run")
        quality = benchmark_documents(build.quality)
        p0 = read_version(build.version(0), [row.doc_id for row in quality])
        if p0.version.level == "document":
            raise UsageError(f"build {build.name!r} knows no pages: decisions name pages, so it cannot be repaired")
        meta = read_json(build.benchmark / layout.META, QrelsMeta, advice=advice)
        if (outdated := outdated_benchmark(build, Digests())) is not None:
            raise UsageError(outdated.message)
        if sha256_file(build.benchmark / layout.QRELS) != meta.qrels_sha256:
            raise DataError(f"{build.benchmark / layout.QRELS} is not the file that {layout.META} describes")
        queries = _queries(build.composed)
        composed = list(read_jsonl(build.composed / layout.QRELS, Qrel, advice=advice))
        rows = composed if build.composed == build.benchmark else read_jsonl(build.benchmark / layout.QRELS, Qrel)
        qrels: dict[str, dict[str, Qrel]] = {}
        for row in rows:
            qrels.setdefault(row.query_id, {})[row.doc_id] = row
        current = Judged(meta.inventory_version, _queries(build.benchmark), qrels)
        return cls(build, quality, p0, queries, composed, current, meta, decisions_so_far(build))


def _queries(folder: Path) -> dict[str, Query]:
    return {row.query_id: row for row in read_jsonl(folder / layout.QUERIES, Query, advice=run_first("run"))}


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that a repair is going to write."""

    version: int
    new: tuple[Scoped, ...]
    applied: Applied
    after: Judged
    judged: Mapping[str, list[Judgment]]
    repairs: tuple[Repair, ...]
    changes: tuple[QrelChange, ...]
    transitions: Transitions

    @classmethod
    def make(cls, work: _Work, new: Sequence[Scoped], version: int, scope: Scope) -> _Plan:
        decided = [*work.decided, *new]
        before, applied = (apply_decisions(work.p0.inventory, rows) for rows in (work.decided, decided))
        judged = dict(_judge(work, applied, decided))
        documents = {row.doc_id: row for row in work.quality}
        queries: dict[str, Query] = {}
        gone: dict[str, str] = {}
        for query_id, judgments in judged.items():
            query = regraded(work.queries[query_id], [row.qrel for row in judgments], documents)
            if query is None:
                gone[query_id] = "no_gold"
            elif not all(documents[doc_id].gold_eligible for doc_id in query.golds):
                gone[query_id] = "ineligible_gold"
            else:
                queries[query_id] = query
        if not queries:
            raise OutcomeError("no query has a gold after these decisions: there would be no benchmark left")
        rows = {key: {row.qrel.doc_id: row.qrel for row in judged[key]} for key in queries}
        after = Judged(version, queries, rows)
        because = Because.of(decided)
        changes = qrel_changes(work.current, after, because, {key: row.source for key, row in documents.items()})
        made = repairs(new, before, applied)
        moved = query_changes(work.current, after, gone, because)
        counted = transitions(work.current, after, changes, moved, made, scope)
        return cls(version, tuple(new), applied, after, judged, tuple(made), tuple(changes), counted)

    def digest_of(self, folders: _Folders, how: RepairOptions) -> str:
        """SHA-256 of the regenerated qrels.jsonl, wherever it lies now."""
        return sha256_file((folders.benchmark if how.dry_run else folders.home) / layout.QRELS)


def _judge(work: _Work, applied: Applied, decided: Sequence[Scoped]) -> Iterator[tuple[str, list[Judgment]]]:
    """Judge every query that was composed, by id, with its quotes."""
    quotes = collect_quotes(work.composed, decided)
    position = {key: index for index, key in enumerate(applied.inventory.condition_ids)}
    on_pair: dict[tuple[str, str], list[Scoped]] = {}
    for one in decided:
        on_pair.setdefault((one.decision.query_id, one.decision.doc_id), []).append(one)
    for query_id, query in sorted(work.queries.items()):
        conditions = [position[condition.condition_id] for condition in query.conditions]
        judgments = emit.judge_query(applied.of_query(query_id), query_id, conditions, {})
        yield (
            query_id,
            [
                row._replace(qrel=row.qrel.model_copy(update={"evidence": found}))
                if (
                    found := evidence_of(
                        query,
                        row.qrel,
                        quotes,
                        [one.decision for one in on_pair.get((query_id, row.qrel.doc_id), ())],
                    )
                )
                else row
                for row in judgments
            ],
        )


@dataclass(frozen=True, slots=True)
class _Folders:
    """Where a repair writes; ``home`` is where the benchmark ends up."""

    version: Path
    benchmark: Path
    home: Path
    with_texts: bool

    @classmethod
    def choose(cls, build: Build, how: RepairOptions, version: int, held: contextlib.ExitStack) -> _Folders:
        if how.dry_run:  # what is scored has to lie somewhere, and nowhere in the workspace
            root = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="nclue-repair-")))
            return cls(root / "version", root / "benchmark", build.benchmark, with_texts=False)
        folders = cls(staged_version(build, version), staged_benchmark(build), build.benchmark, with_texts=True)
        held.callback(_remove, folders.version, folders.benchmark)
        return folders


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _stage(work: _Work, plan: _Plan, folders: _Folders, progress: Progress) -> None:
    """Write the version and its benchmark, whole, where nothing reads them."""
    beside: list[str] = []
    for name, scope in ((layout.DECISIONS, "inventory"), (layout.PAIR_DECISIONS, "pair")):
        rows = [one.decision for one in plan.new if one.scope == scope]
        if rows or scope == "inventory":
            write_jsonl(folders.version / name, rows)
            beside.append(name)
    if any(one.scope == "pair" for one in (*work.decided, *plan.new)):
        write_jsonl(folders.version / layout.PAIR_OVERRIDES, plan.applied.overrides)
        beside.append(layout.PAIR_OVERRIDES)
    version = write_version(
        folders.version,
        recounted(work.p0.conditions, plan.applied.inventory),
        plan.applied.inventory,
        number=plan.version,
        allowed_roles=work.p0.version.allowed_roles,
        text_version=work.p0.version.text_version,
        parent=plan.version - 1,
        decisions=(one.decision.decision_id for one in plan.new),
        beside=beside,
    )
    queries = list(plan.after.queries.values())
    config = load_config(work.build.config_path)
    with open_mapper(config.run) as mapper:
        writing = BenchmarkWriting(
            build=work.build,
            folder=folders.benchmark,
            version=version,
            quality=work.quality,
            mapper=mapper,
            progress=progress,
            item_judge=work.meta.item_judge,
            item_model=work.meta.item_model,
            with_texts=folders.with_texts,
        )
        write_benchmark(writing, queries, (plan.judged[query.query_id] for query in queries))
    write_json(folders.benchmark / layout.FORMS_QA, report.forms_qa(queries))
    write_json(folders.benchmark / layout.TRANSITIONS, plan.transitions)
    write_jsonl(folders.benchmark / layout.CHANGES, plan.changes)
    earlier = work.build.benchmark / layout.REPAIRS
    past = list(read_jsonl(earlier, Repair)) if earlier.is_file() else []
    write_jsonl(folders.benchmark / layout.REPAIRS, [*past, *plan.repairs])
    decisions = {one.decision.decision_id: one.decision for one in plan.new}
    decided = [(row, decisions[row.decision_id]) for row in plan.repairs]
    names = (plan.after.queries, work.p0.conditions)
    text = as_text(work.build.name, plan.transitions, plan.changes, decided, names)
    write_text(folders.benchmark / layout.CHANGES_TEXT, text)
