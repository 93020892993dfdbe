"""Why the gate said what it said of one pair: witness, shared pages, violator.

Page sets are sequences of ascending 1-based pages, one per condition in the order of the query
(by condition id). Every choice is canonical, so that two independent programs agree to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from nclue_build.gate.outcome import Outcome, capped_grade

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

PageSets: TypeAlias = "Sequence[Sequence[int]]"


@dataclass(frozen=True, slots=True)
class HallViolator:
    """Conditions that have fewer pages between them than there are of them.

    Args:
        conditions: Indices into the page sets, ascending.
        pages: The union of their page sets, ascending.
    """

    conditions: tuple[int, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything ``qrels.jsonl`` says of a pair beyond its ids, pages and quotes.

    ``witness`` stands with golds of page-level builds only, ``shared_pages`` with ``SINGLE_PAGE`` only,
    ``violator`` with ``NO_ASSIGNMENT`` only.
    """

    clue_count: int
    outcome: Outcome
    grade: int
    witness: tuple[int, ...] | None = None
    shared_pages: tuple[int, ...] | None = None
    violator: HallViolator | None = None

    @property
    def gold(self) -> bool:
        """Whether the pair is a gold."""
        return self.outcome.gold


def shared_pages(page_sets: PageSets) -> tuple[int, ...]:
    """Pages that are in every set, ascending."""
    first, *others = page_sets
    return tuple(sorted(set(first).intersection(*others)))


def witness(page_sets: PageSets) -> tuple[int, ...] | None:
    """The lexicographically smallest assignment of a distinct page to every condition.

    Only the first n pages of a set matter: a smallest assignment never uses a later one, for at most
    n - 1 of the first n are taken by other conditions, and a free one would be smaller. Taking the
    smallest free page, condition by condition, mostly succeeds, and is then the smallest assignment by
    construction. Where it gets stuck, a maximum bipartite matching tells which pages leave the rest solvable
    (J. E. Hopcroft and R. M. Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", 1973).

    Returns:
        A page per condition, or None when there is no such assignment.
    """
    n = len(page_sets)
    sets = [tuple(pages)[:n] for pages in page_sets]
    chosen: list[int] = []
    for pages in sets:
        page = next((page for page in pages if page not in chosen), None)
        if page is None:
            break
        chosen.append(page)
    else:
        return tuple(chosen)
    if not _saturates(sets, ()):
        return None
    chosen = []
    for index, pages in enumerate(sets):
        chosen.append(
            next(page for page in pages if page not in chosen and _saturates(sets[index + 1 :], (*chosen, page)))
        )
    return tuple(chosen)


def _saturates(page_sets: PageSets, taken: Collection[int]) -> bool:
    """Whether every condition can get a page of its own among those not taken."""
    import networkx as nx  # noqa: PLC0415 - heavy, and rarely needed
    from networkx.algorithms.bipartite import hopcroft_karp_matching  # noqa: PLC0415

    conditions = range(-len(page_sets), 0)  # negative numbers never clash with pages
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(conditions)
    graph.add_edges_from(
        (condition, page)
        for condition, pages in zip(conditions, page_sets, strict=True)
        for page in pages
        if page not in taken
    )
    matching = hopcroft_karp_matching(graph, top_nodes=conditions)
    return all(condition in matching for condition in conditions)


def violator(page_sets: PageSets) -> HallViolator | None:
    """The smallest, then first, set of conditions that proves there is no distinct-page assignment.

    Returns:
        Among the sets of k conditions with fewer than k pages between them one of smallest k, then the first
        in order of condition indices; None when there is none, which is when :func:`witness` finds one.
    """
    indices = range(len(page_sets))
    for size in range(1, len(page_sets) + 1):
        for subset in combinations(indices, size):
            union = {page for index in subset for page in page_sets[index]}
            if len(union) < size:
                return HallViolator(subset, tuple(sorted(union)))
    return None


def judge_pages(page_sets: PageSets) -> Verdict:
    """The complete verdict on one pair of a page-level build.

    Args:
        page_sets: P(d, c) of every condition of the query, empty where the document lacks it.
    """
    n = len(page_sets)
    clue_count = sum(1 for pages in page_sets if pages)
    if clue_count < n:
        return Verdict(clue_count, Outcome.INCOMPLETE, clue_count)
    if shared := shared_pages(page_sets):
        grade = capped_grade(n, Outcome.SINGLE_PAGE)
        return Verdict(n, Outcome.SINGLE_PAGE, grade, shared_pages=shared)
    if assignment := witness(page_sets):
        return Verdict(n, Outcome.OK, capped_grade(n, Outcome.OK), witness=assignment)
    grade = capped_grade(n, Outcome.NO_ASSIGNMENT)
    return Verdict(n, Outcome.NO_ASSIGNMENT, grade, violator=violator(page_sets))


def judge_presence(present: Sequence[bool]) -> Verdict:
    """The complete verdict on one pair of a document-level build, where conditions carry no pages.

    Args:
        present: Whether the document has each condition of the query.
    """
    clue_count = sum(present)
    outcome = Outcome.DOCUMENT_LEVEL if clue_count == len(present) else Outcome.INCOMPLETE
    return Verdict(clue_count, outcome, capped_grade(clue_count, outcome))
