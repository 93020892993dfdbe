"""Reading order by recursive cuts.

The recursive X-Y cut (Nagy & Seth, "Hierarchical representation of optically scanned documents",
ICPR 1984) with one change: a page is cut into columns only where both sides read like prose, since
the gutters of a table must not tear its rows apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.corpus.segments import Segment

_MAX_DEPTH: Final = 40
_MIN_GUTTER: Final = 600
"""Narrowest gutter between columns, in 1/100 pt."""
_MIN_COLUMN_LINES: Final = 3
_MIN_COLUMN_CHARS: Final = 18
"""Mean characters a line has in a column of prose."""


def reading_order(segments: Sequence[Segment]) -> list[Segment]:
    """Sort the segments of a page: columns from left to right, each from top to bottom.

    Text in another direction (a table printed sideways) follows what is in the page's main one.
    """
    by_direction: dict[int, list[Segment]] = {}
    for segment in segments:
        by_direction.setdefault(segment.lines[0].direction, []).append(segment)
    directions = sorted(by_direction, key=lambda d: (-sum(s.n_chars for s in by_direction[d]), d))
    ordered: list[Segment] = []
    for direction in directions:
        ordered += _cut(by_direction[direction], 0)
    return ordered


def _cut(segments: list[Segment], depth: int) -> list[Segment]:
    if len(segments) < 2 or depth > _MAX_DEPTH:  # noqa: PLR2004 - nothing to order
        return sorted(segments, key=_top_left)
    for parts in (_columns(segments), _bands(segments)):
        if len(parts) > 1:
            return [segment for part in parts for segment in _cut(part, depth + 1)]
    return sorted(segments, key=_top_left)


def _top_left(segment: Segment) -> tuple[int, int, int, int]:
    return (segment.y0, segment.x0, segment.y1, segment.x1)


def _groups(
    segments: list[Segment], low: Callable[[Segment], int], high: Callable[[Segment], int], gap: int
) -> list[list[Segment]]:
    """Cut wherever nothing reaches over, along one axis."""
    ordered = sorted(segments, key=lambda s: (low(s), high(s)))
    groups = [[ordered[0]]]
    reach = high(ordered[0])
    for segment in ordered[1:]:
        if low(segment) >= reach + gap:
            groups.append([])
        groups[-1].append(segment)
        reach = max(reach, high(segment))
    return groups


def _columns(segments: list[Segment]) -> list[list[Segment]]:
    groups = _groups(segments, lambda s: s.x0, lambda s: s.x1, _MIN_GUTTER)
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
    n_lines = sum(len(segment.lines) for segment in group)
    n_chars = sum(segment.n_chars for segment in group)
    multi_line = sum(len(segment.lines) for segment in group if len(segment.lines) > 1)
    return n_lines >= _MIN_COLUMN_LINES and n_chars >= _MIN_COLUMN_CHARS * n_lines and 2 * multi_line >= n_lines


def _bands(segments: list[Segment]) -> list[list[Segment]]:
    bands = _groups(segments, lambda s: s.y0, lambda s: s.y1, 0)
    if len(bands) == 1:
        return bands
    # Bands that columns run through belong together: cutting them apart would read across the gutter.
    merged = [bands[0]]
    for band in bands[1:]:
        if _side_by_side(merged[-1]) and _side_by_side(band):
            merged[-1] = merged[-1] + band
        else:
            merged.append(band)
    return merged if len(merged) > 1 else bands


def _side_by_side(band: list[Segment]) -> bool:
    return len(_columns(band)) > 1
