"""The inventory in memory: order, look-up, strength, and the rows it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.core.errors import DataError
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import EvidenceRow

if TYPE_CHECKING:
    from nclue_build.records.base import Level

Pages = tuple[int, ...]


def row(
    condition: str,
    document: str,
    pages: Pages | None,
    mentions: Pages | None = None,
    headings: tuple[bool, ...] | None = None,
) -> EvidenceRow:
    n_pages = len(pages or ())
    return EvidenceRow(
        condition_id=condition,
        doc_id=document,
        pages=pages,
        mentions=mentions or (1,) * n_pages,
        in_heading=headings or (False,) * n_pages,
    )


ROWS = [
    row("b", "d2", (4, 9), (1, 2)),
    row("a", "d3", (1,), (5,), (True,)),
    row("b", "d1", (3,)),
    row("a", "d1", (2, 70)),
]


def test_rows_come_back_sorted_whatever_order_they_came_in() -> None:
    for rows in (ROWS, ROWS[::-1]):
        inventory = Inventory.from_rows(rows, ["b", "a"], ["d3", "d1", "d2"])
        assert list(inventory.rows()) == sorted(ROWS, key=lambda item: (item.condition_id, item.doc_id))
        assert inventory.condition_ids == ("a", "b")
        assert inventory.document_ids == ("d1", "d2", "d3")


def test_find_gives_the_row_or_minus_one() -> None:
    inventory = Inventory.from_rows(ROWS, ["a", "b"], ["d1", "d2", "d3"])
    found = inventory.find(np.arange(2)[:, None], np.arange(3)[None, :])
    assert found.tolist() == [[0, -1, 1], [2, 3, -1]]
    assert [inventory.pages_of(index) for index in found.ravel().tolist()] == [(2, 70), (), (1,), (3,), (4, 9), ()]


def test_find_in_an_empty_inventory() -> None:
    inventory = Inventory.from_rows([], ["a"], ["d1"])
    assert inventory.find(np.array([0]), np.array([0])).tolist() == [-1]
    assert list(inventory.rows()) == []
    assert inventory.strong.tolist() == []


def test_strong_means_several_mentions_in_the_document_or_a_heading() -> None:
    rows = [
        row("a", "d1", (1, 2), (1, 2)),
        row("a", "d2", (1, 2), (1, 1)),
        row("a", "d3", (8,), (1,), (True,)),
    ]
    inventory = Inventory.from_rows(rows, ["a"], ["d1", "d2", "d3"])
    assert inventory.strong.tolist() == [True, False, True]


def test_document_level_rows_have_no_pages_and_are_strong() -> None:
    inventory = Inventory.from_rows([row("a", "d1", None)], ["a"], ["d1"], level="document")
    assert [item.pages for item in inventory.rows()] == [None]
    assert inventory.pages_of(0) == ()
    assert inventory.strong.tolist() == [True]


@pytest.mark.parametrize(
    ("rows", "level", "code"),
    [
        ([row("x", "d1", (1,))], "page", "unknown-condition"),
        ([row("a", "x", (1,))], "page", "unknown-document"),
        ([row("a", "d1", (1,)), row("a", "d1", (2,))], "page", "duplicate-evidence"),
        ([row("a", "d1", None)], "page", "wrong-level"),
        ([row("a", "d1", (1,))], "document", "wrong-level"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows: list[EvidenceRow], level: Level, code: str) -> None:
    with pytest.raises(DataError) as caught:
        Inventory.from_rows(rows, ["a"], ["d1"], level)
    assert [finding.code for finding in caught.value.findings] == [code]


@pytest.mark.parametrize("step", [1, -1])
def test_a_row_of_an_unknown_document_makes_no_other_row_a_repeat(step: int) -> None:
    rows = [row("a", "d2", (1,)), row("b", "x", (1,))]
    with pytest.raises(DataError) as caught:
        Inventory.from_rows(rows[::step], ["a", "b"], ["d1", "d2"])
    assert [finding.code for finding in caught.value.findings] == ["unknown-document"]


def test_replacing_in_an_inventory_of_documents_leaves_one_of_documents() -> None:
    inventory = Inventory.from_rows([row("a", "d1", None), row("a", "d2", None)], ["a"], ["d1", "d2"], "document")
    assert [item.doc_id for item in inventory.replaced({("a", "d1"): None}).rows()] == ["d2"]
    assert list(inventory.replaced({}).rows()) == list(inventory.rows())


def test_all_bad_rows_are_reported_together() -> None:
    with pytest.raises(DataError) as caught:
        Inventory.from_rows([row("x", "d1", (1,)), row("a", "y", (1,)), row("a", "d1", (1,))], ["a"], ["d1"])
    assert len(caught.value.findings) == 2


def test_postings_frequencies_and_the_incidence_matrix() -> None:
    inventory = Inventory.from_rows(ROWS, ["a", "b", "c"], ["d1", "d2", "d3"])
    assert [inventory.postings(condition).tolist() for condition in range(3)] == [[0, 2], [0, 1], []]
    assert inventory.document_frequency.tolist() == [2, 2, 0]
    assert inventory.page_frequency.tolist() == [3, 3, 0]
    assert inventory.incidence().toarray().tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0]]
    empty = Inventory.from_rows([], [], ["d1"])
    assert empty.incidence().toarray().shape == (0, 1)
    assert empty.page_frequency.tolist() == []
