"""The page gate once more, one pair at a time, by augmenting paths and plain sets."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.records.base import Level
    from nclue_build.records.benchmark import GateOutcome

Pages = tuple[int, ...]


class HallSet(NamedTuple):
    """Condition ids with fewer pages between them than there are of them, and those pages."""

    conditions: tuple[str, ...]
    pages: Pages


class Judgment(NamedTuple):
    """Everything a qrel states, recomputed; ``present`` are the 1-based numbers of the conditions the document has."""

    present: tuple[int, ...]
    pages: tuple[Pages, ...]
    clue_count: int
    gate: GateOutcome
    gold: bool
    grade: int
    witness: Pages | None = None
    shared_pages: Pages | None = None
    violator: HallSet | None = None


Evidence = dict[str, dict[str, Pages]]
"""P(d, c) as ``evidence[condition_id][doc_id]``; no entry where it is empty, no pages in document-level builds."""


def judge_query(
    condition_ids: Sequence[str], evidence: Mapping[str, Mapping[str, Pages]], level: Level
) -> dict[str, Judgment]:
    """Judge every document that has a condition of the query.

    Returns:
        By document id, in ascending order.
    """
    by_condition = [evidence.get(condition_id, {}) for condition_id in condition_ids]
    documents = sorted({doc_id for documents in by_condition for doc_id in documents})
    return {doc_id: _judge(condition_ids, doc_id, by_condition, level) for doc_id in documents}


def _judge(
    condition_ids: Sequence[str], doc_id: str, by_condition: Sequence[Mapping[str, Pages]], level: Level
) -> Judgment:
    n = len(condition_ids)
    pages = tuple(documents.get(doc_id, ()) for documents in by_condition)
    present = tuple(number for number, documents in enumerate(by_condition, start=1) if doc_id in documents)
    if len(present) < n:
        return Judgment(present, pages, len(present), "incomplete", gold=False, grade=len(present))
    if level == "document":
        return Judgment(present, pages, n, "document_level", gold=True, grade=n)
    if shared := tuple(page for page in pages[0] if all(page in others for others in pages[1:])):
        return Judgment(present, pages, n, "single_page", gold=False, grade=n - 1, shared_pages=shared)
    if witness := smallest_assignment(pages):
        return Judgment(present, pages, n, "ok", gold=True, grade=n, witness=witness)
    violator = first_hall_set(condition_ids, pages)
    return Judgment(present, pages, n, "no_assignment", gold=False, grade=n - 1, violator=violator)


def smallest_assignment(pages: Sequence[Pages]) -> Pages | None:
    """The lexicographically smallest distinct page per condition, or None where there is none.

    Page by page from the first condition on, it keeps the smallest page with which the conditions that follow can
    still be served.
    """
    chosen: list[int] = []
    for index, candidates in enumerate(pages):
        for page in candidates:
            taken = {*chosen, page}
            if page not in chosen and _can_serve(
                [[p for p in later if p not in taken] for later in pages[index + 1 :]]
            ):
                chosen.append(page)
                break
        else:
            return None
    return tuple(chosen)


def _can_serve(pages: Sequence[Sequence[int]]) -> bool:
    """Whether all conditions can have a page each: augmenting paths (H. W. Kuhn, 1955)."""
    holder: dict[int, int] = {}

    def serve(condition: int, tried: set[int]) -> bool:
        for page in pages[condition]:
            if page not in tried:
                tried.add(page)
                if page not in holder or serve(holder[page], tried):
                    holder[page] = condition
                    return True
        return False

    return all(serve(condition, set()) for condition in range(len(pages)))


def first_hall_set(condition_ids: Sequence[str], pages: Sequence[Pages]) -> HallSet | None:
    """The smallest, then first, set of conditions with too few pages; None where every set has enough."""
    for size in range(1, len(pages) + 1):
        for members in combinations(range(len(pages)), size):
            union = sorted({page for index in members for page in pages[index]})
            if len(union) < size:
                return HallSet(tuple(condition_ids[index] for index in members), tuple(union))
    return None
