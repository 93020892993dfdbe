"""The whole way through the command line, on a small corpus."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from nclue_build import Workspace
from nclue_build.workflow.lock import build_lock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Run


BENCHMARK = (
    "queries.jsonl", "qrels.jsonl", "qrels.meta.json", "qrels.trec", "qrels.gold.trec", "qrels.conditions.trec",
    "qrels.pages.trec", "n2/qrels.trec", "n2/qrels.gold.trec", "n3/qrels.trec", "n3/qrels.gold.trec", "forms_qa.json",
    "composition.json", "rejected.jsonl", "gate.json", "beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/test.tsv",
)  # fmt: skip


def test_two_lines_make_a_gated_benchmark(fresh: Path, run: Run) -> None:
    made = run("-w", fresh, "run", "--show", "2")
    assert made.code == 0, made.err
    for words in (
        "10 (10 in the benchmark)",
        "passed: the re-derivation agrees",
        "unrelated_conditions",
        "short of what was asked",
    ):
        assert words in made.out
    assert "gate: done in" in made.err
    assert made.out.count("queries asked for: ") == 1
    assert "queries asked for" not in made.err
    assert "benchmarks/main/composition.json" in made.out
    assert 'Find the document that discusses "' in made.out
    assert [name for name in BENCHMARK if not (fresh / "benchmarks" / "main" / name).is_file()] == []


def test_an_unchanged_rerun_is_quick_and_says_the_same(built: Path, run: Run) -> None:
    began = time.process_time()
    again = run("-w", built, "run")
    assert time.process_time() - began < 1
    assert again.err == "extract: up to date\nmine: up to date\ncompose: up to date\ngate: up to date\n"
    assert run("-w", built, "run", "--fresh").out == again.out


def test_quiet_says_the_essence(built: Path, run: Run) -> None:
    quiet = run("-w", built, "run", "-q", "--fresh")
    assert quiet.err == ""
    first, *rest = quiet.out.splitlines()
    assert re.fullmatch(r"main: 10 documents, 10 conditions, \d+ queries, \d+ golds, gate passed", first)
    assert rest[0] == "short of what was asked"
    assert "files" not in quiet.out
    assert run("-w", built, "gate", "-q").out.startswith("main: 10 documents, 10 conditions, ")


def test_the_gate_has_figures_and_no_nulls(built: Path, run: Run) -> None:
    made = run("-w", built, "gate", "--json").envelope["result"]["made"]
    assert {"documents_in_benchmark", "pages", "conditions", "evidence", "queries", "qrels", "gate_ok"} <= made.keys()
    assert None not in made.values()


def test_a_benchmark_of_an_older_inventory_is_said_first(built: Path, run: Run) -> None:
    path = built / "inventory" / "main" / "P0" / "conditions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    judged = run("-w", built, "gate", "--json")
    assert judged.code == 1
    first, *rest = judged.envelope["findings"]
    assert first["code"] == "outdated-benchmark"
    assert len(rest) > 1
    assert "judging what is there" in judged.err


def test_extract_says_what_came_from_the_cache(fresh: Path, run: Run) -> None:
    assert "extract: 10 read, 0 taken from the cache" in run("-w", fresh, "extract").err
    (fresh.parent / "reports" / "report 1.pdf").unlink()
    assert "extract: 0 read, 9 taken from the cache" in run("-w", fresh, "extract").err


def test_options_stand_before_or_after_the_verb(built: Path, run: Run) -> None:
    before = run("--json", "-q", "-w", built, "-b", "main", "run")
    after = run("run", "--workspace", built, "--build", "main", "--quiet", "--json")
    assert before == after
    assert before.err == ""


def test_the_envelope_of_a_run(built: Path, run: Run) -> None:
    envelope = run("-w", built, "run", "--json", "--show", "3").envelope
    assert envelope["ok"] is True
    assert envelope["findings"] == []
    result = envelope["result"]
    made = result["made"]
    assert made["queries"] == sum(made["queries_by_n"].values()) == sum(made["relaxations"].values()) > 0
    assert made["gate_ok"] is True
    assert [stage["stage"] for stage in result["stages"]] == ["extract", "mine", "compose", "gate"]
    assert not any(stage["ran"] for stage in result["stages"])
    assert [sample["query"]["n"] for sample in result["samples"]] == [3, 3, 2]
    assert all(gold["gold"] for sample in result["samples"] for gold in sample["golds"])


def test_before_the_first_run_one_is_told_to_run(fresh: Path, run: Run) -> None:
    for words in (["gate"], ["run", "--to", "extract", "--show", "1"]):
        failed = run("-w", fresh, *words)
        assert failed.code == 2
        assert "Run 'nclue-build run' first" in failed.err


def test_single_verbs(fresh: Path, run: Run) -> None:
    refused = run("-w", fresh, "mine")
    assert refused.code == 2
    assert "mine needs extract, which is stale (not run yet)" in refused.err
    assert run("-w", fresh, "extract").code == 0
    assert "conditions  10" in run("-w", fresh, "mine").out
    assert "queries" in run("-w", fresh, "compose").out
    assert "passed" in run("-w", fresh, "gate").out
    assert "up to date" in run("-w", fresh, "compose").err
    assert "recomputed on request" in run("-w", fresh, "compose", "--fresh").err
    assert "recomputed on request" in run("-w", fresh, "gate").err


def test_a_dry_run_says_why_and_writes_nothing(built: Path, run: Run) -> None:
    (built / "benchmarks" / "main" / "qrels.trec").unlink()
    plan = run("-w", built, "run", "--dry-run")
    assert plan.code == 0
    assert [line.split() for line in plan.out.splitlines()][:2] == [["extract", "current"], ["mine", "current"]]
    assert "compose  stale    outputs altered: benchmarks/main/qrels.trec is missing" in plan.out
    assert "gate     waiting  comes after compose" in plan.out
    assert not (built / "benchmarks" / "main" / "qrels.trec").exists()
    stages = run("-w", built, "run", "--dry-run", "--json").envelope["result"]["stages"]
    assert [stage["state"] for stage in stages] == ["current", "current", "stale", "waiting"]


def test_an_edited_judgment_is_found_by_gate_and_validate_and_mended_by_run(built: Path, run: Run) -> None:
    path = built / "benchmarks" / "main" / "qrels.jsonl"
    intact = path.read_bytes()
    rows = [json.loads(line) for line in intact.splitlines()]
    gold = next(row for row in rows if row["gold"])
    gold["grade"] = 1
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    judged = run("-w", built, "gate", "--json")
    assert judged.code == 1
    assert judged.envelope["ok"] is False
    assert "qrel-grade-differs" in {finding["code"] for finding in judged.envelope["findings"]}
    assert "compose is stale" in judged.err
    shown = run("-w", built, "gate")
    assert shown.code == 1
    assert "[qrel-grade-differs]" in shown.out
    checked = run("-w", built, "validate", "--json").envelope
    assert {finding["code"] for finding in checked["findings"]} == {"digest-differs", "output-altered"}
    mended = run("-w", built, "run")
    assert mended.code == 0
    assert path.read_bytes() == intact
    assert run("-w", built, "validate").code == 0


@pytest.mark.parametrize("name", ["run", "extract", "mine", "compose", "gate"])
def test_a_second_run_is_refused(built: Path, run: Run, name: str) -> None:
    fresh = [] if name == "gate" else ["--fresh"]
    with build_lock(Workspace(built).choose_build("main")):
        refused = run("-w", built, name, *fresh)
    assert refused.code == 2
    assert "is already being run by process" in refused.err
    assert refused.out == ""


def test_reasons_name_what_really_changed(built: Path, run: Run) -> None:
    config = built / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    assert "\n# min_subsets = 10 " in text
    config.write_text(text.replace("\n# min_subsets = 10 ", "\nmin_subsets = 1 "), encoding="utf-8")
    assert run("-w", built, "run", "--dry-run").out.count("current") == 4  # 1 is what 10 documents had anyway
    config.write_text(text.replace("\n# min_subsets = 10 ", "\nmin_subsets = 2 "), encoding="utf-8")
    assert "settings changed: min_subsets: 1 -> 2\n" in run("-w", built, "run", "--dry-run").out
