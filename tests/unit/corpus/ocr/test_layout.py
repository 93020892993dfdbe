from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.corpus.ocr.layout import _turned, _turned_back, page_lines
from nclue_build.corpus.ocr.skew import Straightening
from nclue_build.corpus.ocr.tsv import parse_table

PIXELS = (1000, 800)
PAGE = (100_000, 80_000)
"""A pixel is a point."""
STRAIGHT = Straightening(PAGE, 0)


def lines(table: bytes) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in page_lines(parse_table(table, *PIXELS), PIXELS, STRAIGHT).lines]


def test_a_line_has_its_text_its_place_and_the_size_of_its_type(make_table: Any) -> None:
    # In 20 pt type, capitals are 14 pt high, and a g reaches 4.2 pt below the line.
    table = make_table((1, 1, 100, 200, 60, 14, 96, "Climate"), (1, 1, 166, 200, 70, 18, 95, "change"))
    assert lines(table) == [(1, 0, 10_000, 19_790, 23_600, 21_830, 2000, 0, "Climate change")]


@pytest.mark.parametrize(
    ("text", "height"), [("Have", 14), ("sum", 10), ("gas", 14), ("Ogre", 18), ("2026", 14), ("d'\u00eatre", 14)]
)
def test_type_is_as_large_whatever_letters_a_word_has(make_table: Any, text: str, height: int) -> None:
    (row,) = lines(make_table((1, 1, 100, 200, 60, height, 96, text)))
    assert row[6] == pytest.approx(2000, abs=100)


def test_boxes_as_high_as_a_skewed_line_do_not_count(make_table: Any) -> None:
    tall = [(1, 2, 100 + 50 * index, 230, 45, 30, 96, word) for index, word in enumerate(["one", "Two", "goes", "up"])]
    table = make_table((1, 1, 100, 200, 60, 14, 96, "Have"), (1, 1, 166, 200, 70, 10, 95, "some"), *tall)
    assert [row[6] for row in lines(table)] == [2000, 2000]


def test_a_heading_in_the_block_of_its_text_keeps_its_size(make_table: Any) -> None:
    table = make_table(
        (1, 1, 100, 200, 160, 24, 96, "Heading"),
        *[
            (1, line, 100, 200 + 25 * line, 200, height, 96, "Text-like-this")
            for line, height in ((2, 14), (3, 15), (4, 14))
        ],
    )
    assert [row[6] for row in lines(table)] == [2650, 2000, 2000, 2000]


def test_cells_side_by_side_are_lines_of_their_own(make_table: Any) -> None:
    table = make_table(
        (1, 1, 100, 200, 60, 14, 96, "Total"), (1, 1, 170, 200, 60, 14, 96, "cost"), (1, 1, 400, 200, 60, 14, 96, "95")
    )
    assert [row[-1] for row in lines(table)] == ["Total cost", "95"]


@pytest.mark.parametrize(
    ("direction", "first", "second"),
    [
        (0, (100, 200, 60, 14), (166, 200, 70, 14)),
        (1, (200, 100, 14, 60), (200, 166, 14, 70)),
        (2, (700, 200, 60, 14), (620, 200, 70, 14)),
        (3, (200, 700, 14, 60), (200, 620, 14, 70)),
    ],
)
def test_the_way_from_word_to_word_is_the_direction_of_a_line(
    make_table: Any, direction: int, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    ((_, found, x0, y0, x1, y1, size, _, text),) = lines(
        make_table((1, 1, *first, 96, "Have"), (1, 1, *second, 96, "Hats"))
    )
    assert (found, size, text) == (direction, 2000, "Have Hats")
    for left, top, width, height in (first, second):
        assert x0 <= left * 100 + 500
        assert y0 <= top * 100 + 500
        assert x1 >= (left + width) * 100 - 500
        assert y1 >= (top + height) * 100 - 500


def test_a_lone_word_runs_as_its_block_does(make_table: Any) -> None:
    table = make_table(
        (1, 1, 200, 100, 14, 60, 96, "Have"), (1, 1, 200, 166, 14, 60, 96, "Hats"), (1, 2, 170, 100, 14, 60, 96, "And")
    )
    assert [row[1] for row in lines(table)] == [1, 1]


def test_a_picture_of_nothing_has_no_text_and_says_so(make_table: Any) -> None:
    table = make_table(
        (1, 1, 100, 200, 60, 14, 30, "~~"), (1, 1, 200, 200, 60, 14, 96, "|"), (1, 2, 1, 1, 9, 9, 59, "ab")
    )
    assert page_lines(parse_table(table, *PIXELS), PIXELS, STRAIGHT) == ([], [], ["ocr_no_text"])


def test_a_page_that_tesseract_is_unsure_of_is_flagged_and_keeps_all_words(make_table: Any) -> None:
    table = make_table((1, 1, 100, 200, 60, 14, 96, "sure"), (1, 1, 170, 200, 90, 14, 12, "gu\0essing"))
    found = page_lines(parse_table(table, *PIXELS), PIXELS, STRAIGHT)
    assert found.flags == ["nul_removed", "ocr_low_confidence"]
    assert found.lines[0][-1] == "sure guessing"


def test_a_line_of_a_straightened_page_reads_straight_and_stands_where_it_stands(make_table: Any) -> None:
    # Lines fall by 5 in 100. The sheet is 40 pt wider and 50 pt higher than the page.
    drawn = Straightening(PAGE, 50)
    table = make_table((1, 1, 120, 125, 60, 14, 96, "Have"), (1, 1, 860, 125, 60, 14, 96, "Hats"), size=(1040, 850))
    found = page_lines(parse_table(table, 1040, 850), (1040, 850), drawn)
    first, second = found.lines
    assert first[2:6] == [10_000, 9800, 16_000, 11_840]
    assert second[2:6] == [84_000, 9800, 90_000, 11_840]
    (_, left, _, _), (_, right, _, _) = found.boxes
    assert right - left == pytest.approx(74_000 * 0.05, rel=0.01)
    assert left == pytest.approx(9800 - 40_000 * 0.05, abs=150)


@given(
    st.tuples(*[st.integers(-99, 9999)] * 4),
    st.integers(0, 3),
    st.tuples(st.integers(1, 9999), st.integers(1, 9999)),
)
def test_turning_back_undoes_turning(box: tuple[int, int, int, int], direction: int, page: tuple[int, int]) -> None:
    assert _turned_back(_turned(box, direction, page), direction, page) == box
