"""Page-aware runs: does what a system shows of a retrieved gold support every condition?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_N_PAGES: Final = 3
"""Pages of a document that count (paper, section 5)."""

Surfaced = tuple[str, tuple[tuple[int, float], ...]]
"""A retrieved document: its id, and (page, score) of every page the run shows of it, in its order."""
Conditions = tuple[frozenset[int], ...]
"""The pages that establish each condition of a query in one document."""


@dataclass(frozen=True, slots=True)
class Support:
    """What is shown of the golds that one query retrieves.

    Args:
        success: Some retrieved gold's shown pages meet every condition (Gold+Support@k).
        n_golds: Golds retrieved.
        best_share: Share of conditions met by the best-covered of them; None without one [R].
        mean_share: Mean over retrieved golds; None without one [R].
        n_complete: Retrieved golds that are met in all conditions.
    """

    success: bool
    n_golds: int
    best_share: float | None
    mean_share: float | None
    n_complete: int


def shown_pages(pages: Sequence[tuple[int, float]]) -> frozenset[int]:
    """The three best distinct pages: T(d); equal scores in the order of the run, fewer where there are fewer."""
    chosen: dict[int, None] = {}
    for page, _ in sorted(pages, key=lambda pair: -pair[1]):
        if len(chosen) == _N_PAGES:
            break
        chosen.setdefault(page)
    return frozenset(chosen)


def gold_support(ranking: Sequence[Surfaced], golds: Mapping[str, Conditions], k: int = 10) -> Support:
    """Judge the pages that a run shows of the golds it retrieves for one query.

    One page may serve several conditions here: the study asks for no injective assignment.

    Args:
        ranking: Documents, best first.
        golds: Pages of each condition, by gold document.
        k: Cut-off.
    """
    shares = []
    for doc_id, pages in ranking[:k]:
        conditions = golds.get(doc_id)
        if conditions is not None:
            shown = shown_pages(pages)
            shares.append(sum(1 for condition in conditions if condition & shown) / len(conditions))
    if not shares:
        return Support(success=False, n_golds=0, best_share=None, mean_share=None, n_complete=0)
    n_complete = sum(1 for one in shares if one == 1)
    return Support(n_complete > 0, len(shares), max(shares), sum(shares) / len(shares), n_complete)
