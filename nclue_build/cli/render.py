"""Library results as replies."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from nclue_build.cli.render_calls import estimate_rows
from nclue_build.cli.reply import Reply, table
from nclue_build.core.errors import EXIT_FINDINGS, EXIT_OK, Finding
from nclue_build.core.excerpt import excerpt
from nclue_build.core.phrases import counted
from nclue_build.workflow.summary import STRICT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.fetch.outcome import FetchReport
    from nclue_build.workflow.doctor import Check
    from nclue_build.workflow.estimating import Estimate
    from nclue_build.workflow.extraction import ExtractionVerdict
    from nclue_build.workflow.families import Family
    from nclue_build.workflow.plan import StagePlan
    from nclue_build.workflow.runner import RunReport
    from nclue_build.workflow.samples import Sample
    from nclue_build.workflow.scaffold import Scaffold
    from nclue_build.workflow.summary import Made
    from nclue_build.workflow.validation.build import Validation


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
    rows = [(check.name, _checked(check)) for check in checks]
    return Reply(
        {"checks": [asdict(check) for check in checks]},
        table(rows) + ("\nto do" if findings else ""),
        findings,
        EXIT_FINDINGS if findings else EXIT_OK,
    )


def _checked(check: Check) -> str:
    if not check.ok:
        return f"problem  {check.value}"
    return f"note     {check.value}: {check.advice}" if check.advice else f"ok       {check.value}"


def validation_reply(found: Validation) -> Reply:
    """Reply of ``validate``."""
    result = {
        "build": found.build.name,
        "counts": dict(found.counts),
        "n_findings": found.n_findings,
        "not_run": list(found.not_run),
    }
    rows: list[tuple[str, object]] = [
        ("PDFs", found.counts.get("inputs", 0)),
        ("files", found.counts.get("files", 0)),
        ("rows", found.counts.get("rows", 0)),
        ("not run", ", ".join(found.not_run)),
        ("verdict", "valid" if found.ok else counted(found.n_findings, "finding")),
    ]
    text = f"build {found.build.name!r} in {found.build.workspace.root}\n{table(rows)}"
    return Reply(result, text, found.findings, EXIT_OK if found.ok else EXIT_FINDINGS)


def fetch_reply(report: FetchReport) -> Reply:
    """Reply of ``fetch``."""
    counts = {status: number for status, number in report.counts.items() if number}
    result = {
        "build": report.build.name,
        "n_documents": len(report.outcomes),
        "n_listed": report.n_listed,
        "counts": report.counts,
        "n_received_bytes": report.n_received,
        "n_recorded": report.n_recorded,
        "documents": [asdict(outcome) for outcome in report.outcomes],
    }
    essence = f"{report.build.name}: {counted(len(report.outcomes), 'document')}" + "".join(
        f", {number} {status}" for status, number in counts.items()
    )
    of_all = "" if len(report.outcomes) == report.n_listed else f" (a sample of {report.n_listed})"
    rows: list[tuple[str, object]] = [
        ("documents", f"{len(report.outcomes)}{of_all}"),
        *counts.items(),
        ("received", f"{report.n_received / 1e6:.1f} MB"),
        ("recorded in documents.jsonl", report.n_recorded),
    ]
    text = f"build {report.build.name!r} in {report.build.workspace.root}\n{table(rows)}"
    return Reply(result, text, report.findings, EXIT_OK if report.ok else EXIT_FINDINGS, essence)


def exported_reply(reply: Reply, written: Mapping[str, str]) -> Reply:
    """A reply of ``extract`` that also says what was exported."""
    if not written:
        return reply
    text = f"{reply.text}\n\nexported\n{table(list(written.items()))}"
    return replace(reply, result={**reply.result, "exported": dict(written)}, text=text)


def extraction_reply(verdict: ExtractionVerdict) -> Reply:
    """Reply of ``gate --extraction``."""
    rates = verdict.rates
    result = {
        "build": verdict.build.name,
        "min_extraction_rate": verdict.min_rate,
        "sources": [asdict(rate) for rate in rates],
    }
    rows = [
        (
            rate.source,
            f"{rate.percent} %  {rate.pages_passed} of {counted(rate.n_pages, 'page')}, "
            f"{counted(rate.n_documents, 'document')} ({rate.n_in_benchmark} in the benchmark): "
            + ("passed" if rate.passed else "below the rate"),
        )
        for rate in rates
    ]
    head = f"build {verdict.build.name!r} in {verdict.build.workspace.root}, min_extraction_rate = {verdict.min_rate}"
    n_passed = sum(rate.passed for rate in rates)
    essence = f"{verdict.build.name}: {n_passed} of {counted(len(rates), 'source')} passed"
    code = EXIT_OK if verdict.ok else EXIT_FINDINGS
    return Reply(result, f"{head}\n{table(rows)}", verdict.findings, code, essence)


def families_reply(families: Sequence[Family]) -> Reply:
    """Reply of ``schema``."""
    rows = [(family.name, family.file) for family in families]
    return Reply({"families": [{"name": name, "file": file} for name, file in rows]}, table(rows))


def schema_reply(family: Family) -> Reply:
    """Reply of ``schema NAME``."""
    schema = family.json_schema()
    return Reply({"name": family.name, "file": family.file, "schema": schema}, json.dumps(schema, indent=2))


def plan_reply(plans: Sequence[StagePlan], missing: Estimate | None = None) -> Reply:
    """Reply of ``run --dry-run``; with what its calls come to, where it asks a model."""
    stages = [{"stage": plan.stage, "state": plan.state, "reasons": list(plan.reasons)} for plan in plans]
    rows = [(plan.stage, f"{plan.state:<8} {'; '.join(plan.reasons)}".rstrip()) for plan in plans]
    if missing is None:
        return Reply({"stages": stages}, table(rows))
    text = f"{table(rows)}\n\nmodel calls that are missing\n{table(estimate_rows(missing))}"
    return Reply({"stages": stages, "calls": asdict(missing)}, text)


def run_reply(report: RunReport, made: Made, samples: Sequence[Sample] = ()) -> Reply:
    """Reply of ``run`` and of the single stages."""
    result = {
        "build": report.build.name,
        "workspace": str(report.build.workspace.root),
        "made": {name: value for name, value in asdict(made).items() if value is not None},
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
    short = _shortfall_text(made)
    if short:
        parts.append(short)
    if made.files:
        parts.append("files\n" + table(list(made.files.items())))
    shown = [_sample_text(sample) for sample in samples]
    essence = "\n".join(part for part in (_essence(report.build.name, made), short, *shown) if part)
    code = EXIT_OK if report.ok else EXIT_FINDINGS
    return Reply(result, "\n\n".join([*parts, *shown]), report.findings, code, essence, heading="findings")


def _made_rows(made: Made) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    if made.documents is None:
        rows.append(("documents", made.documents_in_benchmark))
    else:
        rows.append(("documents", f"{made.documents} ({made.documents_in_benchmark} in the benchmark)"))
    pages = made.pages
    judged = "" if made.pages_in_benchmark in (None, pages) else f" ({made.pages_in_benchmark} in the benchmark)"
    rows += [("pages", None if pages is None else f"{pages}{judged}"), ("conditions", made.conditions)]
    if made.inventory_version:
        rows.append(("inventory", f"P{made.inventory_version}, repaired: what follows is of it"))
    if made.queries is not None and not made.queries_by_n:  # counted by the gate alone
        rows += [("queries", made.queries), ("qrels", made.qrels)]
    elif made.queries is not None:
        parts = ", ".join(f"{count} with n = {n}" for n, count in made.queries_by_n.items())
        documents = counted(made.gold_documents or 0, "document")
        rows += [
            ("queries", f"{made.queries} ({parts})"),
            ("gold families", f"{made.gold_families} (queries with the same golds), of {documents}"),
            ("qrels", f"{made.qrels} ({made.golds} gold)"),
            ("page checks", ", ".join(f"{count} {name}" for name, count in made.outcomes.items())),
            ("relaxations", ", ".join(f"{count} {name}" for name, count in made.relaxations.items())),
        ]
    if made.gate_ok is not None:
        rows.append(("gate", _verdict(made) + (": the re-derivation agrees" if made.gate_ok else "")))
    return rows


def _shortfall_text(made: Made) -> str:
    """What was asked for and not reached: the one place where it is said."""
    return "\n".join(["short of what was asked", *(f"  {text}" for text in made.shortfalls)]) if made.shortfalls else ""


def _essence(build: str, made: Made) -> str:
    """The result in one line."""
    figures = {
        "document": made.documents_in_benchmark,
        "condition": made.conditions,
        "query": made.queries,
        "gold": made.golds,
    }
    parts = [counted(number, noun) for noun, number in figures.items() if number is not None]
    if made.gate_ok is not None:
        parts.append(f"gate {_verdict(made)}")
    return f"{build}: {', '.join(parts)}"


def _verdict(made: Made) -> str:
    return "passed" if made.gate_ok else f"failed: {counted(made.gate_findings or 0, 'finding')}"


def _sample_text(sample: Sample) -> str:
    query = sample.query
    conditions = {condition.condition_id: condition for condition in query.conditions}
    lines = [f"{query.query_id}  {query.forms.natural}", f"  requirements: {query.relaxation or STRICT}"]
    for gold in sample.golds:
        witness = dict(zip(conditions, gold.witness or (), strict=False))
        pages = ", ".join(f"p. {page}" for page in gold.witness or ())
        lines.append(f"  gold {gold.doc_id}" + (f" (witness {pages})" if pages else ""))
        for quote in gold.evidence:
            condition = conditions.get(quote.condition_id)
            name = quote.condition_id if condition is None else condition.name
            forms = () if condition is None else (condition.raw_name, *condition.aliases)
            where = _quoted_page(quote.page, witness.get(quote.condition_id))
            lines.append(f'    {name}{where}: "{excerpt(quote.quote, forms)}"')
    return "\n".join(lines)


def _quoted_page(page: int | None, witness: int | None) -> str:
    """Where a quote stands; a witness need not be the page with the best quote."""
    if page is None:
        return ""
    return f", p. {page}" + (f" (not the witness, p. {witness})" if witness not in (None, page) else "")
