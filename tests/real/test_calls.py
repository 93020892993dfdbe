"""Government reports judged by import and replayed. ``tests/answerer.py`` answers: fixed rules, no model, no person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

N_DOCUMENTS = 20
MAX_CONDITIONS = 150
MAX_ROUNDS = 12


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "PYTHONHASHSEED": "random"},
    )  # fmt: skip


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def workspace(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the smallest documents, and the judge ``model``."""
    corpus = real_data / "usgov" / "corpus.jsonl"
    if not corpus.is_file():
        pytest.skip(f"no usgov corpus at {corpus}")
    root = tmp_path_factory.mktemp("calls")
    listed = sorted(rows(corpus), key=lambda row: (corpus.parent / row["file_name"]).stat().st_size)[:N_DOCUMENTS]
    for row in listed:
        row["file_name"] = Path(os.path.relpath(corpus.parent / row["file_name"], root)).as_posix()
    (root / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    made = command("init", root / "W", "--corpus", root / "corpus.jsonl")
    assert made.returncode == 0, made.stderr
    config = root / "W" / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    for key, old, new in (
        ("kind", '"rules"', '"model"'), ("max_conditions", "4000", str(MAX_CONDITIONS)),
        ("n_candidates", "4000", "60"), ("n_queries", "1000", "10"), ("workers", "0", "1"),
    ):  # fmt: skip
        assert f"\n{key} = {old} " in text
        text = text.replace(f"\n{key} = {old} ", f"\n{key} = {new} ")
    config.write_text(text, encoding="utf-8")
    return root / "W"


@pytest.mark.slow
def test_real_pages_are_judged_by_import_and_replayed(
    workspace: Path, repository: Path, load_script: Callable[[Path], Any]
) -> None:
    answerer = load_script(repository / "tests" / "answerer.py")
    rounds: list[str] = []
    for number in range(MAX_ROUNDS):
        out, answers = workspace / f"batch-{number}.jsonl", workspace / f"answers-{number}.jsonl"
        exported = command("-w", workspace, "calls", "export", out, "--json")
        assert exported.returncode == 0, exported.stderr
        result = json.loads(exported.stdout)["result"]
        if not result["n_calls"]:
            break
        rounds += result["calls"]
        subprocess.run([sys.executable, repository / "tests" / "answerer.py", out, answers], check=True)  # noqa: S603
        done = command("-w", workspace, "calls", "import", answers, "--answered-by", answerer.NAME, "--json")
        assert done.returncode == 0, done.stdout
    assert rounds[0] == "cluster"
    assert "item" in rounds
    first = command("-w", workspace, "run", "--fresh")
    assert first.returncode == 0, first.stdout + first.stderr
    benchmark = workspace / "benchmarks" / "main"
    kept = {path: path.read_bytes() for path in benchmark.rglob("*") if path.is_file()}
    assert rows(benchmark / "queries.jsonl")
    second = command("-w", workspace, "run", "--fresh")
    assert second.returncode == 0, second.stdout + second.stderr
    assert {path: path.read_bytes() for path in benchmark.rglob("*") if path.is_file()} == kept
    checked = command("-w", workspace, "calls", "verify", "--json")
    assert checked.returncode == 0, checked.stdout
    assert command("-w", workspace, "validate").returncode == 0
