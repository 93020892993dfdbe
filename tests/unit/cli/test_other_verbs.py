"""doctor, schema and validate."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build import Workspace
from nclue_build.corpus.making import program
from nclue_build.workflow import doctor, doctor_optional, packages
from nclue_build.workflow.families import FAMILIES
from nclue_build.workflow.lock import build_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Run


def test_the_doctor_finds_this_machine_fit(built: Path, run: Run) -> None:
    seen = run("-w", built, "doctor", "--json")
    assert seen.code == 0
    checks = {check["name"]: check for check in seen.envelope["result"]["checks"]}
    assert {"python", "pymupdf", "reader", "cores", "memory", "disk", "workspace", "build main"} <= checks.keys()
    assert all(check["ok"] for check in checks.values())
    assert "reader" in run("doctor").out


def test_what_is_missing_and_not_needed_is_a_note(
    fresh: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program, "_OWN_PROGRAMS", str(tmp_path))
    lines = ["pydantic>=2", "not-there>=1,<2; extra == 'fast'", 'pydantic>=2; python_version > "3" and extra == "dask"']
    monkeypatch.setattr(packages, "requires", lambda _: lines)
    seen = run("-w", fresh, "doctor")
    assert seen.code == 0
    shown = {line.strip().split("  ")[0]: line for line in seen.out.splitlines()}
    assert "note     not-there missing: pip install 'nclue-build[fast]' (for run files read" in shown["extra fast"]
    assert "ok       pydantic 2." in shown["extra dask"]
    assert "note     none: MinerU is not installed" in shown["mineru"]
    assert "note     none: " in shown["tesseract"]
    assert "[extract] ocr" in shown["tesseract"]
    assert "none needed" in shown["fonts"]
    assert f"pymupdf {packages.installed_version('pymupdf')} reads pages" in shown["reader"]


def test_the_extras_are_those_of_the_project(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (
        packages.declared_extras().keys() == project["optional-dependencies"].keys() == doctor_optional._PURPOSES.keys()
    )
    assert not set(packages.declared_packages()) & {"pyarrow", "distributed", "mineru"}


def test_the_doctor_says_what_to_do(fresh: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (fresh / "configs" / "main.toml").write_text("schema = 3\n", encoding="utf-8")
    monkeypatch.setattr(packages, "requires", lambda _: ["not-there-at-all>=1,<2", "orjson<2"])
    seen = run("-w", fresh, "doctor")
    assert seen.code == 1
    assert (
        f"orjson: {packages.installed_version('orjson')}, which is another than is needed: pip install 'orjson<2'"
        in (" ".join(seen.out.split()))
    )
    assert "not-there-at-all: missing: pip install 'not-there-at-all>=1,<2'" in seen.out
    assert "main.toml:1: schema: " in seen.out
    assert run("doctor", "-w", fresh / "nowhere").code == 1


def test_the_doctor_finds_what_would_stop_a_run(fresh: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def problem() -> str:
        seen = run("-w", fresh, "doctor", "--json")
        assert seen.code == 1
        (finding,) = seen.envelope["findings"]
        return str(finding["message"])

    with build_lock(Workspace(fresh).choose_build("main")):
        assert f"build main: is being run by process {os.getpid()}: wait" in problem()
    reports = fresh.parent / "reports"
    reports.rename(fresh.parent / "moved")
    assert "build main: its documents are not all there: ../reports: no such folder" in problem()
    reports.mkdir()
    assert "no PDF in this folder or below" in problem()
    reports.rmdir()
    (fresh.parent / "moved").rename(reports)
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda place, mode: place != fresh or not mode & os.W_OK)
        assert f"writable: no: {fresh}: make it writable" in problem()
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(fresh)
        patch.setattr("shutil.disk_usage", lambda _: usage._replace(free=1 << 20))
        assert "disk: 0.0 GiB free: make room" in problem()
    assert run("-w", fresh, "doctor").code == 0


def test_what_the_doctor_cannot_look_at_hides_nothing_else(
    fresh: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "some/place")

    monkeypatch.setattr(doctor, "load_config", refused)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", refused)
    monkeypatch.setenv("PATH", "")
    seen = run("-w", fresh, "doctor", "--json")
    assert seen.code == 1
    messages = [finding["message"] for finding in seen.envelope["findings"]]
    assert messages == [
        "reader: cannot be looked at: some/place: permission denied",
        "build main: cannot be looked at: some/place: permission denied",
    ]
    assert {"tesseract", "fonts", "cores", "disk"} <= {row["name"] for row in seen.envelope["result"]["checks"]}


def test_every_schema_can_be_printed(run: Run) -> None:
    listed = run("schema", "--json").envelope["result"]["families"]
    assert [row["name"] for row in listed] == [family.name for family in FAMILIES]
    for row in listed:
        printed = json.loads(run("schema", row["name"]).out)
        assert printed["x-nclue-file"] == row["file"]
        assert {"properties", "oneOf"} & printed.keys()
        assert run("schema", row["name"], "--json").envelope["result"]["schema"] == printed
    assert run("schema", "nothing").code == 2
    assert "there are workspace, config, " in run("schema", "xyz").err
    assert "no schema 'querys': did you mean queries?" in run("schema", "querys").err
    assert "did you mean qrels?" in run("schema", "QRELS.jsonl").err


def test_schemas_describe_fields(run: Run) -> None:
    schema = json.loads(run("schema", "qrels").out)
    assert schema["properties"]["grade"]["description"].startswith("The clue count; n - 1 where")
    assert "description" not in schema["properties"]["query_id"]
    assert json.loads(run("schema", "documents").out)["properties"]["file_name"]["description"]


def test_a_good_build_is_valid(built: Path, run: Run) -> None:
    checked = run("-w", built, "validate", "--json")
    assert checked.code == 0
    result = checked.envelope["result"]
    assert result["n_findings"] == 0
    assert result["not_run"] == []
    assert result["counts"]["files"] > 25


def test_files_without_receipts_are_checked_too(built: Path, run: Run) -> None:
    shutil.rmtree(built / ".nclue")
    checked = run("-w", built, "validate")
    assert checked.code == 0
    assert "not run  extract, mine, compose, gate" in checked.out
    with (built / "benchmarks" / "main" / "qrels.trec").open("a", encoding="utf-8") as stream:
        stream.write("q_none 0 r1 1\n")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert [finding["code"] for finding in found] == ["unknown-query", "unknown-document"]


def test_an_unrun_build_is_valid_as_far_as_its_inputs_are(fresh: Path, run: Run) -> None:
    checked = run("-w", fresh, "validate", "--json")
    assert checked.code == 0
    assert checked.envelope["result"]["counts"]["inputs"] == 10
    (fresh.parent / "reports").rename(fresh.parent / "moved")
    found = run("-w", fresh, "validate", "--json")
    assert found.code == 1
    assert [finding["code"] for finding in found.envelope["findings"]] == ["corpus-missing"]


def test_validate_during_a_run_says_so(built: Path, run: Run) -> None:
    assert run("-w", built, "validate", "-q").err == ""
    with build_lock(Workspace(built).choose_build("main")):
        assert f"warning: process {os.getpid()} is running this build" in run("-w", built, "validate", "-q").err


def test_a_benchmark_of_an_older_inventory_is_said_first(built: Path, run: Run) -> None:
    path = built / "inventory" / "main" / "P0" / "conditions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert found[0]["code"] == "outdated-benchmark"
    assert found[0]["path"] == "benchmarks/main/qrels.meta.json"


def _repeat(rows: list[dict[str, Any]]) -> None:
    rows.insert(0, rows[0])


def _set(**changes: object) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[0].update(changes)


@pytest.mark.parametrize(
    ("name", "edit", "code"),
    [
        ("inventory/main/documents.jsonl", _repeat, "duplicate-document"),
        ("inventory/main/documents.jsonl", _set(colour="red"), "bad-record"),
        ("inventory/main/documents.jsonl", _set(sha256="0" * 64), "digest-differs"),
        ("inventory/main/documents_quality.jsonl", _set(doc_id="other"), "unknown-document"),
        ("inventory/main/documents_quality.jsonl", _set(pages_empty=7), "quality-counts-differ"),
        ("inventory/main/documents_quality.jsonl", _set(source="other"), "quality-counts-differ"),
        ("inventory/main/documents_quality.jsonl", _set(removed="duplicate"), "bad-record"),
        ("inventory/main/clusters.jsonl", _repeat, "duplicate-id"),
        ("inventory/main/P0/conditions.jsonl", _repeat, "duplicate-condition"),
        ("inventory/main/P0/conditions.jsonl", _set(condition_id="other"), "unknown-condition"),
        ("inventory/main/P0/evidence.jsonl", _repeat, "duplicate-evidence"),
        ("inventory/main/P0/evidence.jsonl", _set(doc_id="other"), "unknown-document"),
        ("inventory/main/P0/evidence.jsonl", _set(pages=[0]), "bad-record"),
        ("inventory/main/P0/evidence.jsonl", _set(pages=None, mentions=[], in_heading=[]), "wrong-level"),
        ("benchmarks/main/queries.jsonl", _repeat, "duplicate-query"),
        ("benchmarks/main/queries.jsonl", _set(golds=["other"]), "unknown-document"),
        ("benchmarks/main/queries.jsonl", _set(n=3), "bad-record"),
        ("benchmarks/main/qrels.jsonl", _repeat, "duplicate-qrel"),
        ("benchmarks/main/qrels.jsonl", _set(query_id="q_other"), "unknown-query"),
        ("benchmarks/main/qrels.jsonl", _set(pages=[[1]]), "qrel-pages-differ"),
        ("benchmarks/main/qrels.jsonl", _set(grade=0), "bad-record"),
        ("benchmarks/main/rejected.jsonl", _set(stage="mend"), "bad-record"),
    ],
)
def test_validate_names_the_fault(
    built: Path, run: Run, name: str, edit: Callable[[list[dict[str, Any]]], None], code: str
) -> None:
    path = built / name
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    edit(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    checked = run("-w", built, "validate", "--json")
    assert checked.code == 1
    found = {finding["code"] for finding in checked.envelope["findings"]}
    assert {code, "output-altered"} <= found
    assert all(finding["message"] for finding in checked.envelope["findings"])


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("inventory/main/documents.jsonl", "file-missing"),
        ("inventory/main/P0/version.json", "file-missing"),
        ("benchmarks/main/qrels.meta.json", "file-missing"),
        ("benchmarks/main/n2/qrels.trec", "file-missing"),
        ("benchmarks/main/beir/corpus.jsonl", "output-missing"),
        ("benchmarks/main/gate.json", "output-missing"),
    ],
)
def test_validate_names_what_is_gone(built: Path, run: Run, name: str, code: str) -> None:
    (built / name).unlink()
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert (code, name) in {(finding["code"], finding["path"]) for finding in found}


def test_validate_looks_at_the_pdfs(built: Path, run: Run) -> None:
    reports = built.parent / "reports"
    (reports / "report 1.pdf").unlink()
    (reports / "report 2.pdf").write_bytes(b"%PDF-1.4 other")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert [finding["code"] for finding in found] == ["file-missing", "digest-differs", "stale-stage"]
    for path in reports.glob("*.pdf"):
        path.unlink()
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert [finding["code"] for finding in found] == ["corpus-missing"]


@pytest.mark.parametrize(
    ("name", "changes", "code"),
    [
        ("inventory/main/P0/version.json", {"version": 1, "parent": 0}, "version-counts-differ"),
        ("benchmarks/main/composition.json", {"n_queries": 1}, "composition-differs"),
        ("benchmarks/main/composition.json", {"mix": []}, "composition-differs"),
        ("benchmarks/main/forms_qa.json", {"queries": 1}, "composition-differs"),
    ],
)
def test_validate_compares_reports_with_what_they_are_about(
    built: Path, run: Run, name: str, changes: dict[str, object], code: str
) -> None:
    path = built / name
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), encoding="utf-8")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert (code, name) in {(finding["code"], finding["path"]) for finding in found}


def test_validate_reads_duplicate_groups(built: Path, run: Run) -> None:
    quality = [
        json.loads(line) for line in (built / "inventory/main/documents_quality.jsonl").read_bytes().splitlines()
    ]
    first, second, third = (row["doc_id"] for row in quality[:3])
    rows: list[dict[str, object]] = [
        {"representative": first, "doc_ids": [first, second], "removed": [second], "similarity_percent": 90},
        {"representative": third, "doc_ids": [first, second], "removed": [], "similarity_percent": 90},
    ]
    rows = [{"group_id": f"near_{row['representative']}", "kind": "near"} | row for row in rows]
    path = built / "inventory" / "main" / "duplicates.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert [finding["line"] for finding in found if finding["code"] == "duplicates-differ"] == [1, 2]


def test_validate_finds_page_files_of_nobody_and_changed_texts(built: Path, run: Run) -> None:
    pages = built / "inventory" / "main" / "pages"
    (pages / "nobody.jsonl").write_text("", encoding="utf-8")
    path = min(pages.glob("*_*.jsonl"))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    rows[1]["blocks"][0]["text"] += "!"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    seen = {(finding["code"], finding["path"], finding["line"]) for finding in found}
    assert ("digest-differs", f"inventory/main/pages/{path.name}", 2) in seen
    assert ("unknown-document", "inventory/main/pages/nobody.jsonl", None) in seen


def test_a_bad_line_of_a_trec_file_does_not_hide_the_others(built: Path, run: Run) -> None:
    path = built / "benchmarks" / "main" / "qrels.trec"
    n_lines = len(path.read_bytes().splitlines())
    with path.open("a", encoding="utf-8") as stream:
        stream.write("\nq_none 0 none --1\nq_none 0 none 1\n")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    lines = [(finding["code"], finding["line"] - n_lines) for finding in found if finding["line"] is not None]
    wanted = [("bad-qrels-row", 1), ("bad-qrels-row", 2), ("unknown-document", 3), ("unknown-query", 3)]
    assert sorted(lines) == wanted


def test_validate_looks_into_page_files(built: Path, run: Run) -> None:
    path = min((built / "inventory" / "main" / "pages").iterdir())
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), encoding="utf-8")
    found = run("-w", built, "validate", "--json").envelope["findings"]
    assert (found[0]["code"], found[0]["path"]) == ("page-rows-differ", f"inventory/main/pages/{path.name}")
