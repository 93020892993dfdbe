from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nclue_build.compose.candidates import Candidates
from nclue_build.compose.quotes import FoundQuote
from nclue_build.compose.verify import (
    Item,
    ItemVerdict,
    Need,
    apply_verdicts,
    judge_document,
    needs_of,
    plan_items,
)
from nclue_build.records.corpus import Block, PageRow
from nclue_build.records.inventory import Alias

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.inventory.table import Inventory

PAGES = {
    ("a", "d1"): (1, 4, 6), ("b", "d1"): (2, 4),
    ("a", "d2"): (3,), ("b", "d2"): (5,),
    ("a", "d3"): (9, 10), ("a", "d4"): (1,), ("b", "d5"): (2,), ("a", "d6"): (1,), ("b", "d7"): (1,),
}  # fmt: skip
ALIAS = Alias(form="water reuse", match="folded", document_frequency=1, page_frequency=1)
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


def page(number: int, text: str) -> PageRow:
    return PageRow(
        doc_id="d", page=number, width=1, height=1, backend="made", backend_version="1", status="ok",
        blocks=(Block(role="text", text=text),), text_sha256="0" * 64,
    )  # fmt: skip


def test_golds_are_judged_on_their_witness_pages(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    ((first, second),) = needs_of(one_pair(), inventory, "golds")
    assert first == Need(0, (0, 1), (1, 2))
    assert second == Need(1, (0, 1), (3, 5))
    plan = plan_items([[first, second]], inventory, {0: (ALIAS,), 1: (ALIAS,)})
    assert plan[0] == [Item(0, (ALIAS,), (1,), (4, 6)), Item(1, (ALIAS,), (2,), (4,))]


def test_hard_subsets_are_those_with_most_conditions_and_mentions(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    (hard,) = needs_of(one_pair(), inventory, "golds+hard")
    assert [need.document for need in hard] == [0, 1, 2, 3, 4]
    assert hard[2] == Need(2, (0,), (None,))
    (everything,) = needs_of(one_pair(), inventory, "all")
    assert [need.document for need in everything] == [0, 1, 2, 3, 4, 5, 6]


def test_preferred_pages_come_first_and_others_only_when_they_fail() -> None:
    pages = [page(1, "Nothing."), page(2, SENTENCE), page(3, SENTENCE + " Twice."), page(4, SENTENCE)]
    fails, works = judge_document(
        iter(pages), [Item(0, (ALIAS,), (1,), (2, 3)), Item(1, (ALIAS,), (3, 4), (2,))], ("text",)
    )
    assert [quote.page for quote in fails.quotes] == [2]
    assert [quote.page for quote in works.quotes] == [3, 4]
    assert works.quote_for(4).page == 4
    assert fails.quote_for(1).page == 2
    (refused,) = judge_document(iter(pages), [Item(0, (ALIAS,), (1,), ())], ("text",))
    assert refused.refusal == "not_on_page"
    (elsewhere,) = judge_document(iter(pages), [Item(0, (ALIAS,), (2,), ())], ("title",))
    assert elsewhere.refusal == "not_on_page"


def test_any_mismatch_drops_the_candidate() -> None:
    good = ItemVerdict(0, (FoundQuote((0,), 1, "x"),), None)
    bad = ItemVerdict(1, (), "fragment")
    needs = [[Need(0, (0, 1), (1, 2)), Need(1, (0, 1), (3, 5))]]
    verdicts = {(0, 0): good, (0, 1): good, (1, 0): good, (1, 1): good}
    passed = apply_verdicts(one_pair(), needs, verdicts)
    assert (passed.passed, passed.mismatches, passed.by_n_golds) == ([0], {}, {2: (1, 0)})
    dropped = apply_verdicts(one_pair(), needs, verdicts | {(1, 1): bad})
    assert dropped.passed == []
    assert (dropped.mismatches[0].reason, dropped.mismatches[0].document) == ("fragment", 1)
    assert dropped.by_n_golds == {2: (1, 1)}


def test_a_later_quote_heals_a_refusal() -> None:
    good = ItemVerdict(0, (FoundQuote((0,), 1, "x"),), None)
    assert good.joined(ItemVerdict(0, (), "fragment")).refusal is None
    assert ItemVerdict(0, (), "fragment").joined(good).quotes == good.quotes
