"""Columns that were written across the gutter: line by line over the page, or in no order at all.

Segments are cut from lines in the order of the content stream. Where that goes from column to column with every line,
each line would be a segment of its own, no column would read like prose, and no phrase would go on over a line end. So
such lines are put into the order of their columns first. Tables are drawn like that, too: what tells prose is that its
lines are full and begin in the middle of a sentence.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from nclue_build.corpus.order import MIN_COLUMN_CHARS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.corpus.lines import Line

_MIN_LINES: Final = 6
"""Lines from which a column can be told."""
_MIN_STEP: Final = 7000
"""Narrowest column with its gutter, in 1/100 pt."""
_MIN_GUTTER: Final = 300
"""Columns are set apart by more than this, in 1/100 pt."""
_GRAIN: Final = 200
"""Lines that start within this of each other start at one margin, in 1/100 pt."""


def columns_in_order(lines: list[Line]) -> list[Line]:
    """Put lines that go from column to column into the order of their columns; others stay as they are.

    Args:
        lines: Of a page, in the order of the content stream. Those of a column are made one block.
    """
    # On nearly every page this settles it.
    if sum([line.x0 > last.x1 and line.y0 < last.y1 for last, line in pairwise(lines)]) < _MIN_LINES:
        return lines
    # Two columns of prose have as many such lines at least: most tables have not.
    if 3 * sum([line.text[:1].islower() for line in lines]) < 2 * _MIN_LINES:
        return lines
    if len({line.direction for line in lines}) > 1:
        return lines
    starts = _starts(lines)
    if len(starts) == 1:
        return lines
    places = [_column_of(line, starts) for line in lines]
    ordered: list[Line] = []
    first = 0
    for index in range(len(lines) + 1):
        if index == len(lines) or places[index] is None:  # what reaches over a gutter parts what is above from below
            ordered += _sorted(lines[first:index], [place or 0 for place in places[first:index]])
            ordered += lines[index : index + 1]
            first = index + 1
    return ordered


def _starts(lines: Sequence[Line]) -> list[int]:
    """Where columns start: margins that many lines have."""
    margins = Counter(line.x0 // _GRAIN for line in lines)
    enough = max(_MIN_LINES, len(lines) // 8)
    starts: list[int] = []
    for margin in sorted(margins):
        if margins[margin] + margins[margin + 1] >= enough and (
            not starts or margin * _GRAIN - starts[-1] >= _MIN_STEP
        ):
            starts.append(margin * _GRAIN)
    return starts or [0]


def _column_of(line: Line, starts: Sequence[int]) -> int | None:
    """The column that a line is in; None where it reaches over a gutter."""
    column = max(bisect(starts, line.x0 + _GRAIN) - 1, 0)
    is_last = column + 1 == len(starts)
    return column if is_last or line.x1 <= starts[column + 1] - _MIN_GUTTER else None


def _sorted(lines: list[Line], places: list[int]) -> list[Line]:
    n_changes = sum(left != right for left, right in pairwise(places))
    columns = [[line for line, place in zip(lines, places, strict=True) if place == one] for one in sorted({*places})]
    if len(columns) < 2 or 3 * n_changes < len(lines) or not all(map(_is_prose, columns)):  # noqa: PLR2004 - a gutter has two sides
        return lines
    for number, column in enumerate(columns, 1):
        if any(line.y0 < last.y0 - last.size for last, line in pairwise(column)):
            column.sort(key=attrgetter("y0", "x0"))
        for line in column:
            line.block = -number  # no block of the reader's has such a number
    return [line for column in columns for line in column]


def _is_prose(column: Sequence[Line]) -> bool:
    """Whether lines are full, and begin in the middle of a sentence."""
    n_lines = len(column)
    width = sorted(line.x1 - line.x0 for line in column)[3 * n_lines // 4]  # a heading may be wider
    n_full = sum(10 * (line.x1 - line.x0) >= 7 * width for line in column)
    n_inside = sum(line.text[:1].islower() for line in column)
    return (
        n_lines >= _MIN_LINES
        and sum(len(line.text) for line in column) >= MIN_COLUMN_CHARS * n_lines
        and 2 * n_full >= n_lines
        and 3 * n_inside >= n_lines
    )
