from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.corpus.lines import STARTS_WITH_MARK
from nclue_build.corpus.references import References
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


def test_references_end_at_the_next_heading_of_their_rank(make_line: Callable[..., Line]) -> None:
    page = [
        one(make_line, BODY, 40),
        one(make_line, "References", 60, role="title"),
        one(make_line, "Smith, J. Energy Policy. Boston, 2004.", 80),
        one(make_line, "Jones, A. Oil. GAO-06-1046, 2006.", 100),
        one(make_line, "Appendix A", 120, role="title"),
        one(make_line, BODY, 140),
    ]
    References().mark(page)
    assert roles(page) == ["text", "reference", "reference", "reference", "title", "text"]


def test_references_go_on_over_the_page(make_line: Callable[..., Line]) -> None:
    references = References()
    references.mark([one(make_line, "Bibliography", 60, role="title")])
    second = [one(make_line, "Lane, Nancy E. Incentives. 2001.", 60)]
    references.mark(second)
    third = [one(make_line, BODY, 60), one(make_line, BODY, 100)]
    references.mark(third)
    assert roles(second) + roles(third) == ["reference", "text", "text"]


def test_an_index_is_a_reference_section(make_line: Callable[..., Line]) -> None:
    page = [one(make_line, "Index", 60, role="title"), one(make_line, "aircraft, 3, 17\nairport, 4\nfuel, 9-11", 80)]
    References().mark(page)
    assert roles(page) == ["reference", "reference"]


YEARLESS = [
    "[1] N. Abara and L. Stone. Who opens the door? Journal of\nPublic Services.",
    "[2] Calder County Board. Ordinance on home retrofit. Calder Falls.",
    "[3] Halloran, P. Rainwater harvesting on pitched roofs.\nWater and Shelter.",
    "[4] State Energy Office. Callbacks: a field guide. Third edition.",
]
BARE = ["Abara and Stone, Who opens the door", "Calder County Board, Ordinance on home retrofit", "Callbacks"]
PROSE = (
    "The panel was asked whether the references given by the bidders had been checked, and found that they were not.\n"
    "It said so in its report of 2014, which the board has since published. We think that this should be put right."
)


def body(make_line: Callable[..., Line], *texts: str, y: int = 100) -> list[Segment]:
    return [one(make_line, text, y + 30 * row) for row, text in enumerate(texts)]


def mark(*segments: Segment) -> list[str]:
    return roles(References().mark(segments))


@pytest.mark.parametrize("entries", [YEARLESS, BARE])
def test_a_heading_is_strong_evidence_for_a_list_without_years(
    make_line: Callable[..., Line], entries: list[str]
) -> None:
    found = mark(one(make_line, "References", 60, role="title"), *body(make_line, *entries))
    assert found == ["reference"] * (len(entries) + 1)


def test_a_section_of_prose_under_the_heading_is_text(make_line: Callable[..., Line]) -> None:
    assert mark(one(make_line, "References", 60, role="title"), *body(make_line, PROSE, PROSE)) == [
        "title",
        "text",
        "text",
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "7. REFERENCES",
        "7.2 References cited",
        "VII. Bibliography",
        "Appendix C: References",
        "Annex 3 \u2013 Selected references",
        "R E F E R E N C E S",
        "Works Cited",
        "Works consulted:",
        "Literature",
        "Literature Cited",
        "Selected Bibliography",
        "References and Notes",
        "Notes and references",
        "List of References",
        "References for Chapter 2",
        "References (continued)",
        "Further reading",
        "Endnotes",
        "ENDNOTES",
    ],
)
def test_many_headings_open_a_list(make_line: Callable[..., Line], heading: str) -> None:
    found = mark(one(make_line, heading, 60, role="title"), *body(make_line, *YEARLESS))
    assert found == ["reference"] * 5


@pytest.mark.parametrize(
    "heading", ["Literature review", "Terms of reference", "Reference case", "Sources of water", "Index of prices"]
)
def test_other_headings_do_not(make_line: Callable[..., Line], heading: str) -> None:
    found = mark(one(make_line, heading, 60, role="title"), *body(make_line, *YEARLESS))
    assert found == ["title", *["text"] * 4]


def test_a_heading_set_like_text_needs_entries(make_line: Callable[..., Line]) -> None:
    assert mark(one(make_line, "References", 60), *body(make_line, *YEARLESS)) == ["reference"] * 5
    assert mark(one(make_line, "References", 60), *body(make_line, "Name", "Address", "Signature")) == ["text"] * 4


def test_a_heading_that_is_one_with_its_list_is_found(make_line: Callable[..., Line]) -> None:
    assert mark(one(make_line, "REFERENCES\n" + "\n".join(YEARLESS), 60)) == ["reference"] * 2


def test_endnotes_may_have_sentences(make_line: Callable[..., Line]) -> None:
    notes = ["1. This was said by the board, which has since changed its mind.", "2. It is not known who they were."]
    assert mark(one(make_line, "Endnotes", 60, role="title"), *body(make_line, *notes)) == ["reference"] * 3


@pytest.mark.parametrize(
    ("heading", "role"),
    [("Appendix A: Survey form", "title"), ("ANNEX B", "text"), ("Exhibit 2: Costs", "caption"), ("Glossary", "text")],
)
def test_an_appendix_behind_the_list_is_text_whatever_its_rank(
    make_line: Callable[..., Line], heading: str, role: Role
) -> None:
    appendix = one(make_line, heading, 300, role=role)
    appendix.level = 5 if role == "title" else None
    found = mark(
        one(make_line, "References", 60, role="title"), *body(make_line, *YEARLESS), appendix, *body(make_line, BODY)
    )
    assert found == ["reference"] * 5 + [role, "text"]


def test_prose_behind_the_list_is_text(make_line: Callable[..., Line]) -> None:
    lesser = one(make_line, "How the survey was made", 300, role="title")
    lesser.level = 5
    head = one(make_line, "References", 60, role="title")
    assert mark(head, *body(make_line, *YEARLESS, PROSE, PROSE)) == ["reference"] * 5 + ["text"] * 2
    head = one(make_line, "References", 60, role="title")
    assert mark(head, *body(make_line, *YEARLESS), lesser, *body(make_line, PROSE)) == [
        *["reference"] * 5,
        "title",
        "text",
    ]


def test_headings_within_a_list_belong_to_it(make_line: Callable[..., Line]) -> None:
    lesser = one(make_line, "Reports", 200, role="title")
    lesser.level = 5
    head = one(make_line, "References", 60, role="title")
    assert mark(head, *body(make_line, *YEARLESS[:2]), lesser, *body(make_line, *YEARLESS[2:])) == ["reference"] * 6


def test_small_type_at_the_foot_of_a_list_is_part_of_it_and_the_note_of_the_text_above_is_not(
    make_line: Callable[..., Line],
) -> None:
    page = [one(make_line, BODY, 40), one(make_line, "References", 60, role="title"), *body(make_line, *YEARLESS)]
    page[-1].role = page[-2].role = "footnote"
    note = Segment.of([make_line("3 The board has since changed its mind.", y=740, size=7, style=STARTS_WITH_MARK)])
    note.role = "footnote"
    assert mark(*page, note) == ["text", *["reference"] * 5, "footnote"]


def test_a_list_without_years_goes_on_over_the_page_and_a_table_behind_it_does_not(
    make_line: Callable[..., Line],
) -> None:
    references = References()
    references.mark([one(make_line, "References", 60, role="title"), *body(make_line, *YEARLESS[:2])])
    assert roles(references.mark(body(make_line, *YEARLESS[2:]))) == ["reference"] * 2
    cells = body(make_line, "Homes in county", "Finished", "Above 70", "Below 50")
    assert roles(references.mark(cells)) == ["text"] * 4
