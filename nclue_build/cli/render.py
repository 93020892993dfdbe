"""Library results as replies."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from nclue_build.cli.reply import Reply, table
from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK, Finding
from nclue_build.core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.workflow.doctor import Check
    from nclue_build.workflow.families import Family
    from nclue_build.workflow.plan import StagePlan
    from nclue_build.workflow.runner import RunReport
    from nclue_build.workflow.samples import Sample
    from nclue_build.workflow.scaffold import Scaffold
    from nclue_build.workflow.summary import Made
    from nclue_build.workflow.validation.build import Validation

_QUOTE_WIDTH = 160


def scaffold_reply(made: Scaffold, folder: Path) -> Reply:
    """Reply of ``init``."""
    result = {
        "workspace": str(made.build.workspace.root),
        "build": made.build.name,
        "written": list(made.written),
        "n_documents": made.n_documents,
        "notes": list(made.notes),
    }
    build = [] if made.is_default else ["-b", made.build.name]
    next_words = ["nclue-build", "-w", str(folder), *build, "run"]
    lines = [
        f"{counted(made.n_documents, 'document')}, build {made.build.name!r} in {folder}",
        *(f"  wrote {name}" for name in made.written),
        *(f"note: {note}" for note in made.notes),
        f"next: {shlex.join(next_words)}",
    ]
    return Reply(result, "\n".join(lines))


def doctor_reply(checks: Sequence[Check]) -> Reply:
    """Reply of ``doctor``."""
    findings = [Finding("not-fit", f"{check.name}: {check.value}: {check.advice}") for check in checks if not check.ok]
    rows = [(check.name, f"{'ok     ' if check.ok else 'problem'}  {check.value}") for check in checks]
    return Reply(
        {"checks": [asdict(check) for check in checks]},
        table(rows) + ("\nto do" if findings else ""),
        findings,
        EXIT_FINDINGS if findings else EXIT_OK,
    )


def validation_reply(found: Validation) -> Reply:
    """Reply of ``validate``."""
    result = {
        "build": found.build.name,
        "counts": dict(found.counts),
        "n_findings": found.n_findings,
        "not_run": list(found.not_run),
    }
    rows: list[tuple[str, object]] = [
        ("files", found.counts.get("files", 0)),
        ("rows", found.counts.get("rows", 0)),
        ("not run", ", ".join(found.not_run)),
        ("verdict", "valid" if found.ok else f"{found.n_findings} findings"),
    ]
    text = f"build {found.build.name!r} in {found.build.workspace.root}\n{table(rows)}"
    return Reply(result, text, found.findings, EXIT_OK if found.ok else EXIT_FINDINGS)


def families_reply(families: Sequence[Family]) -> Reply:
    """Reply of ``schema``."""
    rows = [(family.name, family.file) for family in families]
    return Reply({"families": [{"name": name, "file": file} for name, file in rows]}, table(rows))


def schema_reply(family: Family) -> Reply:
    """Reply of ``schema NAME``."""
    schema = family.json_schema()
    return Reply({"name": family.name, "file": family.file, "schema": schema}, json.dumps(schema, indent=2))


def plan_reply(plans: Sequence[StagePlan]) -> Reply:
    """Reply of ``run --dry-run``."""
    result = {"stages": [{"stage": plan.stage, "state": plan.state, "reasons": list(plan.reasons)} for plan in plans]}
    return Reply(result, table([(plan.stage, f"{plan.state:<8} {'; '.join(plan.reasons)}".rstrip()) for plan in plans]))


def run_reply(report: RunReport, made: Made, samples: Sequence[Sample] = ()) -> Reply:
    """Reply of ``run`` and of the single stages."""
    result = {
        "build": report.build.name,
        "workspace": str(report.build.workspace.root),
        "made": asdict(made),
        "stages": [
            {
                "stage": stage.stage,
                "ran": stage.ran,
                "reasons": list(stage.reasons),
                "counts": dict(stage.counts),
                "shortfalls": list(stage.shortfalls),
                "n_findings": len(stage.findings),
            }
            for stage in report.stages
        ],
        "samples": [
            {
                "query": sample.query.model_dump(mode="json"),
                "golds": [gold.model_dump(mode="json") for gold in sample.golds],
            }
            for sample in samples
        ],
    }
    parts = [f"build {report.build.name!r} in {report.build.workspace.root}\n{table(_made_rows(made))}"]
    if made.files:
        parts.append("files\n" + table(list(made.files.items())))
    parts += [_sample_text(sample) for sample in samples]
    return Reply(result, "\n\n".join(parts), report.findings, EXIT_OK if report.ok else EXIT_FINDINGS)


def _made_rows(made: Made) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    if made.documents is not None:
        rows.append(("documents", f"{made.documents} ({made.documents_in_benchmark} in the benchmark)"))
    rows += [("pages", made.pages), ("conditions", made.conditions)]
    if made.queries is not None:
        parts = ", ".join(f"{count} with n = {n}" for n, count in made.queries_by_n.items())
        rows += [
            ("queries", f"{made.queries} ({parts})"),
            ("gold sets", f"{made.gold_sets} different, of {made.gold_documents} documents"),
            ("qrels", f"{made.qrels} ({made.golds} gold)"),
            ("relaxations", ", ".join(f"{count} {name}" for name, count in made.relaxations.items())),
        ]
    if made.gate_ok is not None:
        verdict = "passed: the re-derivation agrees" if made.gate_ok else f"failed: {made.gate_findings} findings"
        rows.append(("gate", verdict))
    return rows + [("shortfall", text) for text in made.shortfalls]


def _sample_text(sample: Sample) -> str:
    query = sample.query
    lines = [f"{query.query_id}  {query.forms.natural}"]
    names = {condition.condition_id: condition.name for condition in query.conditions}
    for gold in sample.golds:
        pages = ", ".join(f"p. {page}" for page in gold.witness or ())
        lines.append(f"  gold {gold.doc_id}" + (f" (witness {pages})" if pages else ""))
        for quote in gold.evidence:
            where = "" if quote.page is None else f" p. {quote.page}"
            lines.append(f'    {names.get(quote.condition_id, quote.condition_id)}{where}: "{_one_line(quote.quote)}"')
    return "\n".join(lines)


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_WIDTH else flat[: _QUOTE_WIDTH - 3] + "..."
