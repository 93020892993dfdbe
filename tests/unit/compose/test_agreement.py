"""Rules against a model, item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.compose.agreement import MOST_NEEDS, agreement, compared
from nclue_build.compose.needs import ItemQuotes, Need
from nclue_build.compose.quotes import FoundQuote
from nclue_build.core.ids import query_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.inventory import Condition

QUOTE = FoundQuote((0, 0, 0, 0, 0), 3, "a quote")


def test_the_same_items_stand_beside_each_other(
    make_inventory: Callable[..., Inventory], make_condition: Callable[..., Condition]
) -> None:
    inventory = make_inventory(
        {("a", "d"): (1,), ("b", "d"): (2,), ("c", "d"): (2,), ("a", "e"): (1,), ("b", "e"): (3,)}
    )
    conditions = [make_condition(key, f"concept {key}") for key in inventory.condition_ids]
    gold = Need(0, (0, 1), (1, 2))
    subset = Need(1, (0, 1), (None, None), absent=(2,))

    def model(index: int, reason: str | None = None) -> ItemQuotes:
        return ItemQuotes(index, (), None if reason else QUOTE, reason, "c" * 64)  # type: ignore[arg-type]

    said = {
        gold: (model(0), model(1, "judge_disagrees")),
        subset: (model(0, "call_empty"), model(1), ItemQuotes(2, (), None, None, "c" * 64)),
    }
    rules = {
        gold: (ItemQuotes(0, (QUOTE,), QUOTE), ItemQuotes(1, (), QUOTE)),
        subset: (ItemQuotes(0, (), None, "fragment"), ItemQuotes(1, (), None, "names_only")),
    }
    rows = agreement(said, rules, inventory, conditions)
    documents, names = inventory.document_ids, inventory.condition_ids
    first, second = query_id(names[:2]), query_id(names[:3])
    found = {row.case_id: (row.rules, row.rules_reason, row.model, row.model_reason) for row in rows}
    assert found == {
        f"{documents[0]}/{first}/{names[0]}": ("QUOTED", "page 3", "QUOTED", "page 3"),
        f"{documents[0]}/{first}/{names[1]}": ("QUOTED", "page 3", "REFUSED", "judge_disagrees"),
        f"{documents[1]}/{second}/{names[0]}": ("REFUSED", "fragment", "NONE", "call_empty"),
        f"{documents[1]}/{second}/{names[1]}": ("REFUSED", "names_only", "QUOTED", "page 3"),
    }
    assert [row.case_id for row in rows] == sorted(found)
    assert {row.kind for row in rows} == {"item"}


def test_of_many_needs_those_of_whole_documents_are_compared() -> None:
    documents = [f"document {number}" for number in range(40)]
    needs = [Need(number % 40, (number, number + 1), (None, None)) for number in range(40 * 60)]
    assert sorted(compared(needs[:400], documents), key=needs.index) == needs[:400]
    drawn = compared(needs, documents)
    assert MOST_NEEDS <= len(drawn) < MOST_NEEDS + 60
    assert len({need.document for need in drawn}) * 60 == len(drawn)
    assert set(compared(reversed(needs), documents)) == set(drawn)
