"""A whole build that is recorded live, round after round. ``tests/answerer.py`` answers: no model, no person."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import nclue_build
from nclue_build.core.errors import BudgetReached
from nclue_build.core.spending import Spending
from nclue_build.store.workspace import find_build
from nclue_build.workflow.calls import used_calls

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOREST = "The Kelp Forest nearest to the harbor was surveyed, and the Kelp Forest recovered."
SETTINGS = {
    'kind = "rules"': 'kind = "model"',
    "n_candidates = 4000": "n_candidates = 40",
    "n_queries = 1000": "n_queries = 10",
}


@pytest.fixture
def splitting(built: Path, write_pdf: Callable[..., Path], report_pages: list[list[list[str]]]) -> Path:
    """A workspace to be judged by a model; one of its concepts has two forms, which the answerer splits."""
    for number, pages in enumerate(report_pages):
        if any(lines[0] == "Kelp Forests" for lines in pages):
            more = [[*lines, FOREST] if lines[0] == "Kelp Forests" else lines for lines in pages]
            write_pdf(built.parent / "reports" / f"report {number}.pdf", more)
    config = built / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    for old, new in SETTINGS.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    config.write_text(text, encoding="utf-8")
    return built


def test_all_rounds_are_recorded_in_one_run_and_replayed_without_a_service(
    splitting: Path, service: Any, http: Any, repository: Path, load_script: Any, tree_digests: Any
) -> None:
    answerer = load_script(repository / "tests" / "answerer.py")
    asked: list[str] = []

    def by_text(text: str) -> Any:
        asked.append(text)
        (function,) = (function for mark, function in answerer.ANSWERS if mark in text)
        return http(200, json.dumps(answerer.message(json.dumps(function(text)))).encode())

    service.by_text = by_text
    assert nclue_build.run_build(splitting, calls="record").ok
    assert set(Counter(asked).values()) == {1}
    used = Counter(row.prompt_id for row in used_calls(find_build(splitting)))
    assert used.keys() == {"cluster", "partition", "item"}
    assert used.total() == len(asked)
    recorded = tree_digests(splitting)
    service.by_text = None  # whoever asks now gets no answer
    again = nclue_build.run_build(splitting)
    assert not [stage.stage for stage in again.stages if stage.ran]  # nothing is computed once more
    assert nclue_build.run_build(splitting, first="mine", fresh=True).ok
    assert tree_digests(splitting) == recorded
    assert len(service.asked) == len(asked)


@pytest.mark.slow
def test_limits_hold_over_all_stages_and_the_next_run_goes_on(
    splitting: Path, service: Any, http: Any, repository: Path, load_script: Any
) -> None:
    answerer = load_script(repository / "tests" / "answerer.py")

    def by_text(text: str) -> Any:
        (function,) = (function for mark, function in answerer.ANSWERS if mark in text)
        return http(200, json.dumps(answerer.message(json.dumps(function(text)))).encode())

    service.by_text = by_text
    whole = splitting.parent / "whole"
    shutil.copytree(splitting, whole)
    assert nclue_build.run_build(whole, calls="record").ok
    total = len(service.asked)
    used = Counter(row.prompt_id for row in used_calls(find_build(whole)))
    mined = used["cluster"] + used["partition"]
    seen = 0
    for limit in (0, mined - 1, 3):  # the last one reaches from one stage into the next
        with pytest.raises(BudgetReached, match=f"--max-calls {limit}"):
            nclue_build.run_build(splitting, calls="record", spending=Spending(max_calls=limit))
        seen += limit
        assert len(service.asked) - total == seen
    exactly = Spending(max_calls=total - seen)
    assert nclue_build.run_build(splitting, calls="record", spending=exactly).ok
    assert exactly.calls == total - seen
    assert len(service.asked) == 2 * total
    for name in ("inventory", "benchmarks"):
        files = [path.relative_to(whole) for path in (whole / name).rglob("*") if path.name != "calls.jsonl"]
        assert all((splitting / path).read_bytes() == (whole / path).read_bytes() for path in files if "." in path.name)
