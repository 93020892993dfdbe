"""Intervals and p values against a known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(repository: Path, load_script: Callable[[Path], Any]) -> Any:
    return load_script(repository / "benches" / "bench_intervals.py")


def test_intervals_by_family_hold_the_mean_in_95_of_100_samples(bench: Any) -> None:
    by_family, by_query = bench.coverage(1000)
    assert 0.93 <= by_family <= 0.97
    assert by_query < 0.90  # which is why there are families


def test_p_values_are_small_no_more_often_than_they_say(bench: Any) -> None:
    n_samples = 1000
    by_family, by_query, block = bench.false_alarms(n_samples)
    for level, *shares in zip(bench.LEVELS, by_family, block, strict=True):
        error = 3 * np.sqrt(level * (1 - level) / n_samples)
        assert all(share <= level + error for share in shares)
    assert by_query[1] > 0.08  # queries of a family are no independent units
