from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.corpus.contents import Contents
from nclue_build.corpus.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.lines import Line
    from nclue_build.records.corpus import Role

BODY = "This paragraph says what the plan is for, and goes on over several lines of text to do so."


def one(make_line: Callable[..., Line], text: str, y: int, x: int = 72, role: Role = "text") -> Segment:
    segment = Segment.of([make_line(line, x=x, y=y + 12 * row) for row, line in enumerate(text.split("\n"))])
    segment.role = role
    if role == "title":
        segment.level = 2
    return segment


def roles(segments: list[Segment]) -> list[str]:
    return [segment.role for segment in segments]


def test_a_contents_page_is_toc_but_its_paragraph_is_not(make_line: Callable[..., Line]) -> None:
    page = [
        one(make_line, "\n".join([BODY] * 4), 60),
        one(make_line, "Contents", 120),
        one(make_line, "Vision ........... 3\nMission ........... 4\nGoals", 140),
        one(make_line, "\n".join([BODY] * 4), 300),
    ]
    assert roles(Contents().mark(page)) == ["text", "toc", "toc", "text"]


def test_page_numbers_in_a_column_of_their_own_make_entries(make_line: Callable[..., Line]) -> None:
    page = [one(make_line, "Table of Contents", 60)]
    for row, (name, number) in enumerate([("Letter", "1"), ("Background", "4"), ("Conclusions", "39")]):
        page += [one(make_line, name, 100 + 20 * row), one(make_line, number, 100 + 20 * row, x=560)]
    assert set(roles(Contents().mark(page))) == {"toc"}


def test_the_list_of_abbreviations_after_the_contents_is_text(make_line: Callable[..., Line]) -> None:
    page = [
        one(make_line, "Contents", 60),
        one(make_line, "Letter ........ 1\nBackground ........ 4", 80),
        one(make_line, "Abbreviations", 200),
        one(make_line, "WIC", 220),
    ]
    assert roles(Contents().mark(page)) == ["toc", "toc", "text", "text"]


def test_contents_go_on_over_the_page_and_end_with_the_text(make_line: Callable[..., Line]) -> None:
    contents = Contents()
    first = [one(make_line, "Contents", 60), one(make_line, "A ..... 1\nB ..... 2\nC ..... 3", 80)]
    second = [one(make_line, "D ..... 4\nE ..... 5\nF ..... 6", 60)]
    third = [one(make_line, "\n".join([BODY] * 5), 60)]
    assert [roles(contents.mark(page)) for page in (first, second, third)] == [
        ["toc", "toc"],
        ["toc"],
        ["text"],
    ]


def test_lines_with_leaders_amid_text_are_cut_out(make_line: Callable[..., Line]) -> None:
    page = [one(make_line, f"{BODY}\nA ...... 1\nB ...... 2\nC ...... 3\n{BODY}", 60)]
    assert roles(Contents().mark(page)) == ["text", "toc", "text"]


def test_a_paragraph_that_ends_in_a_year_is_no_entry(make_line: Callable[..., Line]) -> None:
    page = [one(make_line, f"{BODY} 2006\n{BODY} 2007", 60)]
    assert roles(Contents().mark(page)) == ["text"]


def test_a_list_of_tables_whose_entries_have_two_lines_goes_on_and_a_table_does_not(
    make_line: Callable[..., Line],
) -> None:
    contents = Contents()
    contents.mark([one(make_line, "Contents", 60), one(make_line, "A ..... 1\nB ..... 2\nC ..... 3", 80)])
    lists = [one(make_line, "Tables", 60)]
    for row, number in enumerate(["21", "38", "39"]):
        lists.append(one(make_line, f"Table {row}: Comparison of Costs Using Nuclear,\nCoal and Gas", 80 + 30 * row))
        lists.append(one(make_line, number, 92 + 30 * row, x=500))
    assert set(roles(contents.mark(lists))) == {"toc"}
    body = [one(make_line, "\n".join([BODY] * 5), 60)]
    body += [one(make_line, cell, 200 + 20 * y, x=x) for y in range(4) for x, cell in ((72, "Year"), (300, "14"))]
    assert "toc" not in roles(contents.mark(body))
