"""Emit: every nonzero pair of every query, complete with pages, witness, violator and quotes.

LAW: the number of rows is the sum over the queries of the number of documents that have at least one of their
conditions; nothing zero is written, nothing nonzero is missing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nclue_build.core.ids import page_id
from nclue_build.gate.explain import judge_pages, judge_presence
from nclue_build.records.benchmark import Qrel, Violator
from nclue_build.store.layout import TREC, TREC_CONDITIONS, TREC_GOLD, TREC_PAGES
from nclue_build.store.trec import TrecQrel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.benchmark import Quote


class Judgment(NamedTuple):
    """A nonzero judgment, and which conditions of its query the document has."""

    qrel: Qrel
    present: tuple[bool, ...]


def judged_documents(inventory: Inventory, conditions: Sequence[int]) -> list[int]:
    """Documents with at least one of the conditions, ascending."""
    found: list[int] = np.unique(np.concatenate([inventory.postings(condition) for condition in conditions])).tolist()
    return found


def judge_query(
    inventory: Inventory, query_id: str, conditions: Sequence[int], evidence: Mapping[int, tuple[Quote, ...]]
) -> list[Judgment]:
    """Every nonzero judgment of one query, by document id.

    Args:
        inventory: All P(d, c).
        query_id: Id of the query.
        conditions: Condition indices, ascending.
        evidence: Quotes by document index, where documents were judged.
    """
    documents = judged_documents(inventory, conditions)
    rows = inventory.find(np.array(conditions), np.array(documents)[:, None]).tolist()
    judgments: list[Judgment] = []
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
        judgments.append(Judgment(qrel, present))
    return judgments


def trec_rows(judgments: Iterable[Judgment]) -> dict[str, list[TrecQrel]]:
    """The rows of one query in each TREC file.

    ``qrels.conditions.trec`` has the 1-based number of a condition as its subtopic, and relevance 1; in
    ``qrels.pages.trec`` a page's grade is the number of the query's conditions it establishes.

    Returns:
        File name to rows.
    """
    rows: dict[str, list[TrecQrel]] = {TREC: [], TREC_GOLD: [], TREC_CONDITIONS: [], TREC_PAGES: []}
    for qrel, present in judgments:
        query_id, doc_id = qrel.query_id, qrel.doc_id
        rows[TREC].append(TrecQrel(query_id, "0", doc_id, qrel.grade))
        if qrel.gold:
            rows[TREC_GOLD].append(TrecQrel(query_id, "0", doc_id, 1))
        rows[TREC_CONDITIONS] += [
            TrecQrel(query_id, str(number), doc_id, 1) for number, is_present in enumerate(present, 1) if is_present
        ]
        counts = Counter(page for pages in qrel.pages for page in pages)
        rows[TREC_PAGES] += [TrecQrel(query_id, "0", page_id(doc_id, page), counts[page]) for page in sorted(counts)]
    return rows
