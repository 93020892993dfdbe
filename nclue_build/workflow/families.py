"""Every kind of file there is, with its model: what ``schema`` prints and ``validate`` checks."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from nclue_build.core.errors import UsageError
from nclue_build.records.audit import Agreement as AgreementOfPeople
from nclue_build.records.audit import ConditionRubric, Key, Override, Packet, PoolReport, Queue, Response
from nclue_build.records.base import SCHEMA_VERSION
from nclue_build.records.benchmark import Qrel, QrelsMeta, Query
from nclue_build.records.calls import Agreement, PendingCall, UsedCall
from nclue_build.records.comparison import ComparisonReport
from nclue_build.records.composition import Composition, FormsQa
from nclue_build.records.config import BuildConfig, WorkspaceMarker
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DuplicateGroup, PageRow
from nclue_build.records.envelope import Envelope
from nclue_build.records.gate import GateReport
from nclue_build.records.inventory import (
    Cluster,
    Condition,
    EvidenceRow,
    InventoryVersion,
    Rejected,
    SurfaceForm,
)
from nclue_build.records.reading import SheetItem
from nclue_build.records.receipt import Receipt
from nclue_build.records.repair import (
    Decision,
    PairOverride,
    QrelChange,
    Repair,
    RepairReport,
    Transitions,
)
from nclue_build.records.scores import QueryScore, RunEntry, ScoreReport
from nclue_build.records.tables import TablesReport
from nclue_build.store import layout


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of file.

    Args:
        name: As ``schema NAME`` takes it: the file's name without its ending.
        file: Where such files lie in a workspace.
        kind: ``row`` (JSONL, the model describes a line), ``file`` (one JSON object), ``toml`` or ``stdout``.
        model: What a row or file has to be.
    """

    name: str
    file: str
    kind: Literal["row", "file", "toml", "stdout"]
    model: TypeAdapter[Any]

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of a row or file, with the file and the schema version it belongs to."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "x-nclue-family": self.name,
            "x-nclue-file": self.file,
            "x-nclue-schema-version": SCHEMA_VERSION,
            **self.model.json_schema(mode="validation"),
        }


FAMILIES: Final = (
    Family("workspace", "configs/workspace.toml", "toml", TypeAdapter(WorkspaceMarker)),
    Family("config", "configs/<build>.toml", "toml", TypeAdapter(BuildConfig)),
    Family("corpus", "corpus.jsonl, as the configuration names it", "row", TypeAdapter(CorpusRow)),
    Family("documents", f"inventory/<build>/{layout.DOCUMENTS}", "row", TypeAdapter(CorpusRow)),
    Family("documents_quality", f"inventory/<build>/{layout.QUALITY}", "row", QUALITY_ROW),
    Family("duplicates", f"inventory/<build>/{layout.DUPLICATES}", "row", TypeAdapter(DuplicateGroup)),
    Family("pages", "inventory/<build>/pages/<doc_id>.jsonl", "row", TypeAdapter(PageRow)),
    Family("surface_forms", f"inventory/<build>/{layout.SURFACE_FORMS}", "row", TypeAdapter(SurfaceForm)),
    Family("clusters", f"inventory/<build>/{layout.CLUSTERS}", "row", TypeAdapter(Cluster)),
    Family("rejected", f"{layout.REJECTED} of inventory/<build> and benchmarks/<build>", "row", TypeAdapter(Rejected)),
    Family("conditions", f"inventory/<build>/P<k>/{layout.CONDITIONS}", "row", TypeAdapter(Condition)),
    Family("evidence", f"inventory/<build>/P<k>/{layout.EVIDENCE}", "row", TypeAdapter(EvidenceRow)),
    Family("version", f"inventory/<build>/P<k>/{layout.VERSION}", "file", TypeAdapter(InventoryVersion)),
    Family(
        "decisions",
        f"what repair takes; kept as inventory/<build>/P<k>/{layout.DECISIONS} and {layout.PAIR_DECISIONS}",
        "row",
        TypeAdapter(Decision),
    ),
    Family("pair_overrides", f"inventory/<build>/P<k>/{layout.PAIR_OVERRIDES}", "row", TypeAdapter(PairOverride)),
    Family("packet", "packet.json and adjudication.json of an audit", "file", TypeAdapter(Packet)),
    Family("rubric", "the file of audit sample --rubrics", "row", TypeAdapter(ConditionRubric)),
    Family("key", "key.json of an audit", "file", TypeAdapter(Key)),
    Family("response", "responses/<evaluator>.json and adjudication/<evaluator>.json", "file", TypeAdapter(Response)),
    Family("queue", "queue.json of an audit", "file", TypeAdapter(Queue)),
    Family("pool", "pool.json of an audit", "file", TypeAdapter(PoolReport)),
    Family("override", "overrides.jsonl of an audit", "row", TypeAdapter(Override)),
    Family("agreement_of_people", "the result of audit score --json", "stdout", TypeAdapter(AgreementOfPeople)),
    Family("transitions", f"benchmarks/<build>/{layout.TRANSITIONS}", "file", TypeAdapter(Transitions)),
    Family("changes", f"benchmarks/<build>/{layout.CHANGES}", "row", TypeAdapter(QrelChange)),
    Family("repairs", f"benchmarks/<build>/{layout.REPAIRS}", "row", TypeAdapter(Repair)),
    Family("repair", "the result of repair --json", "stdout", TypeAdapter(RepairReport)),
    Family("queries", f"benchmarks/<build>/{layout.QUERIES}", "row", TypeAdapter(Query)),
    Family("qrels", f"benchmarks/<build>/{layout.QRELS}", "row", TypeAdapter(Qrel)),
    Family("qrels.meta", f"benchmarks/<build>/{layout.META}", "file", TypeAdapter(QrelsMeta)),
    Family("composition", f"benchmarks/<build>/{layout.COMPOSITION}", "file", TypeAdapter(Composition)),
    Family("forms_qa", f"benchmarks/<build>/{layout.FORMS_QA}", "file", TypeAdapter(FormsQa)),
    Family("gate", f"benchmarks/<build>/{layout.GATE_REPORT}", "file", TypeAdapter(GateReport)),
    Family("sheet", "reading/<build>/seed-<seed>/sheet.jsonl", "row", TypeAdapter(SheetItem)),
    Family("runs", "runs.jsonl, the manifest of a set of runs", "row", TypeAdapter(RunEntry)),
    Family("query_scores", "the file of score --per-query", "row", TypeAdapter(QueryScore)),
    Family("scores", "the result of score --json", "stdout", TypeAdapter(ScoreReport)),
    Family("comparison", "the result of compare --json", "stdout", TypeAdapter(ComparisonReport)),
    Family(
        "tables", "tables.json of tables --out, and the result of tables --json", "stdout", TypeAdapter(TablesReport)
    ),
    Family("receipt", ".nclue/receipts/<build>/<stage>.json", "file", TypeAdapter(Receipt)),
    Family("calls", f"{layout.CALLS} of inventory/<build> and benchmarks/<build>", "row", TypeAdapter(UsedCall)),
    Family(
        "agreement", f"{layout.AGREEMENT} of inventory/<build> and benchmarks/<build>", "row", TypeAdapter(Agreement)
    ),
    Family("pending", ".nclue/calls/<build>/pending.jsonl", "row", TypeAdapter(PendingCall)),
    Family("envelope", "standard output of every verb with --json", "stdout", TypeAdapter(Envelope)),
)


def find_family(name: str) -> Family:
    """The family of a name.

    Raises:
        UsageError: there is none of this name.
    """
    for family in FAMILIES:
        if family.name == name:
            return family
    names = [family.name for family in FAMILIES]
    near = difflib.get_close_matches(name.removesuffix(".jsonl").removesuffix(".json").lower(), names, n=1)
    raise UsageError(
        f"no schema {name!r}: " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}")
    )
