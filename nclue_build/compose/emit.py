"""Emit: every nonzero pair of every query, complete with pages, witness, violator and quotes.

LAW: the number of rows is the sum over the queries of the number of documents that have at least one of their
conditions; nothing zero is written, nothing nonzero is missing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.ids import page_id
from nclue_build.gate.explain import judge_pages, judge_presence
from nclue_build.records.benchmark import Qrel, Violator
from nclue_build.store.trec import TrecQrel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.benchmark import Quote


def judged_documents(inventory: Inventory, conditions: Sequence[int]) -> list[int]:
    """Documents with at least one of the conditions, ascending."""
    bounds = np.searchsorted(inventory.condition_of, [[c, c + 1] for c in conditions])
    return sorted({int(document) for first, last in bounds for document in inventory.document_of[first:last]})


def emit_query(
    inventory: Inventory, query_id: str, conditions: Sequence[int], evidence: Mapping[int, tuple[Quote, ...]]
) -> Iterator[tuple[Qrel, tuple[bool, ...]]]:
    """Yield every nonzero judgment of one query, by document id, and which of its conditions are there.

    Args:
        inventory: All P(d, c).
        query_id: Id of the query.
        conditions: Condition indices, ascending.
        evidence: Quotes by document index, where documents were judged.
    """
    documents = judged_documents(inventory, conditions)
    rows = inventory.find(np.array(conditions), np.array(documents)[:, None]).tolist()
    for document, pair_rows in zip(documents, rows, strict=True):
        page_sets = tuple(inventory.pages_of(row) for row in pair_rows)
        present = tuple(row >= 0 for row in pair_rows)
        verdict = judge_presence(present) if inventory.level == "document" else judge_pages(page_sets)
        violator = verdict.violator
        qrel = Qrel(
            query_id=query_id,
            doc_id=inventory.document_ids[document],
            grade=verdict.grade,
            clue_count=verdict.clue_count,
            gold=verdict.gold,
            gate=verdict.outcome.label,
            pages=page_sets,
            witness=verdict.witness,
            shared_pages=verdict.shared_pages,
            violator=None
            if violator is None
            else Violator(
                conditions=tuple(inventory.condition_ids[conditions[index]] for index in violator.conditions),
                pages=violator.pages,
            ),
            evidence=evidence.get(document, ()),
        )
        yield qrel, present


def graded_row(qrel: Qrel) -> TrecQrel:
    """The row of ``qrels.trec``."""
    return TrecQrel(qrel.query_id, "0", qrel.doc_id, qrel.grade)


def condition_rows(qrel: Qrel, present: Sequence[bool]) -> Iterator[TrecQrel]:
    """The rows of ``qrels.conditions.trec``: 1-based condition number as the subtopic, relevance 1."""
    for number, is_present in enumerate(present, start=1):
        if is_present:
            yield TrecQrel(qrel.query_id, str(number), qrel.doc_id, 1)


def page_rows(qrel: Qrel) -> Iterator[TrecQrel]:
    """The rows of ``qrels.pages.trec``: grade is the number of the query's conditions a page establishes."""
    counts = Counter(page for pages in qrel.pages for page in pages)
    for page in sorted(counts):
        yield TrecQrel(qrel.query_id, "0", page_id(qrel.doc_id, page), counts[page])
