"""A whole build that is recorded live, round after round. ``tests/answerer.py`` answers: no model, no person."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import nclue_build
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
