"""Paragraphs over a page break that stand whole on their first page, and the PDF that says where it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.corpus.mineru.glued import part_glued
from nclue_build.corpus.mineru.pages import GLUED, MineruDocument

FIRST = "The guild mended every lock of the upper brook before the floods of spring"
SECOND = "came down from the hills, and nobody has counted what that cost the town."
REST = "Otters dug into the north bank all summer long, as they had always done."


def made(*pages: list[tuple[str, str]]) -> MineruDocument:
    document = MineruDocument("content_list", every_page=False)
    for index, blocks in enumerate(pages):
        page = document.add_page(index)
        page.flags.add(GLUED)
        for role, text in blocks:
            page.add(role, text)  # type: ignore[arg-type]
    return document


def shown(document: MineruDocument) -> list[list[str]]:
    return [[block.text for block in document.pages[index].blocks] for index in sorted(document.pages)]


def test_a_paragraph_is_parted_where_the_page_ends() -> None:
    document = made(
        [("text", REST), ("text", f"{FIRST} {SECOND}"), ("table", "a | b")], [("header", "Brooks"), ("text", "More.")]
    )
    part_glued(document, [[REST, FIRST, "a b", "7"], ["Brooks", SECOND, "More."]])
    assert shown(document) == [[REST, FIRST, "a | b"], ["Brooks", SECOND, "More."]]
    assert all(GLUED in page.flags for page in document.pages.values())


def test_a_word_broken_over_the_pages_stays_broken() -> None:
    document = made([("text", f"{FIRST} overwhelmed {SECOND}")], [])
    part_glued(document, [[f"{FIRST} over-"], [f"whelmed {SECOND}"]])
    assert shown(document) == [[f"{FIRST} over"], [f"whelmed {SECOND}"]]


def test_a_page_with_nothing_else_gets_its_text() -> None:
    document = made([("text", f"{FIRST} {SECOND}")])
    part_glued(document, [[FIRST], [SECOND]])
    assert shown(document) == [[FIRST], [SECOND]]


def test_a_head_that_ends_like_the_paragraph_before_the_break_is_no_part_of_it() -> None:
    document = made([("text", f"{FIRST} {SECOND}")], [])
    part_glued(document, [[FIRST], ["floods of spring", SECOND]])
    assert shown(document) == [[FIRST], [SECOND]]


@pytest.mark.parametrize(
    "known",
    [
        [[], []],  # scans
        [[f"{FIRST} {SECOND}"], [REST]],  # all on its page
        [[f"{FIRST} {SECOND}"], [f"{FIRST} {SECOND}"]],  # on both
        [[FIRST], ["came d0wn fr0m the hi11s", REST]],  # read otherwise
        [[REST], [SECOND]],  # what is before is nowhere
        [[FIRST]],  # the last page
    ],
)
def test_what_the_pdf_does_not_tell_stays(known: list[list[str]]) -> None:
    document = made([("text", f"{FIRST} {SECOND}")], [("text", "x")])
    part_glued(document, known)
    assert shown(document) == [[f"{FIRST} {SECOND}"], ["x"]]


ROWS = ["Weir | Eels", "Millbrook | 17", "Upper lock | 4", "Lower ferry | 12", "Total | 33"]


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_rows_of_a_table_go_to_their_page(cut: int) -> None:
    document = made([("text", REST), ("table", "\n".join(ROWS))], [("text", "More.")])
    known = [row.replace(" |", "") for row in ROWS]
    part_glued(document, [[REST, *known[:cut]], ["Brooks", *known[cut:], "More."]])
    if cut == 4:  # "Total" and "33" are too short to tell
        assert shown(document) == [[REST, "\n".join(ROWS)], ["More."]]
    else:
        assert shown(document) == [[REST, "\n".join(ROWS[:cut])], ["\n".join(ROWS[cut:]), "More."]]
    assert all(block.role == "table" for block in document.pages[1].blocks[:-1])


def test_a_table_over_three_pages_is_parted_twice() -> None:
    document = made([("table", "\n".join(ROWS[:4]))], [], [])
    known = [row.replace(" |", "") for row in ROWS]
    part_glued(document, [known[:2], known[2:3], known[3:4]])
    assert shown(document) == [["\n".join(ROWS[:2])], [ROWS[2]], [ROWS[3]]]


@pytest.mark.parametrize(
    "known", [[[], []], [ROWS, []], [ROWS, ROWS], [ROWS[2:3] + ROWS[4:], ROWS[3:4]], [ROWS[:2], ["read otherwise"]]]
)
def test_rows_of_which_the_pdf_does_not_tell_stay(known: list[list[str]]) -> None:
    document = made([("table", "\n".join(ROWS))], [])
    part_glued(document, known)
    assert shown(document) == [["\n".join(ROWS)], []]


WORDS = st.lists(
    st.sampled_from([*FIRST.split(), *SECOND.split(), "\ufb01sh", "\u00e9", "$q_1$"]), min_size=1, max_size=30
)


@given(WORDS, WORDS, WORDS)
def test_no_word_is_lost_or_goes_to_a_page_that_does_not_have_it(
    head: list[str], tail: list[str], rest: list[str]
) -> None:
    whole = " ".join([*head, *tail])
    document = made([("text", whole)], [("text", " ".join(rest))])
    part_glued(document, [[" ".join(head)], [" ".join(tail), " ".join(rest)]])
    first, second = shown(document)
    assert "".join([*first, *second[:-1]]).replace(" ", "") == whole.replace(" ", "")
    assert second[-1] == " ".join(rest)
    for moved in second[:-1]:
        assert moved.replace(" ", "") in "".join([*head, *tail, *rest])
