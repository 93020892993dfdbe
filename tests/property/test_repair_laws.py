"""Laws of applying decisions: order, repetition, agreement with a path of its own, and judgments from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.compose.emit import judge_query
from nclue_build.inventory.decided import Scoped
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import EvidenceRow
from nclue_build.records.repair import Decision, DecisionQuote
from nclue_build.rederive.decisions_check import View, _own_views, _with_decisions
from nclue_build.rederive.documents import DerivedRow
from nclue_build.rederive.inventory_check import DerivedInventory
from nclue_build.rederive.matching import judge_query as judge_slowly
from nclue_build.repair.apply import Applied, apply_decisions

if TYPE_CHECKING:
    import random

CONDITIONS, DOCUMENTS, QUERIES = ("c0", "c1", "c2"), ("d0", "d1", "d2"), {"q0": (0, 1), "q1": (1, 2), "q2": (0, 1, 2)}
PAGES = st.frozensets(st.integers(1, 5), max_size=4).map(lambda pages: tuple(sorted(pages)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[tuple[str, str], tuple[int, ...]], list[Scoped]]:
    """P0, and decisions that do not conflict."""
    p0 = {(condition, document): pages for condition in CONDITIONS for document in DOCUMENTS if (pages := draw(PAGES))}
    decisions: list[Scoped] = []
    for condition in CONDITIONS:
        for document in DOCUMENTS:
            present = draw(st.booleans())
            for _ in range(draw(st.integers(0, 2))):
                pages = draw(PAGES.filter(bool))
                query = draw(st.sampled_from([key for key, own in QUERIES.items() if int(condition[1]) in own]))
                row = Decision(
                    decision_id=f"J{len(decisions)}",
                    query_id=query,
                    doc_id=document,
                    condition_id=condition,
                    present=present,
                    pages=pages if present else (),
                    pages_shown=pages,
                    quotes=tuple(DecisionQuote(page=page, quote="x") for page in pages) if present else (),
                    basis="majority",
                    reason="said",
                    responses=(),
                )
                decisions.append(Scoped(row, draw(st.sampled_from(["inventory", "pair"])), 1))
    return p0, decisions


def inventory(p0: dict[tuple[str, str], tuple[int, ...]]) -> Inventory:
    rows = [
        EvidenceRow(
            condition_id=condition,
            doc_id=document,
            pages=pages,
            mentions=tuple(page + 1 for page in pages),
            in_heading=tuple(page % 2 == 0 for page in pages),
        )
        for (condition, document), pages in p0.items()
    ]
    return Inventory.from_rows(rows, CONDITIONS, DOCUMENTS)


def same(one: Applied, other: Applied) -> bool:
    arrays = ("condition_of", "document_of", "starts", "pages", "mentions", "in_heading")
    return one.overrides == other.overrides and all(
        np.array_equal(getattr(one.inventory, name), getattr(other.inventory, name)) for name in arrays
    )


@given(cases(), st.randoms(use_true_random=False))
def test_decisions_may_come_in_any_order(
    case: tuple[dict[tuple[str, str], tuple[int, ...]], list[Scoped]], shuffle: random.Random
) -> None:
    p0, decisions = case
    mixed = list(decisions)
    shuffle.shuffle(mixed)
    assert same(apply_decisions(inventory(p0), decisions), apply_decisions(inventory(p0), mixed))


@given(cases())
def test_repeated_decisions_change_nothing_more(
    case: tuple[dict[tuple[str, str], tuple[int, ...]], list[Scoped]],
) -> None:
    p0, decisions = case
    again = [Scoped(one.decision.model_copy(update={"decision_id": f"K{index}"}), one.scope, 2)
             for index, one in enumerate(decisions)]  # fmt: skip
    once, twice = (apply_decisions(inventory(p0), rows) for rows in (decisions, [*decisions, *again]))
    assert all(
        np.array_equal(getattr(once.inventory, name), getattr(twice.inventory, name))
        for name in ("condition_of", "document_of", "starts", "pages", "mentions", "in_heading")
    )
    assert [(row.query_id, row.condition_id, row.doc_id, row.pages) for row in once.overrides] == [
        (row.query_id, row.condition_id, row.doc_id, row.pages) for row in twice.overrides
    ]


@given(cases())
def test_the_gate_applies_decisions_alike_and_judges_alike(
    case: tuple[dict[tuple[str, str], tuple[int, ...]], list[Scoped]],
) -> None:
    p0, decisions = case
    applied = apply_decisions(inventory(p0), decisions)
    position = {key: index for index, key in enumerate(CONDITIONS)}
    derived = DerivedInventory()
    for row in inventory(p0).rows():
        assert row.pages is not None
        found = DerivedRow(row.pages, row.mentions, row.in_heading)
        derived.rows.setdefault(position[row.condition_id], {})[row.doc_id] = found
    shared = _with_decisions(derived, [one.decision for one in decisions if one.scope == "inventory"], position)
    stored = {
        (position[row.condition_id], row.doc_id): (row.pages, row.mentions, row.in_heading)
        for row in applied.inventory.rows()
    }
    assert stored == {
        (index, doc_id): tuple(row) for index, documents in shared.rows.items() for doc_id, row in documents.items()
    }
    own = _own_views(shared, [one.decision for one in decisions if one.scope == "pair"], position)
    evidence = {key: {doc: row.pages for doc, row in shared.rows.get(index, {}).items()}
                for key, index in position.items()}  # fmt: skip
    view = View(evidence, own)
    for query_id, conditions in QUERIES.items():
        seen = applied.of_query(query_id)
        if not any(len(seen.postings(condition)) for condition in conditions):
            continue
        fast = {row.qrel.doc_id: row.qrel for row in judge_query(seen, query_id, conditions, {})}
        slow = judge_slowly([CONDITIONS[index] for index in conditions], view.of(query_id), "page")
        assert list(fast) == list(slow)
        for doc_id, qrel in fast.items():
            assert (qrel.grade, qrel.gold, qrel.gate, qrel.pages) == (
                slow[doc_id].grade, slow[doc_id].gold, slow[doc_id].gate, slow[doc_id].pages,
            )  # fmt: skip


@given(cases())
def test_judgments_are_those_of_an_inventory_made_from_scratch(
    case: tuple[dict[tuple[str, str], tuple[int, ...]], list[Scoped]],
) -> None:
    """Under scope inventory there is nothing but P(d, c): writing the rows down and reading them gives the same."""
    p0, decisions = case
    only = [one for one in decisions if one.scope == "inventory"]
    applied = apply_decisions(inventory(p0), only)
    expected = dict(p0)
    for one in only:
        row, key = one.decision, (one.decision.condition_id, one.decision.doc_id)
        before = p0.get(key, ())
        group = [other.decision for other in only if (other.decision.condition_id, other.decision.doc_id) == key]
        if row.present:
            expected[key] = tuple(sorted({*before, *(page for other in group for page in other.pages)}))
        elif not set(before) - {page for other in group for page in other.pages_shown}:
            expected.pop(key, None)
    scratch = Inventory.from_rows(
        [
            EvidenceRow(condition_id=key[0], doc_id=key[1], pages=pages, mentions=(1,) * len(pages),
                        in_heading=(False,) * len(pages))
            for key, pages in sorted(expected.items(), reverse=True)
        ],
        CONDITIONS,
        DOCUMENTS,
    )  # fmt: skip
    for query_id, conditions in QUERIES.items():
        if any(len(scratch.postings(condition)) for condition in conditions):
            assert judge_query(applied.of_query(query_id), query_id, conditions, {}) == judge_query(
                scratch, query_id, conditions, {}
            )


def test_judging_a_query_whose_conditions_are_all_gone_gives_nothing() -> None:
    empty = Inventory.from_rows([], CONDITIONS, DOCUMENTS)
    assert judge_query(empty, "q0", (0, 1), {}) == []
