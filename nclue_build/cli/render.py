"""Library results as replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.cli.reply import Reply, table
from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.workflow.plan import StagePlan
    from nclue_build.workflow.runner import RunReport
    from nclue_build.workflow.samples import Sample
    from nclue_build.workflow.scaffold import Scaffold

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
    lines = [
        f"{made.n_documents} documents, build {made.build.name!r} in {folder}",
        *(f"  wrote {name}" for name in made.written),
        *made.notes,
        f"next: nclue-build -w {folder} run",
    ]
    return Reply(result, "\n".join(lines))


def plan_reply(plans: Sequence[StagePlan]) -> Reply:
    """Reply of ``run --dry-run``."""
    result = {"stages": [{"stage": plan.stage, "state": plan.state, "reasons": list(plan.reasons)} for plan in plans]}
    return Reply(result, table([(plan.stage, f"{plan.state:<8} {'; '.join(plan.reasons)}".rstrip()) for plan in plans]))


def run_reply(report: RunReport, samples: Sequence[Sample] = ()) -> Reply:
    """Reply of ``run`` and of the single stages."""
    result = {
        "build": report.build.name,
        "workspace": str(report.build.workspace.root),
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
    }
    rows = [
        (stage.stage, "  ".join(f"{key} {value}" for key, value in stage.counts.items())) for stage in report.stages
    ]
    text = "\n\n".join([table(rows), *(_sample_text(sample) for sample in samples)])
    return Reply(result, text, report.findings, EXIT_OK if report.ok else EXIT_FINDINGS)


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
