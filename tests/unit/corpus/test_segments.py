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


ENTRY = ("Vasko, D. and Orme, S. (2015).", "Complaint handling in compensation schemes:", "who complains, and of what?")


def hanging(make_line: Callable[..., Line], y: int, indent: int, first: str, *rest: str, block: int) -> list[Line]:
    """An entry whose first line MuPDF puts into a block of its own."""
    lines = [make_line(first, y=y, block=block)]
    return lines + [make_line(one, x=72 + indent, y=y + 12 * row, block=block + 1) for row, one in enumerate(rest, 1)]


@pytest.mark.parametrize("indent", [14, -14])
@pytest.mark.parametrize("apart", [48, 36])
def test_an_entry_with_a_hanging_or_a_first_line_indent_is_one_segment(
    make_line: Callable[..., Line], indent: int, apart: int
) -> None:
    full = "Vasko, D. and Orme, S. (2015). Handling"
    lines = hanging(make_line, 100, indent, full, *ENTRY[1:], block=0)
    lines += hanging(make_line, 100 + apart, indent, full, *ENTRY[1:], block=2)
    assert texts(lines) == ["\n".join([full, *ENTRY[1:]])] * 2


def test_entries_with_a_hanging_indent_in_one_block_are_cut_at_the_margin(make_line: Callable[..., Line]) -> None:
    lines = [line for y in (100, 136) for line in hanging(make_line, y, 14, *ENTRY, block=0)]
    for line in lines:
        line.block = 0
    assert texts(lines) == ["\n".join(ENTRY)] * 2


def test_a_short_line_above_indented_text_stays_apart(make_line: Callable[..., Line]) -> None:
    lines = [make_line("Background of the plan"), make_line(LONG, x=90, y=112, block=1)]
    assert texts([*lines, make_line(LONG, y=124, block=1)]) == ["Background of the plan", f"{LONG}\n{LONG}"]


def test_centred_lines_of_different_blocks_stay_apart(make_line: Callable[..., Line]) -> None:
    lines = [make_line("National Board of Inspections"), make_line("Final Report on Safety", x=90, y=112, block=1)]
    assert len(texts(lines)) == 2


def test_a_one_line_paragraph_does_not_swallow_the_next_one(make_line: Callable[..., Line]) -> None:
    lines = [make_line("A paragraph of one line."), *(make_line(LONG, x=x, y=y) for x, y in ((92, 112), (72, 124)))]
    assert texts(lines) == ["A paragraph of one line.", f"{LONG}\n{LONG}"]
