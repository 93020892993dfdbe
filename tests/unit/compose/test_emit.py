from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.compose.emit import judge_query, judged_documents, trec_rows
from nclue_build.records.benchmark import Quote, Violator
from nclue_build.store.trec import TrecQrel

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.inventory.table import Inventory

PAGES = {
    ("a", "gold"): (1, 4), ("b", "gold"): (4, 9), ("c", "gold"): (7,),
    ("a", "one_page"): (3, 5), ("b", "one_page"): (3,), ("c", "one_page"): (3, 8),
    ("a", "too_few"): (2,), ("b", "too_few"): (2,), ("c", "too_few"): (6,),
    ("b", "part"): (5,), ("c", "part"): (5,),
    ("d", "other"): (1,),
}  # fmt: skip


def test_every_kind_of_pair(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    quote = Quote(condition_id="a", page=1, quote="x")
    gold = inventory.document_ids.index("gold")
    rows = judge_query(inventory, "q", (0, 1, 2), {gold: (quote,)})
    by_id = {qrel.doc_id: qrel for qrel, _ in rows}
    assert list(by_id) == ["gold", "one_page", "part", "too_few"]
    assert [(q.grade, q.clue_count, q.gold, q.gate) for q in by_id.values()] == [
        (3, 3, True, "ok"), (2, 3, False, "single_page"), (2, 2, False, "incomplete"), (2, 3, False, "no_assignment"),
    ]  # fmt: skip
    assert by_id["gold"].witness == (1, 4, 7)
    assert by_id["gold"].evidence == (quote,)
    assert by_id["gold"].pages == ((1, 4), (4, 9), (7,))
    assert by_id["one_page"].shared_pages == (3,)
    assert by_id["too_few"].violator == Violator(conditions=("a", "b"), pages=(2,))
    assert by_id["part"].pages == ((), (5,), (5,))
    part = by_id["part"]
    assert (part.witness, part.shared_pages, part.violator) == (None, None, None)


def test_trec_rows(make_inventory: Callable[..., Inventory]) -> None:
    rows = trec_rows(judge_query(make_inventory(PAGES), "q", (0, 1, 2), {})[:2])
    assert rows == {
        "qrels.trec": [TrecQrel("q", "0", "gold", 3), TrecQrel("q", "0", "one_page", 2)],
        "qrels.gold.trec": [TrecQrel("q", "0", "gold", 1)],
        "qrels.conditions.trec": [TrecQrel("q", str(n), doc, 1) for doc in ("gold", "one_page") for n in (1, 2, 3)],
        "qrels.pages.trec": [
            *(TrecQrel("q", "0", f"gold_p{page:04d}", grade) for page, grade in ((1, 1), (4, 2), (7, 1), (9, 1))),
            *(TrecQrel("q", "0", f"one_page_p{page:04d}", grade) for page, grade in ((3, 3), (5, 1), (8, 1))),
        ],
    }


def test_a_document_level_inventory(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES, "document")
    rows = judge_query(inventory, "q", (0, 1, 2), {})
    assert [(q.doc_id, q.grade, q.gate, q.gold) for q, _ in rows] == [
        ("gold", 3, "document_level", True),
        ("one_page", 3, "document_level", True),
        ("part", 2, "incomplete", False),
        ("too_few", 3, "document_level", True),
    ]
    assert rows[2].qrel.pages == ((), (), ())
    found = trec_rows(rows[2:3])
    assert found["qrels.conditions.trec"] == [TrecQrel("q", "2", "part", 1), TrecQrel("q", "3", "part", 1)]
    assert found["qrels.pages.trec"] == []


def test_the_union_is_judged(make_inventory: Callable[..., Inventory]) -> None:
    inventory = make_inventory(PAGES)
    assert [inventory.document_ids[d] for d in judged_documents(inventory, (0, 3))] == [
        "gold", "one_page", "other", "too_few",
    ]  # fmt: skip
