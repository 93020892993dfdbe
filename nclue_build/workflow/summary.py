"""What a run made, in figures, and where it lies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, get_args

from nclue_build.records.benchmark import GateOutcome, Qrel, Query
from nclue_build.records.composition import Composition
from nclue_build.records.inventory import InventoryVersion
from nclue_build.store.jsonl import read_json, read_jsonl
from nclue_build.store.layout import CHANGES_TEXT, COMPOSITION, GATE_REPORT, QRELS, QUERIES, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.store.workspace import Build
    from nclue_build.workflow.runner import RunReport, StageReport

STRICT: Final = "strict"
"""Name of the relaxation step that relaxes nothing, in ``composition.json``."""


@dataclass(frozen=True, slots=True)
class Made:
    """Figures of the stages that a run was asked for; None where no stage among them counts that.

    ``gold_families`` counts the different complete gold sets, ``relaxations`` the queries per relaxation
    step (:data:`STRICT` for none), ``outcomes`` the judgments per outcome of the page checks, ``files`` are
    paths relative to the workspace with what they hold. After a repair ``inventory_version`` is not 0, and all from
    there on counts the repaired inventory and benchmark, not the composed ones.
    """

    documents: int | None = None
    documents_in_benchmark: int | None = None
    pages: int | None = None
    pages_in_benchmark: int | None = None
    conditions: int | None = None
    inventory_version: int = 0
    evidence: int | None = None
    queries: int | None = None
    queries_by_n: Mapping[str, int] = field(default_factory=dict)
    gold_documents: int | None = None
    gold_families: int | None = None
    golds: int | None = None
    qrels: int | None = None
    relaxations: Mapping[str, int] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    gate_ok: bool | None = None
    gate_findings: int | None = None
    shortfalls: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def summarise(report: RunReport) -> Made:
    """Collect the figures of a run.

    Raises:
        DataError: the benchmark's own report of its composition is missing or broken.
    """
    stages = {stage.stage: stage for stage in report.stages}
    build = report.build
    files: dict[str, str] = {}
    composition: Composition | None = None
    if "extract" in stages:
        files[build.relative(build.documents)] = "the documents, completed"
        files[build.relative(build.quality)] = "what became of each, and how well its source could be read"
        files[build.relative(build.pages) + "/"] = "their pages, typed blocks in reading order"
    if "mine" in stages:
        files[build.relative(build.version(0)) + "/"] = "conditions, and the pages that establish them"
    if "compose" in stages:
        with build.workspace.relative_paths():
            composition = read_json(build.composed / COMPOSITION, Composition)
        files[build.relative(build.benchmark) + "/"] = "queries.jsonl, qrels.jsonl, qrels*.trec, n2/, n3/, beir/"
        files[build.relative(build.composed / COMPOSITION)] = "what was asked, what was reached, and what limits it"
    if "gate" in stages:
        files[build.relative(build.benchmark / GATE_REPORT)] = "what the re-derivation found"
    gate = stages.get("gate")
    version = max(build.versions(), default=0)
    made = Made(
        inventory_version=version,
        documents=_count(stages, "extract", "documents"),
        documents_in_benchmark=_count(stages, "extract", "documents_in_benchmark", judged="documents"),
        pages=_count(stages, "extract", "pages", judged="pages"),
        pages_in_benchmark=None if gate is None else gate.counts.get("pages"),
        conditions=_count(stages, "mine", "conditions", judged="conditions"),
        evidence=_count(stages, "mine", "evidence", judged="evidence"),
        queries=_count(stages, "compose", "queries", judged="queries"),
        queries_by_n=_mix(composition, "n"),
        gold_documents=_count(stages, "compose", "gold_documents"),
        gold_families=_count(stages, "compose", "families"),
        golds=_count(stages, "compose", "golds"),
        qrels=_count(stages, "compose", "qrels", judged="qrels"),
        relaxations=_mix(composition, "relaxation"),
        outcomes=_outcomes(stages),
        gate_ok=None if gate is None else not gate.findings,
        gate_findings=None if gate is None else gate.counts.get("findings", len(gate.findings)),
        shortfalls=tuple(f"{stage.stage}: {text}" for stage in report.stages for text in stage.shortfalls),
        files=files,
    )
    return _repaired(made, build, version) if version and "compose" in stages else made


def _repaired(made: Made, build: Build, number: int) -> Made:
    """The figures of a build whose newest version a repair made: what was composed is the benchmark no more."""
    with build.workspace.relative_paths():
        version = read_json(build.version(number) / VERSION, InventoryVersion)
        queries = list(read_jsonl(build.benchmark / QUERIES, Query))
        outcomes: Counter[str] = Counter()
        golds = 0
        for row in read_jsonl(build.benchmark / QRELS, Qrel):
            outcomes[row.gate] += 1
            golds += row.gold
    by_n = Counter(query.n for query in queries)
    relaxations = Counter(query.relaxation or STRICT for query in queries)
    return replace(
        made,
        evidence=version.counts.get("evidence"),
        queries=len(queries),
        queries_by_n={str(n): by_n[n] for n in sorted(by_n)},
        gold_documents=len({doc_id for query in queries for doc_id in query.golds}),
        gold_families=len({query.golds for query in queries}),
        golds=golds,
        qrels=outcomes.total(),
        relaxations={name: relaxations[name] for name in (*made.relaxations, *relaxations) if relaxations[name]},
        outcomes={name: outcomes[name] for name in get_args(GateOutcome) if outcomes[name]},
        files={
            **made.files,
            build.relative(build.version(number)) + "/": "the inventory that the judgments follow from",
            build.relative(build.benchmark / CHANGES_TEXT): "what the last repair changed, and why",
        },
    )


def _count(stages: Mapping[str, StageReport], stage: str, name: str, judged: str | None = None) -> int | None:
    """A figure of a stage; where that was not asked for, what the gate counted of the same."""
    if stage in stages:
        return stages[stage].counts.get(name)
    return stages["gate"].counts.get(judged) if judged is not None and "gate" in stages else None


def _outcomes(stages: Mapping[str, StageReport]) -> dict[str, int]:
    counts = stages["compose"].counts if "compose" in stages else {}
    return {name: counts[key] for name in get_args(GateOutcome) if (key := f"gate_{name}") in counts}


def _mix(composition: Composition | None, stratum: str) -> dict[str, int]:
    rows = () if composition is None else composition.mix
    return {row.value: row.queries for row in rows if row.stratum == stratum}
