"""How much hangs on few documents, against the definitions read aloud and another library's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest

from nclue_build.stats.influence import (
    Busiest,
    Incidence,
    component_sizes,
    document_macro,
    leave_one_out,
    one_query_per_document,
    remove_busiest,
    thin,
)
from nclue_build.stats.judgments import Judgments

if TYPE_CHECKING:
    from collections.abc import Mapping

N_QUERIES = 40


def made(seed: int) -> tuple[Judgments, dict[bool, list[set[str]]]]:
    """Judgments, and the golds and all judged documents of each query."""
    rng = np.random.default_rng(seed)
    rows, golds, judged = [], [], []
    for q in range(N_QUERIES):
        block = 30 * int(q % 3)  # three parts that share no document
        docs = [f"d{block + doc:03}" for doc in rng.choice(30, size=int(rng.integers(1, 7)), replace=False)]
        n_golds = int(rng.integers(1, len(docs) + 1))
        rows += [(f"q{q:02}", doc, 2 if place < n_golds else 1, place < n_golds) for place, doc in enumerate(docs)]
        golds.append(set(docs[:n_golds]))
        judged.append(set(docs))
    return Judgments.of({f"q{q:02}": 2 for q in range(N_QUERIES)}, rows), {True: golds, False: judged}


@pytest.mark.parametrize("gold_only", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_influence_follows_its_definitions(seed: int, gold_only: bool) -> None:  # noqa: FBT001 - a parameter
    judgments, by_kind = made(seed)
    of_query = by_kind[gold_only]
    deltas = np.random.default_rng(seed).integers(-1, 2, size=(N_QUERIES, 3)) * 100.0
    incidence = Incidence.of(judgments, gold_only=gold_only)

    graph = nx.Graph((("query", q), doc) for q, docs in enumerate(of_query) for doc in docs)
    sizes = [sum(isinstance(node, tuple) for node in part) for part in nx.connected_components(graph)]
    assert component_sizes(incidence) == sorted(sizes, reverse=True)

    degree: Mapping[str, int] = {doc: sum(doc in docs for docs in of_query) for doc in sorted(set().union(*of_query))}
    without = [deltas[[doc not in docs for docs in of_query]].mean(axis=0) for doc in degree]
    found = leave_one_out(deltas, incidence)
    assert found.low == pytest.approx(np.min(without, axis=0))
    assert found.high == pytest.approx(np.max(without, axis=0))
    assert found.n_empty == 0

    removed = sorted(degree, key=lambda doc: (-degree[doc], doc))[:20]
    busiest = Busiest.of(incidence, judgments.doc_ids, 20)
    left = [not docs & set(removed) for docs in of_query]
    assert [judgments.doc_ids[doc] for doc in busiest.docs] == removed
    assert busiest.left.tolist() == left
    if any(left):
        assert remove_busiest(deltas, busiest) == pytest.approx(deltas[left].mean(axis=0))

    macro = [deltas[[doc in docs for docs in of_query]].mean(axis=0) for doc in degree]
    assert document_macro(deltas, incidence) == pytest.approx(np.mean(macro, axis=0))


def test_thinning_draws_one_query_of_each_document_and_centres_on_the_macro() -> None:
    judgments, by_kind = made(9)
    golds = Incidence.of(judgments, gold_only=True)
    draws = thin(golds, seed=3, n_draws=4000)
    n_docs = len(set().union(*by_kind[True]))
    assert (draws.sum(axis=1) == n_docs).all()
    assert all((draws[:, q] <= len(docs)).all() for q, docs in enumerate(by_kind[True]))
    deltas = np.random.default_rng(1).integers(-1, 2, size=(N_QUERIES, 2)) * 100.0
    means = draws @ deltas / n_docs
    assert means.mean(axis=0) == pytest.approx(document_macro(deltas, golds), abs=0.5)
    for place, interval in enumerate(one_query_per_document(deltas, golds, draws)):
        assert interval.value == pytest.approx(document_macro(deltas, golds)[place])
        assert (interval.low, interval.high) == pytest.approx(np.percentile(means[:, place], [2.5, 97.5]))


def test_a_document_on_which_every_query_hangs_is_skipped_and_counted() -> None:
    judgments = Judgments.of({"q1": 2, "q2": 2}, [("q1", "a", 2, True), ("q2", "a", 2, True), ("q2", "b", 2, True)])
    incidence = Incidence.of(judgments, gold_only=True)
    deltas = np.array([[100.0], [0.0]])
    found = leave_one_out(deltas, incidence)
    assert (found.low.tolist(), found.high.tolist(), found.n_empty) == ([100.0], [100.0], 1)
    assert np.isnan(remove_busiest(deltas, Busiest.of(incidence, judgments.doc_ids, 20))).all()
    alone = Incidence.of(judgments.only(np.array([True, False])), gold_only=True)
    assert np.isnan(leave_one_out(deltas[:1], alone).low).all()
