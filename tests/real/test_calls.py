"""Government reports judged by import and replayed. ``tests/answerer.py`` answers: fixed rules, no model, no person."""

from __future__ import annotations

import json
import os
import random
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


def command(
    *words: str | Path, program: tuple[str | Path, ...] = ("-m", "nclue_build")
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *program, *map(str, words)],
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
        ("n_candidates", "4000", "40"), ("n_queries", "1000", "10"), ("workers", "0", "1"),
    ):  # fmt: skip
        assert f"\n{key} = {old} " in text
        text = text.replace(f"\n{key} = {old} ", f"\n{key} = {new} ")
    config.write_text(text, encoding="utf-8")
    return root / "W"


def bad_lines(good: list[dict[str, Any]], answerer: Any) -> list[tuple[str, str]]:
    """Ten answers that are refused, with the reason of each; the calls are answered well in other lines."""
    keys = [row["custom_id"] for row in good]
    whole = good[0]["result"]["message"]["content"][0]["text"]

    def line(number: int, text: str = whole, **fields: Any) -> str:
        result = {"type": "succeeded", "message": answerer.message(text) | fields}
        return json.dumps({"custom_id": keys[number], "result": result})

    return [
        ("no_json", line(0)[:-9]),
        ("no_custom_id", json.dumps({"result": good[0]["result"]})),
        ("unknown", line(0).replace(keys[0], "0" * 64)),
        ("not_succeeded", json.dumps({"custom_id": keys[1], "result": {"type": "expired"}})),
        ("no_message", line(2, type="error")),
        ("truncated", line(3, stop_reason="max_tokens")),
        ("refused", line(4, stop_reason="refusal")),
        ("empty", line(5, content=[])),
        ("invalid", line(6, "KEEP")),
        ("secret", line(7, id="sk-" + "A1b2" * 8)),
    ]


@pytest.mark.slow
def test_real_pages_are_judged_by_import_and_replayed(
    workspace: Path, repository: Path, load_script: Callable[[Path], Any]
) -> None:
    answerer = load_script(repository / "tests" / "answerer.py")
    rounds: list[str] = []
    for number in range(MAX_ROUNDS):
        out, path = workspace / f"batch-{number}.jsonl", workspace / f"answers-{number}.jsonl"
        exported = command("-w", workspace, "calls", "export", out, "--json")
        assert exported.returncode == 0, exported.stderr
        result = json.loads(exported.stdout)["result"]
        if not result["n_calls"]:
            break
        rounds += result["calls"]
        good = [answerer.answer(row) for row in rows(out)]
        random.Random(number).shuffle(good)  # noqa: S311 - any order will do
        # A call that a bad line stands for is answered again only after that line has been refused.
        bad = bad_lines(good, answerer) if number == 0 else []
        left = {json.loads(line)["custom_id"] for reason, line in bad[3:]}
        lines = [line for _, line in bad] + [json.dumps(row) for row in good if row["custom_id"] not in left]
        random.Random(number).shuffle(lines)  # noqa: S311 - any order will do
        done = bring(workspace, path, lines, answerer.NAME)
        found = json.loads(done.stdout)
        assert (done.returncode, found["result"]["left"]) == ((1, len(left)) if bad else (0, 0)), done.stdout
        shown = {row["line"]: row["message"].partition(":")[0] for row in found["findings"]}
        assert shown == {lines.index(line) + 1: reason for reason, line in bad}
        if bad:
            again = bring(workspace, path, [json.dumps(row) for row in good], answerer.NAME)
            assert (again.returncode, json.loads(again.stdout)["result"]["left"]) == (0, 0), again.stdout
    assert rounds[0] == "cluster"
    assert "item" in rounds
    benchmark = workspace / "benchmarks" / "main"
    kept: list[dict[Path, bytes]] = []
    for _ in range(2):
        replayed = command(
            "-w", workspace, "run", "--fresh", "--from", "mine", program=(repository / "tests" / "replay.py",)
        )
        assert replayed.returncode == 0, replayed.stdout + replayed.stderr
        kept.append({path: path.read_bytes() for path in benchmark.rglob("*") if path.is_file()})
    assert rows(benchmark / "queries.jsonl")
    assert kept[0] == kept[1]
    checked = command("-w", workspace, "calls", "verify", "--json")
    assert checked.returncode == 0, checked.stdout
    assert command("-w", workspace, "validate").returncode == 0


def bring(workspace: Path, path: Path, lines: list[str], name: str) -> subprocess.CompletedProcess[str]:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return command("-w", workspace, "calls", "import", path, "--answered-by", name, "--json")
