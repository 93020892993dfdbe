"""Small random changes to a good build: gate and validate find all but those in fields that docs/gate.md names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.defects.conftest import TinyBuild


@pytest.fixture(scope="module")
def unchecked(repository: Path) -> set[str]:
    """Fields that nothing can be held against, as ``file field``."""
    text = (repository / "docs" / "gate.md").read_text("utf-8").partition("## What nothing is held against")[2]
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \|", text, re.MULTILINE)
    return {f"{file} {field}" for file, fields in rows for field in re.findall(r"`([^`]+)`", fields)}


@pytest.fixture(scope="module")
def run_series(repository: Path, load_script: Callable[[Path], Any]) -> Any:
    return load_script(repository / "tests" / "defects" / "fuzz.py").run_series


def test_what_goes_unnoticed_is_documented(tiny: TinyBuild, run_series: Any, unchecked: set[str]) -> None:
    series = run_series(tiny, seed=20, n=120)
    assert series.missed.keys() <= unchecked
    assert series.found >= 100
    assert min(series.by_gate, series.by_validate) >= 50


@pytest.mark.slow
def test_a_long_series(tiny: TinyBuild, run_series: Any, unchecked: set[str]) -> None:
    series = run_series(tiny, seed=11, n=4000)
    assert series.missed.keys() <= unchecked
    assert series.found >= 3600
