from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nclue_build.compose.candidates import Candidates
from nclue_build.compose.needs import ItemQuotes, Need
from nclue_build.compose.quotes import FoundQuote
from nclue_build.compose.verify import Item, drop_mismatches, judge_document, needs_of, plan_items
from nclue_build.core.arrays import offsets
from nclue_build.core.errors import InternalError
from nclue_build.records.inventory import Alias

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.corpus import PageRow, Role

PAGES = {
    ("a", "d1"): (1, 4, 6), ("b", "d1"): (2, 4),
    ("a", "d2"): (3,), ("b", "d2"): (5,),
    ("a", "d3"): (9, 10), ("a", "d4"): (1,), ("b", "d5"): (2,), ("a", "d6"): (1,), ("b", "d7"): (1,),
}  # fmt: skip
ALIAS = Alias(form="water reuse", match="folded", document_frequency=1, page_frequency=1)
ROLES: tuple[Role, ...] = ("title", "text")
SENTENCE = "Most farms in the valley have come to depend on water reuse for their crops."


def one_pair() -> Candidates:
    return Candidates(
        conditions=np.array([[0, 1]], np.int32),
        gold_starts=np.array([0, 2]),
        gold_documents=np.array([0, 1], np.int32),
        n_capped=np.array([0], np.int32),
        n_judged=np.array([7], np.int32),
        n_weak=np.array([0], np.int32),
        closeness=np.array([0], np.int32),
    )


def test_golds_are_judged_on_their_witness_pages(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    ((first, second),) = needs_of(one_pair(), inventory, "golds")
    assert first == Need(0, (0, 1), (1, 2))
    assert second == Need(1, (0, 1), (3, 5))
    plan = plan_items([first, second], inventory, {0: (ALIAS,), 1: (ALIAS,)})
    assert plan[0] == [Item(0, (ALIAS,), (1,), (1, 4, 6)), Item(1, (ALIAS,), (2,), (2, 4))]


def test_hard_subsets_are_those_with_most_conditions_and_mentions(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    (hard,) = needs_of(one_pair(), inventory, "golds+hard")
    assert [need.document for need in hard] == [0, 1, 2, 3, 4]
    assert hard[2] == Need(2, (0,), (None,), (1,))
    (everything,) = needs_of(one_pair(), inventory, "all")
    assert [need.document for need in everything] == [0, 1, 2, 3, 4, 5, 6]


def test_mentions_of_all_rows_are_added_up_once(
    make_inventory: Callable[..., Inventory], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def count(lengths: Any) -> Any:
        calls.append(len(lengths))
        return offsets(lengths)

    monkeypatch.setattr("nclue_build.compose.verify.offsets", count)
    candidates = one_pair()
    needs_of(candidates.take(np.zeros(50, np.int64)), make_inventory(PAGES), "all")
    assert len(calls) == 1


def test_pages_are_tried_by_mentions(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    mentions = inventory.mentions.copy()
    mentions[:3] = (2, 1, 5)  # of condition a in d1: pages 1, 4, 6
    inventory = dataclasses.replace(inventory, mentions=mentions)
    plan = plan_items([Need(0, (0,), (4,))], inventory, {0: (ALIAS,)})
    assert plan == {0: [Item(0, (ALIAS,), (4,), (6, 1, 4))]}


@pytest.fixture
def pages(make_page_row: Callable[..., PageRow]) -> list[PageRow]:
    heading, body = (
        ("title", "Water reuse"),
        ("text", "What was done about it is told in this part of the report, at some length."),
    )
    return [
        make_page_row(("text", "Nothing."), page=1),
        make_page_row(heading, body, page=2),
        make_page_row(("text", SENTENCE + " Twice."), page=3),
        make_page_row(("text", SENTENCE), page=4),
        make_page_row(heading, body, page=5),
        make_page_row(("text", body[1]), heading, page=6),
    ]


def test_a_sentence_on_the_page_then_one_elsewhere_then_a_heading(pages: list[PageRow]) -> None:
    item = Item(0, (ALIAS,), (2, 3), (5, 4, 3, 2))
    (found,) = judge_document(iter(pages), [item], ROLES)
    assert [quote.page for quote in found.quotes] == [2, 3]
    assert found.quote_for(3).page == 3  # a sentence there
    assert found.quote_for(2).page == 4  # a heading there, so the first sentence by mentions
    assert found.quote_for(None).page == 4
    (headings,) = judge_document(iter(pages), [Item(0, (ALIAS,), (2,), (5, 2))], ROLES)
    assert headings.quote_for(2).page == 2
    assert headings.quote_for(1).page == 5
    assert headings.refusal is None


def test_an_item_without_a_quote_says_why(pages: list[PageRow]) -> None:
    (refused,) = judge_document(iter(pages), [Item(0, (ALIAS,), (1,), (1,))], ROLES)
    assert refused.refusal == "not_on_page"
    (elsewhere,) = judge_document(iter(pages), [Item(0, (ALIAS,), (3,), (3, 9))], ["title"])
    assert elsewhere.refusal == "not_on_page"
    (bare,) = judge_document(iter(pages), [Item(0, (ALIAS,), (6,), (6, 1))], ROLES)
    assert bare.refusal == "bare_heading"
    with pytest.raises(InternalError, match="bare_heading"):
        bare.quote_for(6)


def test_any_mismatch_drops_the_candidate() -> None:
    good = ItemQuotes(0, (), FoundQuote((0,), 1, "x"))
    bad = ItemQuotes(1, (), None, "fragment")
    needs = [[Need(0, (0, 1), (1, 2)), Need(1, (0, 1), (3, 5))]]
    judged = dict.fromkeys(needs[0], (good, good))
    passed = drop_mismatches(one_pair(), needs, judged)
    assert (passed.passed, passed.mismatches, passed.by_n_golds) == ([0], {}, {2: (1, 0)})
    dropped = drop_mismatches(one_pair(), needs, judged | {needs[0][1]: (good, bad)})
    assert dropped.passed == []
    assert (dropped.mismatches[0].reason, dropped.mismatches[0].document) == ("fragment", 1)
    assert dropped.by_n_golds == {2: (1, 1)}
