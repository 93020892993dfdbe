"""Drawing a sheet: seeded, without repeats, whatever the order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nclue_build.reading.sample import choose


@given(st.integers(0, 200), st.integers(0, 250), st.integers(0, 2**32), st.text(max_size=5))
def test_a_choice_has_no_repeats_and_begins_with_every_shorter_one(total: int, size: int, seed: int, name: str) -> None:
    chosen = choose(total, size, seed, name)
    assert len(chosen) == min(total, size)
    assert len(set(chosen)) == len(chosen)
    assert all(0 <= index < total for index in chosen)
    assert choose(total, size // 2, seed, name) == chosen[: size // 2]


def test_every_number_is_as_likely_as_any_other() -> None:
    counts = Counter(index for seed in range(2000) for index in choose(10, 3, seed, "x"))
    assert set(counts) == set(range(10))
    assert max(counts.values()) - min(counts.values()) < 150


def test_seed_and_name_change_the_choice() -> None:
    assert choose(1000, 20, 1, "a") != choose(1000, 20, 2, "a")
    assert choose(1000, 20, 1, "a") != choose(1000, 20, 1, "b")
