"""What an item call shows, and what of its reply counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.outcomes import Outcome
from nclue_build.calls.replies import ConditionReply, ItemReply
from nclue_build.compose.model_judge import read_outcome
from nclue_build.compose.needs import Need
from nclue_build.compose.quotes import FoundQuote
from nclue_build.compose.shown import BLOCK_CHARACTERS, GAP, PAGE_CHARACTERS, plan_item, show_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.compose.shown import ItemCase
    from nclue_build.records.calls import Status
    from nclue_build.records.corpus import PageRow, Role
    from nclue_build.records.inventory import Condition

ROLES: frozenset[Role] = frozenset({"title", "text"})
RIVER = "The report of the year covers River Basins in every province of the land."
DEBRIS = "Volunteers collected marine debris on all beaches of the coast."
OTHER = "Nothing of either kind is said in this paragraph, which only fills the page."
WETLANDS, BASINS, MARINE = 0, 1, 2
NEED = Need(3, (BASINS, MARINE), (5, 7), absent=(WETLANDS,))


@pytest.fixture
def conditions(make_condition: Callable[..., Condition]) -> list[Condition]:
    return [
        make_condition("c0", "wetlands"), make_condition("c1", "river basins", "basin management"),
        make_condition("c2", "marine debris"),
    ]  # fmt: skip


@pytest.fixture
def show(conditions: list[Condition], make_page_row: Callable[..., PageRow]) -> Callable[..., ItemCase]:
    def make(need: Need = NEED, first: Sequence[tuple[Role, str]] = (("text", RIVER), ("text", OTHER))) -> ItemCase:
        pages = [make_page_row(*first, page=5), make_page_row(("text", DEBRIS), ("header", DEBRIS), page=7)]
        pages_of = {BASINS: [5], MARINE: [7]}
        plan = plan_item(need, conditions, {index: pages_of[index] for index in need.conditions})
        (case,) = show_items([make_page_row(("text", "not asked for"), page=1), *pages], [plan], ROLES)
        return case

    return make


def reply(*rows: tuple[str, str | None]) -> Outcome[ItemReply]:
    found = tuple(ConditionReply(id=key, present=text is not None, evidence=text) for key, text in rows)
    return Outcome("k" * 64, "ok", ItemReply(conditions=found), "a test")


def refusals(case: ItemCase, *texts: str | None) -> list[str | None]:
    rows = zip(("c1", "c2", "c3"), texts, strict=True)
    return [item.refusal for item in read_outcome(NEED, case, reply(*rows))]


def test_pages_of_the_conditions_are_shown_with_their_allowed_blocks(show: Callable[..., ItemCase]) -> None:
    case = show()
    assert case.values["pages"] == (f'<page id="p1">\n{RIVER}\n{OTHER}\n</page>\n<page id="p2">\n{DEBRIS}\n</page>')
    assert case.values["conditions"].splitlines() == [
        "c1: wetlands", "   surface forms: wetlands", "c2: river basins",
        "   surface forms: river basins; basin management", "c3: marine debris", "   surface forms: marine debris",
    ]  # fmt: skip
    assert [(block.page, block.role) for block in case.blocks] == [(5, "text"), (5, "text"), (7, "text")]


def test_text_of_a_document_closes_no_mark(show: Callable[..., ItemCase]) -> None:
    case = show(first=[("text", f"</page> < PAGE id='p9'> {RIVER}")])
    assert case.values["pages"].count("<page") == case.values["pages"].count("</page>") == 2
    assert "\u2039/page> \u2039 PAGE id" in case.values["pages"]


def test_of_a_long_page_blocks_with_a_form_come_first(show: Callable[..., ItemCase]) -> None:
    filler = [("text", f"{number} {OTHER} " * 12) for number in range(9)]
    page = show(first=[*filler, ("text", RIVER)]).values["pages"].partition("</page>")[0]
    lines = page.splitlines()[1:]
    assert lines[-2:] == [GAP, RIVER]
    assert sum(len(line) for line in lines if line != GAP) <= PAGE_CHARACTERS
    assert lines[0].startswith("0 Nothing")


def test_a_long_block_is_cut_around_its_form(show: Callable[..., ItemCase]) -> None:
    text = f"{OTHER} " * 40 + RIVER + f" {OTHER}" * 40
    line = show(first=[("text", text)]).values["pages"].splitlines()[1]
    assert line.startswith(f"{GAP} ")
    assert line.endswith(f" {GAP}")
    assert RIVER in line
    assert len(line) <= BLOCK_CHARACTERS + 2 * (len(GAP) + 1)


def test_what_is_shown_together_is_what_is_shown_alone(
    conditions: list[Condition], make_page_row: Callable[..., PageRow]
) -> None:
    """Pages are rendered once for all calls of a document, whatever else is asked about it."""
    long = [("text", f"{number} {OTHER} " * 12) for number in range(6)]
    ends = [("text", form + f" {OTHER}" * 12) for form in (RIVER, DEBRIS)]
    rows = [make_page_row(*long, *ends, page=5), make_page_row(("text", DEBRIS), page=7)]
    plans = [
        plan_item(Need(3, chosen, (None,) * len(chosen)), conditions, {BASINS: [5], MARINE: [7, 5]})
        for chosen in ((BASINS,), (MARINE,), (BASINS, MARINE))
    ]
    alone = [show_items(rows, [plan], ROLES)[0] for plan in plans]
    assert show_items(rows, plans, ROLES) == alone
    assert len({case.values["pages"] for case in alone}) == len(plans)


def test_a_passage_on_the_page_with_its_form_is_a_quote(show: Callable[..., ItemCase]) -> None:
    basins, marine, wetlands = read_outcome(NEED, show(), reply(("c3", DEBRIS), ("c1", None), ("c2", RIVER)))
    assert isinstance(basins.best, FoundQuote)
    assert isinstance(marine.best, FoundQuote)
    assert (basins.best.text, basins.best.page, basins.call_key) == (RIVER, 5, "k" * 64)
    assert (marine.best.text, marine.best.page) == (DEBRIS, 7)
    assert (wetlands.best, wetlands.refusal) == (None, None)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((None, RIVER, DEBRIS), [None, None, None]),
        ((None, "covers River\nBasins in every  province", DEBRIS), [None, None, None]),
        ((None, None, DEBRIS), ["judge_disagrees", None, None]),
        ((OTHER, RIVER, DEBRIS), [None, None, "judge_finds_more"]),
        ((None, "A passage about River Basins that stands nowhere", DEBRIS), ["evidence_not_on_page", None, None]),
        ((None, OTHER, DEBRIS), ["evidence_without_form", None, None]),
        ((None, "River Basins", DEBRIS), ["evidence_trivial", None, None]),
        ((None, RIVER, RIVER), [None, "evidence_without_form", None]),
        ((None, f"{RIVER} {OTHER}", DEBRIS), ["evidence_not_on_page", None, None]),  # two blocks
        ((None, "report of the year covers River Basin", DEBRIS), ["evidence_not_on_page", None, None]),  # half a word
    ],
)
def test_whatever_differs_is_refused(
    show: Callable[..., ItemCase], texts: tuple[str | None, ...], expected: list[str | None]
) -> None:
    assert refusals(show(), *texts) == expected


def test_answers_to_other_questions_are_no_answers(show: Callable[..., ItemCase]) -> None:
    for rows in ([("c1", None)], [("c1", None), ("c2", RIVER), ("c2", RIVER)], [("c9", None), ("c2", None)]):
        found = read_outcome(NEED, show(), reply(*rows))
        assert {item.refusal for item in found} == {"answer_ids_differ"}
        assert [item.condition for item in found] == [BASINS, MARINE, WETLANDS]


@pytest.mark.parametrize("status", ["truncated", "refused", "empty", "invalid"])
def test_a_call_without_a_reply_is_no_verdict(show: Callable[..., ItemCase], status: Status) -> None:
    outcome: Outcome[Any] = Outcome("k" * 64, status, None, "a test")
    assert [item.refusal for item in read_outcome(NEED, show(), outcome)] == [f"call_{status}"] * 3
