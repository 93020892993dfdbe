from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest

from nclue_build.corpus.lines import BOLD, MONOSPACED
from nclue_build.corpus.order import reading_order
from nclue_build.corpus.roles import TypeScale, assign_roles
from nclue_build.corpus.segments import Segment, split_segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.lines import Line, RawPage

SegmentsOf: TypeAlias = "Callable[[list[Line]], list[Segment]]"

BODY = "This is a line of ordinary running text that is as long as lines of text are"


@pytest.fixture
def segments_of(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> Callable[[list[Line]], list[Segment]]:
    def segments(lines: list[Line]) -> list[Segment]:
        body = [make_line(BODY, y=500 + 12 * row, block=99) for row in range(10)]
        page = make_page([*lines, *body])
        scale = TypeScale()
        scale.observe(page)
        scale.settle()
        found = split_segments(page.lines)
        assign_roles(found, page, scale)
        return [segment for segment in found if segment.lines[0].block != 99]

    return segments


def test_larger_type_is_a_title_by_rank(make_line: Callable[..., Line], segments_of: SegmentsOf) -> None:
    found = segments_of(
        [
            make_line("The Report", y=60, size=24),
            make_line("Chapter", y=100, size=16, block=1),
            make_line("Section", y=130, size=12, block=2),
            make_line("Chapter two", y=160, size=16, block=3),
        ]
    )
    assert [(segment.role, segment.level) for segment in found] == [
        ("title", 1),
        ("title", 2),
        ("title", 3),
        ("title", 2),
    ]


def test_a_long_paragraph_in_larger_type_is_text(make_line: Callable[..., Line], segments_of: SegmentsOf) -> None:
    found = segments_of([make_line(BODY, y=60 + 14 * row, size=12) for row in range(12)])
    assert [segment.role for segment in found] == ["text"]


def test_a_short_bold_line_above_text_is_a_title_and_a_bold_label_is_not(
    make_line: Callable[..., Line], segments_of: SegmentsOf
) -> None:
    found = segments_of(
        [
            make_line("Key Challenges", y=60, style=BOLD),
            make_line(BODY, y=76, block=1),
            make_line("Registration:", x=54, y=120, style=BOLD, block=2),
            make_line("N3070A", x=181, y=120, block=2),
        ]
    )
    assert [segment.role for segment in found] == ["title", "text", "table", "table"]


def test_bold_says_nothing_where_it_is_common(make_line: Callable[..., Line], segments_of: SegmentsOf) -> None:
    bold = [make_line(BODY, y=60 + 12 * row, style=BOLD) for row in range(8)]
    found = segments_of(
        [*bold, make_line("Key Challenges", y=200, style=BOLD, block=1), make_line(BODY, y=216, block=2)]
    )
    assert [segment.role for segment in found] == ["text", "text", "text"]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Figure 3: Oil production by year", "caption"),
        ("Table 1. Funding", "caption"),
        ("Table 3 shows that funding rose sharply.", "text"),
        ("\u2022 expand access to care", "list"),
        ("(a) expand access to care", "list"),
        ("12 34 5,678 9.1 22%", "table"),
        ("In 2006 there were 12 of them", "text"),
    ],
)
def test_shape_tells_the_role(make_line: Callable[..., Line], segments_of: SegmentsOf, text: str, role: str) -> None:
    assert [segment.role for segment in segments_of([make_line(text, y=60)])] == [role]


def test_small_type_at_the_foot_with_a_mark_is_a_footnote(
    make_line: Callable[..., Line], segments_of: SegmentsOf
) -> None:
    found = segments_of(
        [make_line("3 See the report of 2006.", y=700, size=8), make_line("Small print", y=60, size=8, block=1)]
    )
    assert [segment.role for segment in found] == ["footnote", "text"]


def test_monospaced_lines_are_code(make_line: Callable[..., Line], segments_of: SegmentsOf) -> None:
    found = segments_of([make_line("x = 1", y=60, style=MONOSPACED), make_line("y = 2", y=72, style=MONOSPACED)])
    assert [segment.role for segment in found] == ["code"]


def test_type_too_small_to_read_is_not_text(make_line: Callable[..., Line], segments_of: SegmentsOf) -> None:
    assert [segment.role for segment in segments_of([make_line("_30f608d8-1095", y=60, size=2)])] == ["other"]


def test_the_end_of_a_paragraph_at_the_top_of_a_column_is_no_cell(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    left = [make_line(BODY[:44], y=100 + 12 * row) for row in range(4)]
    right = [make_line("the end of a paragraph.", x=330, y=100, block=1)]
    right += [make_line(BODY[:44], x=330, y=120 + 12 * row, block=2) for row in range(3)]
    page = make_page([*left, *right])
    scale = TypeScale()
    scale.observe(page)
    scale.settle()
    found = reading_order(split_segments(page.lines))
    assign_roles(found, page, scale)
    assert [segment.role for segment in found] == ["text"] * 3
