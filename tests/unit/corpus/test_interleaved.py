"""Columns written across the gutter are read one after the other; tables stay as they are."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.text import matching_text
from nclue_build.corpus.interleaved import columns_in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.lines import Line

SENTENCE = (
    "the agency has made its plan for this year and reports on what was done with the money that it was given for"
)
N_ROWS = 30


def prose(n_columns: int, order: str) -> list[tuple[int, float, str]]:
    """Column, height and text of lines; a word is broken over two lines of each column."""
    words = SENTENCE.split()
    lines = []
    for column in range(n_columns):
        for row in range(N_ROWS):
            shift = (column * 5 + row * 3) % 11
            text = " ".join((words[shift:] + words)[:6])
            text = f"{text} gov-" if row == 4 else f"ernment {text}" if row == 5 else text
            lines.append((column, 120.0 + 6.5 * row, text))
    if order == "rows":
        lines.sort(key=lambda line: (line[1], line[0]))
    elif order == "any":
        random.Random(7).shuffle(lines)  # noqa: S311 - the same order every time
    return lines


@pytest.mark.parametrize("rotation", [0, 90])
@pytest.mark.parametrize("order", ["columns", "rows", "any"])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_columns_are_read_one_after_the_other_whatever_order_they_are_written_in(  # noqa: PLR0913, PLR0917 - fixtures
    tmp_path: Path,
    text: Any,
    make_pdf: Any,
    read_pages: Callable[[Path], list[dict[str, Any]]],
    n_columns: int,
    order: str,
    rotation: int,
) -> None:
    step = 500 // n_columns
    lines = prose(n_columns, order)
    page = [text(60 + step * column, y, shown, size=5) for column, y, shown in lines]
    heading = text(60, 80, "A heading over all of the columns", size=16)
    (row,) = read_pages(make_pdf(tmp_path / "a.pdf", [[heading, *page]], rotation=rotation))
    read = "\n".join(block["text"] for block in row["blocks"])
    assert read.split("\n") == [heading.text, *(shown for _, _, shown in sorted(lines))]
    assert matching_text(read).count(" government ") == n_columns


def rows_of(make_line: Any, cells: Callable[[int], list[str]]) -> list[Line]:
    return [
        make_line(cell, x=60 + 200 * column, y=100 + 13 * row)
        for row in range(N_ROWS)
        for column, cell in enumerate(cells(row))
    ]


@pytest.mark.parametrize(
    "cells",
    [
        lambda row: [f"Item {row}", f"{row * 100}", f"{row * 7} %"],
        lambda row: [f"Name of the agency number {row} here", f"What it has done for us in {row}"],
        lambda row: [f"a{row}", "the plan that was made for it"],
    ],
)
def test_a_table_keeps_its_rows(make_line: Any, cells: Callable[[int], list[str]]) -> None:
    lines = rows_of(make_line, cells)
    assert columns_in_order(list(lines)) == lines


def test_no_line_is_lost_and_what_reaches_over_a_gutter_stays_between(make_line: Any) -> None:
    upper = rows_of(make_line, lambda row: [f"the plan that was made in {row}", f"and what was done in {row} of it"])
    bar = make_line("A heading over all of the columns of this page, which is long", x=60, y=600)
    lower = rows_of(make_line, lambda row: [f"it goes on with more of {row}", f"and with all of that {row}"])
    for line in lower:
        line.y0, line.y1 = line.y0 + 60000, line.y1 + 60000
    ordered = columns_in_order([*upper, bar, *lower])
    assert sorted(map(id, ordered)) == sorted(map(id, [*upper, bar, *lower]))
    assert ordered == [*upper[::2], *upper[1::2], bar, *lower[::2], *lower[1::2]]
