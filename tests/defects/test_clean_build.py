"""A build without a fault has no findings, at page level and at document level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.records.config import BuildConfig
from nclue_build.rederive.stage import Gate
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.defects.conftest import TinyBuild


VALIDATED = {
    "duplicates.jsonl", "surface_forms.jsonl", "clusters.jsonl", "rejected.jsonl", "composition.json", "forms_qa.json",
    "gate.json",
}  # fmt: skip
"""Files that say how the benchmark came to be; the gate judges what it is."""


def test_nothing_is_flagged(tiny: TinyBuild) -> None:
    result = tiny.run()
    assert result.findings == ()
    assert result.shortfalls == ()
    assert tiny.report() == {
        "schema_version": 1,
        "ok": True,
        "level": "page",
        "counts": {
            "documents": 7, "pages": 16, "conditions": 4, "evidence": 16, "queries": 3, "qrels": 18, "quotes": 7,
        },
        "n_findings": 0,
        "findings_by_code": {},
        "findings": [],
    }  # fmt: skip


def test_validation_flags_nothing_either(tiny: TinyBuild) -> None:
    assert tiny.validate().findings == ()
    tiny.run()
    assert tiny.validate().findings == ()


def test_nothing_is_flagged_in_a_build_that_a_model_judged(
    tiny: TinyBuild, model_judge: Callable[[TinyBuild], None]
) -> None:
    model_judge(tiny)
    assert tiny.run().findings == ()


def test_the_tiny_build_has_every_outcome(tiny: TinyBuild) -> None:
    outcomes = {row["gate"] for row in tiny.read(tiny.benchmark / "qrels.jsonl")}
    assert outcomes == {"ok", "incomplete", "single_page", "no_assignment"}


def test_nothing_is_flagged_in_a_document_level_build(tiny_documents: TinyBuild) -> None:
    result = tiny_documents.run()
    assert result.findings == ()
    assert result.counts["pages"] == 0
    outcomes = {row["gate"] for row in tiny_documents.read(tiny_documents.benchmark / "qrels.jsonl")}
    assert outcomes == {"document_level", "incomplete"}


def test_nothing_is_flagged_without_the_beir_folder(tiny: TinyBuild) -> None:
    for path in sorted((tiny.benchmark / "beir").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (tiny.benchmark / "beir").rmdir()
    assert tiny.run().findings == ()


def test_the_declaration_names_every_file_of_the_build(tiny: TinyBuild) -> None:
    declared = Gate().declare(tiny.build, BuildConfig.model_validate({"schema": 1, "corpus": {"pdfs": "pdfs"}}))
    inputs = set(declared.inputs)
    inventory, benchmark = tiny.build.inventory, tiny.benchmark
    for folder in (inventory, benchmark):
        for path in folder.rglob("*"):
            if path.is_dir() or path.name in VALIDATED:
                continue
            assert path in inputs or inputs & set(path.parents), path
    assert declared.outputs == (tiny.benchmark / "gate.json",)


def test_the_report_is_the_same_bytes_every_time(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.pop())
    tiny.run()
    first = (tiny.benchmark / "gate.json").read_bytes()
    tiny.run()
    assert (tiny.benchmark / "gate.json").read_bytes() == first


def test_workers_change_nothing(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.pop())
    tiny.run()
    alone = (tiny.benchmark / "gate.json").read_bytes()
    with LocalMapper(2) as mapper:
        tiny.run(mapper)
    assert (tiny.benchmark / "gate.json").read_bytes() == alone
