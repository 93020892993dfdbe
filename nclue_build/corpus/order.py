"""Reading order by recursive cuts.

The recursive X-Y cut (Nagy & Seth, "Hierarchical representation of optically scanned documents",
ICPR 1984) with one change: a page is cut into columns only where both sides read like prose, since
the gutters of a table must not tear its rows apart.
"""

from __future__ import annotations

from itertools import count, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nclue_build.corpus.segments import Segment

_MAX_DEPTH: Final = 40
_MIN_GUTTER: Final = 600
"""Narrowest gutter between columns, in 1/100 pt."""
_MIN_COLUMN_LINES: Final = 3
MIN_COLUMN_CHARS: Final = 18
"""Mean characters a line has in a column of prose."""


def reading_order(segments: Sequence[Segment]) -> list[Segment]:
    """Sort the segments of a page: columns from left to right, each from top to bottom.

    Text in another direction (a table printed sideways) follows what is in the page's main one.
    The segments are told their column, too.
    """
    by_direction: dict[int, list[Segment]] = {}
    for segment in segments:
        by_direction.setdefault(segment.lines[0].direction, []).append(segment)
    directions = sorted(by_direction, key=lambda d: (-sum(s.n_chars for s in by_direction[d]), d))
    ordered: list[Segment] = []
    numbers = count(1)
    for direction in directions:
        ordered += _cut(by_direction[direction], 0, numbers)
    return ordered


def _cut(segments: list[Segment], depth: int, numbers: Iterator[int]) -> list[Segment]:
    if depth > _MAX_DEPTH:
        return sorted(segments, key=_TOP_LEFT)
    columns = _columns(segments)
    if len(columns) > 1:
        for column in columns:
            number = next(numbers)
            for segment in column:
                segment.column = number
        return [segment for column in columns for segment in _cut(column, depth + 1, numbers)]
    ordered: list[Segment] = []
    for band, has_columns in _bands(segments):
        if has_columns:
            ordered += _cut(band, depth + 1, numbers)
        else:
            ordered += band if len(band) == 1 else sorted(band, key=_TOP_LEFT)
    return ordered


_TOP_LEFT: Final = attrgetter("y0", "x0", "y1", "x1")
_LEFT_RIGHT: Final = attrgetter("x0", "x1")
_TOP_BOTTOM: Final = attrgetter("y0", "y1")


def _groups(segments: list[Segment], extent: Callable[[Segment], tuple[int, int]], gap: int) -> list[list[Segment]]:
    """Cut wherever nothing reaches over, along one axis."""
    extents = sorted(map(extent, segments))
    starts: list[int] = []
    limit = extents[0][1] + gap
    for index, (low, high) in enumerate(extents):
        if low >= limit and index:
            starts.append(index)
            limit = high + gap
        elif high + gap > limit:
            limit = high + gap
    if not starts:
        return [segments]
    ordered = sorted(segments, key=extent)
    return [ordered[start:end] for start, end in pairwise([0, *starts, len(ordered)])]


def _columns(segments: list[Segment]) -> list[list[Segment]]:
    if sum([len(segment.lines) for segment in segments]) < 2 * _MIN_COLUMN_LINES:  # no room for two columns of prose
        return [segments]
    groups = _groups(segments, _LEFT_RIGHT, _MIN_GUTTER)
    if len(groups) == 1:
        return groups
    # Neighbours that are no prose by themselves (labels, marginalia) join the column on their left.
    columns = [groups[0]]
    for group in groups[1:]:
        if _is_prose(group) and _is_prose(columns[-1]):
            columns.append(group)
        else:
            columns[-1] = columns[-1] + group
    return columns


def _is_prose(group: list[Segment]) -> bool:
    n_lines = n_chars = n_in_paragraphs = 0
    for segment in group:
        length = len(segment.lines)
        n_lines += length
        n_chars += segment.n_chars
        if length > 1:
            n_in_paragraphs += length
    return n_lines >= _MIN_COLUMN_LINES and n_chars >= MIN_COLUMN_CHARS * n_lines and 2 * n_in_paragraphs >= n_lines


def _bands(segments: list[Segment]) -> list[tuple[list[Segment], bool]]:
    """Bands one above the other, and whether columns run through each: such a band is to be cut further."""
    bands = _groups(segments, _TOP_BOTTOM, 0)
    if len(bands) == 1:
        return [(bands[0], False)]
    # Bands that columns run through belong together: cutting them apart would read across the gutter.
    merged: list[tuple[list[Segment], bool]] = []
    start = 0
    for index, band in enumerate(bands):
        if index < start or len(band) == 1:
            continue
        columns = _columns(band)
        if len(columns) > 1:
            run = _ColumnRun(columns)
            first = index - run.extend(bands[start:index][::-1])
            end = index + 1 + run.extend(bands[index + 1 :])
            merged += [(one, False) for one in bands[start:first]]
            merged.append(([segment for one in bands[first:end] for segment in one], True))
            start = end
    merged += [(one, False) for one in bands[start:]]
    return merged if len(merged) > 1 else [(one, True) for one in bands]


class _ColumnRun:
    """Bands one above the other that the same gutters run through."""

    def __init__(self, columns: list[list[Segment]]) -> None:
        self._extents = [(min(s.x0 for s in column), max(s.x1 for s in column)) for column in columns]

    def extend(self, bands: Sequence[list[Segment]]) -> int:
        """Take bands in, from the nearest on, while no segment reaches over a gutter.

        A band with text in one column only (its neighbour has ended, or begins further down) is taken when it is a
        paragraph as wide as the column; what stands before it, as a heading, comes with it.

        Returns:
            How many bands belong to the run.
        """
        taken = 0
        for number, band in enumerate(bands, 1):
            extents = self._with(band)
            if extents is None:
                break
            if len(band) > 1 and len(_columns(band)) > 1:
                if number > taken + 1:
                    break  # a heading over both columns
            elif not any(self._is_column_text(segment) for segment in band):
                continue
            self._extents = extents
            taken = number
        return taken

    def _with(self, band: list[Segment]) -> list[tuple[int, int]] | None:
        """The columns' extents with a band taken in, None when it would close a gutter."""
        extents = list(self._extents)
        for segment in band:
            column = self._column_of(segment)
            low, high = extents[column]
            extents[column] = (min(low, segment.x0), max(high, segment.x1))
        is_open = all(right[0] - left[1] >= _MIN_GUTTER for left, right in pairwise(extents))
        return extents if is_open else None

    def _column_of(self, segment: Segment) -> int:
        middle = (segment.x0 + segment.x1) // 2
        return min(
            range(len(self._extents)),
            key=lambda column: max(self._extents[column][0] - middle, middle - self._extents[column][1]),
        )

    def _is_column_text(self, segment: Segment) -> bool:
        low, high = self._extents[self._column_of(segment)]
        return len(segment.lines) > 1 and (segment.x1 - segment.x0) * 10 >= 7 * (high - low)
