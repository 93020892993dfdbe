"""Candidates: conjunctions that fulfil the requirements, with their golds, before any page text is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import offsets, ranges
from nclue_build.core.ids import query_id
from nclue_build.gate.check import check_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nclue_build.compose.requirements import Requirements
    from nclue_build.gate.check import PageBitsets
    from nclue_build.inventory.table import Inventory

_BLOCK_PAIRS: Final = 1 << 19
"""Candidate-document pairs gated together."""
PAGES_PER_MENTION: Final = 40
"""Pages of a document for each of which a condition must be mentioned once to be a topic of it: three mentions make one
of up to 120 pages, no more."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Conjunctions of one arity; parallel arrays, one element a conjunction.

    Args:
        conditions: int32, candidates x n, ascending condition indices (which is the order of their ids).
        gold_starts: int64, candidates + 1.
        gold_documents: int32, document indices; golds of ``i`` are ``[gold_starts[i]:gold_starts[i + 1]]``, ascending.
        n_capped: int32, documents with every condition that fail the page gate.
        n_judged: int32, documents with at least one condition.
        n_weak: int32, most passing-mention conditions in any of its golds.
        closeness: int32, of its least close pair of conditions.
    """

    conditions: NDArray[np.int32]
    gold_starts: NDArray[np.int64]
    gold_documents: NDArray[np.int32]
    n_capped: NDArray[np.int32]
    n_judged: NDArray[np.int32]
    n_weak: NDArray[np.int32]
    closeness: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.conditions)

    @property
    def n(self) -> int:
        """Conditions per candidate."""
        return int(self.conditions.shape[1])

    def golds(self, index: int) -> tuple[int, ...]:
        """Document indices of a candidate's golds, ascending."""
        return tuple(self.gold_documents[self.gold_starts[index] : self.gold_starts[index + 1]].tolist())

    def query_id(self, index: int, condition_ids: Sequence[str]) -> str:
        """Id of the query this candidate would be."""
        return query_id(condition_ids[condition] for condition in self.conditions[index])

    def take(self, indices: NDArray[np.integer]) -> Candidates:
        """The candidates at ``indices``, in that order."""
        n_golds = np.diff(self.gold_starts)[indices]
        return Candidates(
            conditions=self.conditions[indices],
            gold_starts=offsets(n_golds),
            gold_documents=self.gold_documents[ranges(self.gold_starts[:-1][indices], n_golds)],
            n_capped=self.n_capped[indices],
            n_judged=self.n_judged[indices],
            n_weak=self.n_weak[indices],
            closeness=self.closeness[indices],
        )


@dataclass(frozen=True, eq=False, slots=True)
class Conjunctions:
    """Conjunctions of one arity to be gated; parallel arrays.

    Args:
        conditions: int32, conjunctions x n, each ascending.
        partial_union: int64, documents with at least one condition, by inclusion and exclusion of all terms but the
            last (documents with every condition).
        closeness: int32, of the least close pair of conditions.
    """

    conditions: NDArray[np.int32]
    partial_union: NDArray[np.int64]
    closeness: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Corpus:
    """What composing needs of the documents; arrays parallel to ``inventory.document_ids``.

    Args:
        inventory: All P(d, c).
        bitsets: ``row_bitsets(inventory)``.
        n_pages: int32.
        gold_eligible: bool, whether the document may be a gold.
        source: int32, index into ``sources``.
        sources: Sorted names.
    """

    inventory: Inventory
    bitsets: PageBitsets
    n_pages: NDArray[np.int32]
    gold_eligible: NDArray[np.bool_]
    source: NDArray[np.int32]
    sources: tuple[str, ...]

    @cached_property
    def mentions(self) -> NDArray[np.int64]:
        """Mentions per inventory row; one each in document-level inventories, which know of none."""
        if self.inventory.level == "document":
            return np.ones(self.inventory.n_rows, dtype=np.int64)
        return np.diff(offsets(self.inventory.mentions)[self.inventory.starts])

    @cached_property
    def topical(self) -> NDArray[np.bool_]:
        """Per inventory row whether the document may be a gold for the condition: it is strong there, and a topic.

        In a manual of 260 pages most everyday words are said three times; what it is about stands in a heading, or is
        said the more often the longer it is.
        """
        inventory = self.inventory
        if inventory.level == "document":
            return inventory.strong
        headings = np.diff(offsets(inventory.in_heading)[inventory.starts]) > 0
        often = PAGES_PER_MENTION * self.mentions >= self.n_pages[inventory.document_of]
        topical: NDArray[np.bool_] = inventory.strong & (headings | often)
        return topical


def full_rows(
    inventory: Inventory, conditions: NDArray[np.int32]
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Find the documents that have every condition of a conjunction, by the shortest posting list.

    Args:
        inventory: All P(d, c).
        conditions: int32, conjunctions x n.

    Yields:
        A slice of the conjunctions, for each hit the conjunction's index within that slice, and its inventory rows
        (hits x n); sorted by conjunction, then document.
    """
    frequency = inventory.document_frequency
    rarest = conditions[np.arange(len(conditions)), np.argmin(frequency[conditions], axis=1)]
    ends = np.cumsum(frequency[rarest])
    start = 0
    while start < len(conditions):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _BLOCK_PAIRS, side="right")))
        part = slice(start, stop)
        lengths = frequency[rarest[part]]
        owner = np.repeat(np.arange(stop - start), lengths)
        documents = inventory.document_of[ranges(inventory.first_rows[rarest[part]], lengths)]
        rows = inventory.find(conditions[part][owner], documents[:, None])
        full = (rows >= 0).all(axis=1)
        yield part, owner[full], rows[full]
        start = stop


def find_candidates(
    corpus: Corpus,
    conjunctions: Conjunctions,
    requirements: Requirements,
    drops: dict[str, int],
) -> Candidates:
    """Gate every document that has all conditions, and keep the conjunctions that fulfil the requirements.

    A document outside ``gold_eligible`` that passes the gate would be a gold by definition: its conjunction goes.

    Args:
        corpus: Documents and P(d, c).
        conjunctions: Of one arity.
        requirements: What to fulfil.
        drops: Counts by reason, added to.
    """
    inventory, topical = corpus.inventory, corpus.topical
    conditions, partial_union = conjunctions.conditions, conjunctions.partial_union
    parts: list[Candidates] = []
    for part, owner, rows in full_rows(inventory, conditions):
        size = part.stop - part.start
        gold = check_pairs(inventory, rows, corpus.bitsets).gold
        document = inventory.document_of[rows[:, 0]] if len(rows) else np.empty(0, np.int32)
        n_golds = np.bincount(owner[gold], minlength=size)
        n_capped = np.bincount(owner[~gold], minlength=size)
        sign = -1 if conditions.shape[1] % 2 == 0 else 1
        n_judged = partial_union[part] + sign * (n_golds + n_capped)
        n_weak = np.zeros(size, dtype=np.int64)
        np.maximum.at(n_weak, owner[gold], (~topical[rows[gold]]).sum(axis=1))
        ineligible = np.bincount(owner[gold & ~corpus.gold_eligible[document]], minlength=size)
        reasons = (
            ("no_gold", n_golds == 0),
            ("too_many_golds", n_golds > requirements.max_golds),
            ("ineligible_gold", ineligible > 0),
            ("weak_gold", n_weak > requirements.max_weak),
            ("capped_documents", n_capped > requirements.max_capped),
            ("few_subsets", n_judged - n_golds < requirements.min_subsets),
        )
        alive = np.ones(size, dtype=np.bool_)
        for reason, bad in reasons:
            drops[reason] = drops.get(reason, 0) + int((alive & bad).sum())
            alive &= ~bad
        kept = np.flatnonzero(alive)
        hits = gold & alive[owner]
        parts.append(
            Candidates(
                conditions=conditions[part][kept],
                gold_starts=offsets(n_golds[kept]),
                gold_documents=document[hits].astype(np.int32),
                n_capped=n_capped[kept].astype(np.int32),
                n_judged=n_judged[kept].astype(np.int32),
                n_weak=n_weak[kept].astype(np.int32),
                closeness=conjunctions.closeness[part][kept],
            )
        )
    return concatenate(parts, conditions.shape[1])


def concatenate(parts: Sequence[Candidates], n: int) -> Candidates:
    """Candidates of several tables of one arity, in order."""
    sizes = [np.diff(part.gold_starts) for part in parts]
    return Candidates(
        conditions=np.concatenate([np.empty((0, n), np.int32), *(part.conditions for part in parts)]),
        gold_starts=offsets(np.concatenate([np.empty(0, np.int64), *sizes])),
        gold_documents=np.concatenate([np.empty(0, np.int32), *(part.gold_documents for part in parts)]),
        n_capped=np.concatenate([np.empty(0, np.int32), *(part.n_capped for part in parts)]),
        n_judged=np.concatenate([np.empty(0, np.int32), *(part.n_judged for part in parts)]),
        n_weak=np.concatenate([np.empty(0, np.int32), *(part.n_weak for part in parts)]),
        closeness=np.concatenate([np.empty(0, np.int32), *(part.closeness for part in parts)]),
    )
