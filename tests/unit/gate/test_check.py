"""The array path on cases worked out by hand, at its limits, and on many pairs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from nclue_build.core.errors import InternalError
from nclue_build.gate.check import check_pairs, row_bitsets
from nclue_build.gate.explain import judge_pages
from nclue_build.gate.outcome import Outcome, capped_grade
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import EvidenceRow


def evidence(condition: str, document: str, pages: tuple[int, ...] | None) -> EvidenceRow:
    n_pages = len(pages or ())
    return EvidenceRow(
        condition_id=condition, doc_id=document, pages=pages, mentions=(1,) * n_pages, in_heading=(False,) * n_pages
    )


def random_inventory(n_conditions: int, n_documents: int, last_page: int) -> Inventory:
    generator = np.random.default_rng(3)
    rows = []
    for condition in range(n_conditions):
        for document in range(n_documents):
            if generator.random() < 0.8:
                pages = np.unique(generator.integers(1, last_page + 1, generator.integers(1, 4)))
                rows.append(evidence(f"c{condition}", f"d{document:03d}", tuple(pages.tolist())))
    conditions = [f"c{index}" for index in range(n_conditions)]
    return Inventory.from_rows(rows, conditions, [f"d{index:03d}" for index in range(n_documents)])


def test_the_cases_the_paper_names() -> None:
    rows = [
        evidence("a", "gold", (2,)), evidence("b", "gold", (19,)), evidence("c", "gold", (60,)),
        evidence("b", "two", (28,)), evidence("c", "two", (47,)),
        evidence("a", "page", (5,)), evidence("b", "page", (5,)), evidence("c", "page", (5, 6)),
        evidence("a", "stuck", (1,)), evidence("b", "stuck", (1,)), evidence("c", "stuck", (2, 3)),
    ]  # fmt: skip
    inventory = Inventory.from_rows(rows, ["a", "b", "c"], ["gold", "two", "page", "stuck", "none"])
    found = inventory.find(np.arange(3)[None, :], np.arange(5)[:, None])
    verdicts = check_pairs(inventory, found)
    by_document = dict(zip(inventory.document_ids, range(5), strict=True))
    expected = {
        "gold": (3, Outcome.OK, True, 3),
        "two": (2, Outcome.INCOMPLETE, False, 2),
        "page": (3, Outcome.SINGLE_PAGE, False, 2),
        "stuck": (3, Outcome.NO_ASSIGNMENT, False, 2),
        "none": (0, Outcome.INCOMPLETE, False, 0),
    }
    for name, (clue_count, outcome, gold, grade) in expected.items():
        index = by_document[name]
        assert verdicts.clue_count[index] == clue_count
        assert verdicts.outcome[index] == outcome
        assert verdicts.gold[index] == gold
        assert verdicts.grade[index] == grade


def test_arrays_have_the_documented_types_even_when_empty() -> None:
    inventory = Inventory.from_rows([], ["a", "b"], ["d"])
    for rows in (np.zeros((0, 2), dtype=np.int64), np.full((1, 2), -1, dtype=np.int64)):
        verdicts = check_pairs(inventory, rows)
        assert [a.dtype for a in (verdicts.clue_count, verdicts.outcome, verdicts.grade)] == [np.int8] * 3
        assert verdicts.gold.dtype == np.bool_
        assert len(verdicts.gold) == len(rows)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_chunks_and_documents_of_different_length_agree_with_one_pair_at_a_time(n: int) -> None:
    inventory = random_inventory(10, 30, last_page=200)
    generator = np.random.default_rng(5)
    conditions = np.array([generator.permutation(10)[:n] for _ in range(3000)])
    documents = generator.integers(0, 30, size=(3000, 1))
    rows = inventory.find(conditions, documents)
    verdicts = check_pairs(inventory, rows, row_bitsets(inventory))
    for index in range(0, 3000, 7):
        expected = judge_pages([inventory.pages_of(row) for row in rows[index].tolist()])
        assert (verdicts.outcome[index], verdicts.grade[index]) == (expected.outcome, expected.grade)
    many = check_pairs(inventory, np.tile(rows, (40, 1)))  # more complete pairs than one chunk holds
    assert (many.outcome == np.tile(verdicts.outcome, 40)).all()


def test_eight_conditions_on_seven_pages_have_no_assignment() -> None:
    pages = tuple(range(61, 68))
    rows = [evidence(f"c{index}", "d", pages) for index in range(7)] + [evidence("c7", "d", pages)]
    rows[0] = evidence("c0", "d", (61, 62))
    rows[1] = evidence("c1", "d", (63, 64))
    inventory = Inventory.from_rows(rows, [f"c{index}" for index in range(8)], ["d"])
    assert check_pairs(inventory, np.arange(8)[None, :]).outcome.tolist() == [Outcome.NO_ASSIGNMENT]
    rows[2] = evidence("c2", "d", (*pages, 200))
    inventory = Inventory.from_rows(rows, [f"c{index}" for index in range(8)], ["d"])
    assert check_pairs(inventory, np.arange(8)[None, :]).outcome.tolist() == [Outcome.OK]


def test_a_document_of_thousands_of_pages_costs_only_its_own_rows() -> None:
    rows = [evidence("a", f"d{index:03d}", (1, 2)) for index in range(500)]
    rows += [evidence("a", "long", (1, 3000)), evidence("b", "long", (2, 3000))]
    inventory = Inventory.from_rows(rows, ["a", "b"], [f"d{index:03d}" for index in range(500)] + ["long"])
    bitsets = row_bitsets(inventory)
    assert bitsets.words.size == 500 + 2 * 47
    long_row = inventory.find(np.array([0, 1]), np.array([500, 500]))
    assert check_pairs(inventory, long_row[None, :], bitsets).outcome.tolist() == [Outcome.SINGLE_PAGE]


def test_memory_stays_bounded_for_a_million_pairs_of_long_documents() -> None:
    inventory = random_inventory(4, 3, last_page=3000)
    rows = np.tile(inventory.find(np.array([[0, 1, 2]]), np.array([[0], [1], [2]])), (300_000, 1))
    tracemalloc.start()
    try:
        check_pairs(inventory, rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * len(rows) + 16 * 2**20  # a few result arrays, and the working set of one chunk


def test_document_level_pairs_are_gold_when_complete() -> None:
    rows = [evidence("a", "d1", None), evidence("b", "d1", None), evidence("a", "d2", None)]
    inventory = Inventory.from_rows(rows, ["a", "b"], ["d1", "d2"], level="document")
    verdicts = check_pairs(inventory, inventory.find(np.array([[0, 1]]), np.array([[0], [1]])))
    assert verdicts.outcome.tolist() == [Outcome.DOCUMENT_LEVEL, Outcome.INCOMPLETE]
    assert verdicts.gold.tolist() == [True, False]
    assert verdicts.grade.tolist() == [2, 1]


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 9), (2, 2, 2)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InternalError, match="pairs x 2"):
        check_pairs(Inventory.from_rows([], [], []), np.full(shape, -1))


def test_a_pair_of_two_documents_is_refused() -> None:
    inventory = Inventory.from_rows([evidence("a", "d1", (1,)), evidence("b", "d2", (2,))], ["a", "b"], ["d1", "d2"])
    with pytest.raises(InternalError, match="different documents"):
        check_pairs(inventory, np.array([[0, 1]]))


def test_labels_are_the_words_of_the_files() -> None:
    assert [outcome.label for outcome in Outcome] == [
        "ok",
        "incomplete",
        "single_page",
        "no_assignment",
        "document_level",
    ]
    assert [outcome.gold for outcome in Outcome] == [True, False, False, False, True]
    assert [capped_grade(3, outcome) for outcome in Outcome] == [3, 3, 2, 2, 3]
