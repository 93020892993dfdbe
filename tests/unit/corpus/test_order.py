from __future__ import annotations

import random
from typing import TYPE_CHECKING

from nclue_build.corpus.order import reading_order
from nclue_build.corpus.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.lines import Line

PROSE = "words that fill the measure of a narrow column"


def paragraph(make_line: Callable[..., Line], x: int, y: int, name: str) -> Segment:
    lines = [make_line(f"{name} {PROSE}", x=x, y=y + 12 * row, size=8) for row in range(4)]
    return Segment.of(lines)


def names(segments: list[Segment]) -> list[str]:
    return [segment.lines[0].text.split()[0] for segment in reading_order(segments)]


def test_two_columns_are_read_one_after_the_other(make_line: Callable[..., Line]) -> None:
    page = [
        Segment.of([make_line("Title across both of the columns of this page", x=120, y=60, size=14)]),
        paragraph(make_line, 50, 100, "a"),
        paragraph(make_line, 50, 170, "b"),
        paragraph(make_line, 320, 100, "c"),
        paragraph(make_line, 320, 170, "d"),
    ]
    assert names(page) == ["Title", "a", "b", "c", "d"]


def test_a_heading_between_columns_separates_them(make_line: Callable[..., Line]) -> None:
    page = [
        paragraph(make_line, 50, 100, "a"),
        paragraph(make_line, 320, 100, "b"),
        Segment.of([make_line("Heading that runs across the whole width of the page here", x=50, y=170, size=12)]),
        paragraph(make_line, 50, 200, "c"),
        paragraph(make_line, 320, 200, "d"),
    ]
    assert names(page) == ["a", "b", "Heading", "c", "d"]


def test_a_table_is_read_by_rows(make_line: Callable[..., Line]) -> None:
    page = [
        Segment.of([make_line(f"r{row}c{column} x", x=60 + 180 * column, y=100 + 18 * row)])
        for column in range(3)
        for row in range(4)
    ]
    assert names(page) == [f"r{row}c{column}" for row in range(4) for column in range(3)]


def test_the_order_does_not_depend_on_the_content_stream(make_line: Callable[..., Line]) -> None:
    page = [paragraph(make_line, x, y, f"{x}-{y}") for x in (50, 320) for y in (100, 170, 240)]
    expected = names(page)
    for seed in range(5):
        shuffled = list(page)
        random.Random(seed).shuffle(shuffled)  # noqa: S311 - a fixed shuffle is the point
        assert names(shuffled) == expected


def test_thousands_of_segments_are_no_problem(make_line: Callable[..., Line]) -> None:
    page = [Segment.of([make_line("x", x=10 + row % 7, y=row)]) for row in range(3000)]
    assert len(reading_order(page)) == 3000


def one_line(make_line: Callable[..., Line], text: str, x: int, y: int, size: int = 8) -> Segment:
    return Segment.of([make_line(text, x=x, y=y, size=size)])


def test_the_left_column_is_read_to_its_end_where_the_right_one_is_shorter(make_line: Callable[..., Line]) -> None:
    page = [
        one_line(make_line, "Title across both of the columns of this page", 120, 60, 14),
        one_line(make_line, "a-heading", 50, 90),
        paragraph(make_line, 50, 105, "b"),
        one_line(make_line, "c-heading", 50, 180),
        paragraph(make_line, 50, 200, "d"),
        paragraph(make_line, 320, 90, "e"),
        one_line(make_line, "f-heading", 320, 150),
    ]
    assert names(page) == ["Title", "a-heading", "b", "c-heading", "d", "e", "f-heading"]


def test_a_heading_below_the_columns_stays_with_the_wide_text_below_it(make_line: Callable[..., Line]) -> None:
    page = [
        paragraph(make_line, 50, 100, "a"),
        paragraph(make_line, 320, 100, "b"),
        one_line(make_line, "Heading", 50, 170),
        one_line(make_line, "wide text that runs over " + PROSE * 3, 50, 190),
    ]
    assert names(page) == ["a", "b", "Heading", "wide"]


def test_columns_are_told_apart_and_rows_of_a_table_are_not(make_line: Callable[..., Line]) -> None:
    columns = reading_order([paragraph(make_line, 50, 100, "a"), paragraph(make_line, 320, 100, "b")])
    assert columns[0].column != columns[1].column
    rows = reading_order([one_line(make_line, "cell", x, y) for x in (50, 320) for y in (100, 120)])
    assert len({cell.column for cell in rows}) == 1
