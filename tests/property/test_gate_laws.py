"""The laws of the page gate: closed form, matching and brute force agree."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.gate.check import check_pairs
from nclue_build.gate.explain import judge_pages, shared_pages, violator, witness
from nclue_build.gate.outcome import Outcome
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import EvidenceRow

if TYPE_CHECKING:
    from collections.abc import Sequence

Sets: TypeAlias = "list[tuple[int, ...]]"

# Few pages, so that clashes are common; on both sides of the 64-page words of a bitset.
PAGES = st.sampled_from([1, 2, 3, 4, 63, 64, 65, 66, 129, 3000])
PAGE_SET = st.one_of(
    st.just(()),
    st.frozensets(PAGES, min_size=1, max_size=2),
    st.frozensets(PAGES, min_size=1, max_size=7),
    st.frozensets(st.sampled_from([2, 64, 65]), min_size=1),
).map(lambda pages: tuple(sorted(pages)))
COMPLETE_SET = PAGE_SET.filter(bool)


def page_sets(of: st.SearchStrategy[tuple[int, ...]], max_n: int = 6) -> st.SearchStrategy[Sets]:
    return st.integers(2, max_n).flatmap(lambda n: st.lists(of, min_size=n, max_size=n))


def closed_form(pairs: Sequence[Sets]) -> list[tuple[int, Outcome, bool, int]]:
    """Verdicts of the array path for pairs of equal n, each pair in a document of its own."""
    n = len(pairs[0])
    documents = [f"d{index:03d}" for index in range(len(pairs))]
    rows = [
        EvidenceRow(
            condition_id=f"c{condition}",
            doc_id=document,
            pages=pages,
            mentions=(1,) * len(pages),
            in_heading=(False,) * len(pages),
        )
        for document, sets in zip(documents, pairs, strict=True)
        for condition, pages in enumerate(sets)
        if pages
    ]
    inventory = Inventory.from_rows(rows, [f"c{index}" for index in range(n)], documents)
    found = inventory.find(np.arange(n)[None, :], np.arange(len(pairs))[:, None])
    verdicts = check_pairs(inventory, found)
    return [
        (int(verdicts.clue_count[i]), Outcome(verdicts.outcome[i]), bool(verdicts.gold[i]), int(verdicts.grade[i]))
        for i in range(len(pairs))
    ]


def assignments(sets: Sets) -> list[tuple[int, ...]]:
    return [pages for pages in product(*sets) if len(set(pages)) == len(pages)]


def networkx_saturates(sets: Sets) -> bool:
    graph: nx.Graph[object] = nx.Graph()
    conditions = [("condition", index) for index in range(len(sets))]
    graph.add_nodes_from(conditions)
    graph.add_edges_from((("condition", index), page) for index, pages in enumerate(sets) for page in pages)
    matching = nx.bipartite.maximum_matching(graph, top_nodes=conditions)
    return all(node in matching for node in conditions)


def brute_force(sets: Sets) -> Outcome:
    if not all(sets):
        return Outcome.INCOMPLETE
    if any(all(page in pages for pages in sets) for page in range(1, 3001)):
        return Outcome.SINGLE_PAGE
    return Outcome.OK if assignments(sets) else Outcome.NO_ASSIGNMENT


@given(page_sets(PAGE_SET))
def test_closed_form_explanation_networkx_and_brute_force_agree(sets: Sets) -> None:
    expected = brute_force(sets)
    assert networkx_saturates(sets) == bool(assignments(sets))
    [(clue_count, outcome, gold, grade)] = closed_form([sets])
    explained = judge_pages(sets)
    assert outcome is explained.outcome is expected
    assert gold is explained.gold is (expected is Outcome.OK)
    assert clue_count == explained.clue_count == sum(map(bool, sets))
    assert grade == explained.grade


@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(PAGE_SET, min_size=n, max_size=n), min_size=2, max_size=9))
)
def test_pairs_do_not_influence_each_other(pairs: list[Sets]) -> None:
    assert closed_form(pairs) == [closed_form([sets])[0] for sets in pairs]


@given(page_sets(PAGE_SET))
def test_witness_is_the_smallest_of_all_assignments(sets: Sets) -> None:
    assert witness(sets) == min(assignments(sets), default=None)


@given(page_sets(COMPLETE_SET))
def test_gold_implies_an_injective_witness_and_no_shared_page(sets: Sets) -> None:
    verdict = judge_pages(sets)
    if verdict.gold:
        assert verdict.witness is not None
        assert len(set(verdict.witness)) == len(sets)
        assert all(page in pages for page, pages in zip(verdict.witness, sets, strict=True))
        assert not shared_pages(sets)
        assert verdict.shared_pages is None
        assert verdict.violator is None
    else:
        assert verdict.witness is None


@given(page_sets(PAGE_SET))
def test_violator_is_the_first_smallest_proof_and_exists_exactly_without_a_witness(sets: Sets) -> None:
    proofs = [
        (size, subset)
        for size in range(1, len(sets) + 1)
        for subset in combinations(range(len(sets)), size)
        if len(set().union(*(sets[index] for index in subset))) < size
    ]
    found = violator(sets)
    assert (found is None) == (witness(sets) is not None)
    if found is None:
        assert not proofs
    else:
        assert (len(found.conditions), found.conditions) == min(proofs)
        assert found.pages == tuple(sorted(set().union(*(sets[index] for index in found.conditions))))


@given(page_sets(PAGE_SET), st.data())
def test_another_page_never_destroys_a_matching(sets: Sets, data: st.DataObject) -> None:
    grown = list(sets)
    index = data.draw(st.integers(0, len(sets) - 1))
    grown[index] = tuple(sorted({*sets[index], data.draw(PAGES)}))
    if witness(sets) is not None:
        assert witness(grown) is not None
        assert judge_pages(grown).outcome in (Outcome.OK, Outcome.SINGLE_PAGE)


@given(st.integers(2, 6))
def test_another_page_can_destroy_a_gold(n: int) -> None:
    sets: Sets = [(7, 10 + index) for index in range(n - 1)]
    sets.append((1, 2))
    assert judge_pages(sets).outcome is closed_form([sets])[0][1] is Outcome.OK
    sets[-1] = (1, 2, 7)
    assert judge_pages(sets).outcome is closed_form([sets])[0][1] is Outcome.SINGLE_PAGE


@given(page_sets(PAGE_SET, max_n=4))
def test_the_order_of_conditions_never_changes_the_verdict(sets: Sets) -> None:
    orders = [list(order) for order in permutations(sets)]
    assert len(set(closed_form(orders))) == 1
    assert len({(v.clue_count, v.outcome, v.grade, v.gold, v.shared_pages) for v in map(judge_pages, orders)}) == 1


@given(page_sets(PAGE_SET))
def test_grade_is_capped_exactly_when_every_condition_is_there_and_the_gate_fails(sets: Sets) -> None:
    [(clue_count, _, gold, grade)] = closed_form([sets])
    capped = clue_count == len(sets) and not gold
    assert grade == (clue_count - 1 if capped else clue_count)
    assert (grade == len(sets)) == gold


@given(page_sets(PAGE_SET, max_n=4), st.integers(1, 5000))
def test_only_which_pages_are_equal_matters(sets: Sets, shift: int) -> None:
    moved = [tuple(page + shift for page in pages) for pages in sets]
    assert closed_form([moved]) == closed_form([sets])
