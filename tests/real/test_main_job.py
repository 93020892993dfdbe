"""The main job on 36 US government reports, as a user runs it: init, run, gate."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.canonical import sha256_file
from nclue_build.core.text import fold, matching_text, readings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("usgov")  # one run of the reports serves all tests of it

WORKER_LINE = "workers = 0"


def command(*arguments: str, hash_seed: str = "random") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=300,
    )


def build(workspace: Path, corpus: Path, workers: int, hash_seed: str) -> Path:
    made = command("init", str(workspace), "--corpus", str(corpus))
    assert made.returncode == 0, made.stderr
    config = workspace / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    assert WORKER_LINE in text
    config.write_text(text.replace(WORKER_LINE, f"workers = {workers}"), encoding="utf-8")
    ran = command("-w", str(workspace), "run", hash_seed=hash_seed)
    assert ran.returncode == 0, ran.stderr
    return workspace


@pytest.fixture(scope="module")
def corpus(real_data: Path) -> Path:
    path = real_data / "usgov" / "corpus.jsonl"
    if not path.is_file():
        pytest.skip(f"no usgov corpus at {path}")
    return path


@pytest.fixture(scope="module")
def workspace(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("usgov") / "W", corpus, 1, "0")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def queries(workspace: Path) -> list[dict[str, Any]]:
    return rows(workspace / "benchmarks" / "main" / "queries.jsonl")


@pytest.fixture(scope="module")
def qrels(workspace: Path) -> list[dict[str, Any]]:
    return rows(workspace / "benchmarks" / "main" / "qrels.jsonl")


def test_there_are_enough_different_queries(queries: list[dict[str, Any]]) -> None:
    golds = Counter(doc for query in queries for doc in query["golds"])
    assert len(queries) >= 120
    assert {query["n"] for query in queries} == {2, 3}
    assert len({tuple(query["golds"]) for query in queries}) >= 80
    assert max(golds.values()) <= 0.15 * len(queries)


def test_validation_finds_nothing(workspace: Path) -> None:
    done = command("-w", str(workspace), "validate", "-q")
    assert done.returncode == 0, done.stdout


def test_qrels_are_the_sum_of_the_unions(
    workspace: Path, queries: list[dict[str, Any]], qrels: list[dict[str, Any]]
) -> None:
    documents: dict[str, set[str]] = {}
    for row in rows(workspace / "inventory" / "main" / "P0" / "evidence.jsonl"):
        documents.setdefault(row["condition_id"], set()).add(row["doc_id"])
    unions = [set().union(*(documents[part["condition_id"]] for part in query["conditions"])) for query in queries]
    assert len(qrels) == sum(len(union) for union in unions)
    assert all(row["grade"] >= 1 for row in qrels)


def test_every_condition_of_every_gold_has_a_quote_on_its_page(
    workspace: Path, queries: list[dict[str, Any]], qrels: list[dict[str, Any]]
) -> None:
    wanted = {query["query_id"]: {part["condition_id"] for part in query["conditions"]} for query in queries}
    texts: dict[tuple[str, int], list[str]] = {}
    for path in (workspace / "inventory" / "main" / "pages").iterdir():
        for page in rows(path):
            texts[page["doc_id"], page["page"]] = [
                fold(text) for block in page["blocks"] for text in readings(block["text"])
            ]
    checked = 0
    for row in qrels:
        if not row["gold"]:
            continue
        assert {quote["condition_id"] for quote in row["evidence"]} == wanted[row["query_id"]]
        for quote in row["evidence"]:
            found = fold(matching_text(quote["quote"]))
            assert any(found in text for text in texts[row["doc_id"], quote["page"]])
            checked += 1
    assert checked > 0


def test_the_gate_passes_and_a_second_run_is_a_matter_of_moments(workspace: Path) -> None:
    gate = command("-w", str(workspace), "gate", "--json")
    assert (gate.returncode, json.loads(gate.stdout)["ok"]) == (0, True), gate.stdout
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    again = command("-w", str(workspace), "run")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # what else runs does not count
    assert again.returncode == 0, again.stderr
    assert took_s < 3  # a sanity bound; the figure itself is measured in benches/


def test_no_contents_page_header_or_reference_list_is_evidence(workspace: Path) -> None:
    version = json.loads((workspace / "inventory" / "main" / "P0" / "version.json").read_text(encoding="utf-8"))
    assert not {"header", "footer", "page_number", "toc", "reference"} & set(version["allowed_roles"])


def digests(workspace: Path) -> dict[str, str]:
    found = {}
    for folder in ("inventory", "benchmarks"):
        for path in sorted((workspace / folder).rglob("*")):
            if path.is_file():
                found[path.relative_to(workspace).as_posix()] = sha256_file(path)
    return found


def test_outputs_do_not_depend_on_workers_or_hash_seed(
    workspace: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = build(tmp_path_factory.mktemp("again") / "W", corpus, 4, "1")
    assert digests(other) == digests(workspace)
