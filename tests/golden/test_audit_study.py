"""A study of the demonstration's judgments by evaluators whose errors are known, from the draw to the repair."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.workflow.validation.build import validate_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("demo")]


def test_planted_errors_come_back_as_corrections(
    repository: Path, fresh_demo: Path, tmp_path: Path, load_script: Callable[[Path], Any]
) -> None:
    workspace = tmp_path / "workspace"
    shutil.copytree(fresh_demo, workspace)
    study = load_script(repository / "benches" / "simulated_audit.py").study
    found = study(workspace, "demo", tmp_path / "audit")
    assert (found["pairs"], found["findings"], found["gate"]) == (300, 0, True)
    condition = found["condition"]
    assert condition["low"] < found["expected_condition_agreement"] < condition["high"]
    assert abs(condition["value"] - found["expected_condition_agreement"]) < 0.03
    # All that was planted comes back, but for what both missed in the first round: two errors in a hundred.
    assert found["planted"] >= 40
    assert found["planted_and_decided"] + found["planted_and_not_asked_again_or_accepted"] == found["planted"]
    assert found["planted_and_decided"] >= 0.85 * found["planted"]
    assert len(found["not_planted_and_decided"]) <= 2
    at_6, at_9, locked = found["recall"]
    assert 0 < at_6 <= at_9 <= locked
    assert found["transitions"]["queries"][1] < found["transitions"]["queries"][0]
    assert validate_build(workspace, "demo").findings == ()
