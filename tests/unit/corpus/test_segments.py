from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.corpus.lines import BOLD, STARTS_WITH_MARK
from nclue_build.corpus.segments import split_segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.lines import Line

LONG = "The agency has taken several steps to improve the management of its programs"


def texts(lines: list[Line]) -> list[str]:
    return [segment.text for segment in split_segments(lines)]


def test_lines_of_a_paragraph_stay_together(make_line: Callable[..., Line]) -> None:
    assert texts([make_line("one line of text", y=100), make_line("and the next", y=112)]) == [
        "one line of text\nand the next"
    ]


def test_a_heading_in_larger_type_is_cut_off(make_line: Callable[..., Line]) -> None:
    assert texts([make_line("Background", y=100, size=14), make_line(LONG, y=116)]) == ["Background", LONG]


def test_a_short_bold_line_is_a_heading_but_bold_words_in_a_paragraph_are_not(make_line: Callable[..., Line]) -> None:
    heading = [make_line("Background", y=100, style=BOLD), make_line(LONG, y=112)]
    assert texts(heading) == ["Background", LONG]
    within = [make_line(LONG, y=100), make_line(LONG, y=112, style=BOLD), make_line(LONG, y=124)]
    assert texts(within) == ["\n".join([LONG] * 3)]


def test_a_large_gap_starts_a_new_segment(make_line: Callable[..., Line]) -> None:
    lines = [make_line("first", y=100), make_line("second", y=112), make_line("third", y=136)]
    assert texts(lines) == ["first\nsecond", "third"]


def test_label_and_value_on_one_baseline_stay_apart(make_line: Callable[..., Line]) -> None:
    lines = [
        make_line("Registration:", x=54, y=100, style=BOLD),
        make_line("N3070A", x=181, y=100),
        make_line("Engine Make:", x=54, y=118, style=BOLD),
        make_line("Continental", x=181, y=118),
    ]
    assert texts(lines) == ["Registration:", "N3070A", "Engine Make:", "Continental"]


def test_the_second_line_of_a_value_joins_the_first(make_line: Callable[..., Line]) -> None:
    lines = [
        make_line("Rating:", x=54, y=100, style=BOLD),
        make_line("Single-engine Land;", x=181, y=100),
        make_line("Sea", x=181, y=112),
    ]
    assert texts(lines) == ["Rating:", "Single-engine Land;\nSea"]


def test_words_of_loosely_set_text_are_joined(make_line: Callable[..., Line]) -> None:
    assert texts([make_line("performance", x=72), make_line("measures", x=137)]) == ["performance measures"]


@pytest.mark.parametrize("mark", ["\u2022", "\uf0b7", "1.", "(a)", "[12]"])
def test_a_list_mark_joins_its_item(make_line: Callable[..., Line], mark: str) -> None:
    assert texts([make_line(mark, x=72), make_line("expand access", x=95)]) == [f"{mark} expand access"]


def test_every_list_item_is_a_segment(make_line: Callable[..., Line]) -> None:
    lines = [
        make_line("\u2022 one thing to do", y=100),
        make_line("on two lines", x=80, y=112),
        make_line("\u2022 another thing", y=124),
    ]
    assert texts(lines) == ["\u2022 one thing to do\non two lines", "\u2022 another thing"]


def test_a_raised_note_mark_does_not_tear_a_paragraph(make_line: Callable[..., Line]) -> None:
    mark = make_line("1", x=72 + len(LONG) * 5, y=109, size=6, style=STARTS_WITH_MARK, block=1)
    lines = [make_line(LONG, y=100), make_line(LONG, y=112), mark, make_line(LONG, y=124, block=2)]
    assert texts(lines) == [f"{LONG}\n{LONG} 1\n{LONG}"]


def test_an_indented_line_after_a_full_stop_starts_a_paragraph(make_line: Callable[..., Line]) -> None:
    lines = [make_line(LONG, y=100), make_line(f"{LONG}.", y=112), make_line(LONG, x=92, y=124)]
    assert texts(lines) == [f"{LONG}\n{LONG}.", LONG]
