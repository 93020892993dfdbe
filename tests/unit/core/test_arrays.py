"""Rows of different lengths, and look-ups in sorted arrays."""

from __future__ import annotations

import numpy as np

from nclue_build.core.arrays import find_sorted, offsets, ranges


def test_offsets_say_where_rows_begin_and_the_last_one_ends() -> None:
    assert offsets([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert offsets(np.array([], dtype=np.int32)).tolist() == [0]
    assert offsets([1]).dtype == np.int64


def test_ranges_follow_each_other() -> None:
    assert ranges(np.array([5, 9, 0]), np.array([2, 0, 3])).tolist() == [5, 6, 0, 1, 2]
    assert ranges(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []


def test_positions_of_what_is_there_and_minus_one_for_the_rest() -> None:
    keys = np.array([2, 3, 7])
    assert find_sorted(keys, np.array([[7, 8], [1, 3]])).tolist() == [[2, -1], [-1, 1]]
    assert find_sorted(np.array([], dtype=np.int64), np.array([1, 2])).tolist() == [-1, -1]
