"""docs/answering.md, followed to a finished build. ``tests/answerer.py`` answers: no model, no person."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Run

pytestmark = pytest.mark.slow
MOST_ROUNDS = 9


def test_whoever_follows_the_page_gets_a_build(
    repository: Path, tmp_path: Path, run: Run, load_script: Callable[[Path], Any]
) -> None:
    for name in ("configs", "corpora", "prompts"):
        shutil.copytree(repository / name, tmp_path / name)
    answerer = load_script(repository / "tests" / "answerer.py")
    page = (repository / "docs" / "answering.md").read_text(encoding="utf-8")
    for command in ("calls export", "calls import answers-1.jsonl --answered-by", "run`", "calls verify`"):
        assert f"nclue-build -b demo-model {command}" in page or f"`{command}" in page
    words = ("-w", tmp_path, "-b", "demo-model")
    rounds = []
    for number in range(1, MOST_ROUNDS):
        batch, answers = tmp_path / f"round-{number}.jsonl", tmp_path / f"answers-{number}.jsonl"
        exported = run(*words, "calls", "export", batch, "--json")
        assert exported.code == 0, exported.out
        rounds.append(list(exported.envelope["result"]["calls"]))
        if not batch.stat().st_size:
            break
        if number == 1:  # the round that waits in the repository is not out of date
            waiting = repository / "frozen_outputs" / "demo-model" / "round-1.jsonl"
            assert batch.read_bytes() == waiting.read_bytes()
        lines = [json.loads(line) for line in batch.read_text(encoding="utf-8").split("\n") if line]
        answers.write_text("".join(json.dumps(answerer.answer(row)) + "\n" for row in lines), encoding="utf-8")
        assert run(*words, "calls", "import", answers, "--answered-by", answerer.NAME).code == 0
    assert rounds[:4] == [["cluster"], ["partition"], ["cluster"], ["item"]]
    assert rounds[-1] == []
    assert run(*words, "run").code == 0
    for verb in (("calls", "verify"), ("validate",)):
        assert run(*words, *verb).code == 0
    status = run(*words, "calls", "status", "--json").envelope["result"]
    assert (status["orphaned"], status["missing_records"], status["pending"]) == ([], [], {})
    assert list(status["answered_by"]) == [answerer.NAME]
