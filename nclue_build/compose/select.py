"""Select queries: caps, quotas, and a greedy choice with diminishing returns.

The study's own selection reuses golds heavily (n-Clue supplement, section 2: 287 distinct golds and 453 families in
1,000 queries). Here a gold document, a set of golds (family) or a condition is worth less every time it is used
again, so a new one wins over a used one of the same quality. All scores are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_UNIT: Final = 5040
"""Worth of something never used; divisible by 1 to 10, so diminished worths of small counts are exact."""
_GOLD_WEIGHT: Final = 4
_FAMILY_WEIGHT: Final = 2
_CONDITION_WEIGHT: Final = 2
_QUALITY_WEIGHT: Final = 1
_SOURCE_WEIGHT: Final = 1
_CAPPED_PENALTY: Final = _UNIT
SMALL_CORPUS_PERCENT: Final = 15
"""Of the selected queries: what one document may be gold for in a small corpus."""


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A verified candidate.

    Args:
        query_id: Of the query it would be.
        conditions: Indices, ascending.
        golds: Document indices, ascending.
        source: Index of the single source of its golds, -1 for several.
        n_capped: Documents with every condition that fail the page gate.
        quality: 0 to 100.
        step: Index of the relaxation step that admitted it; 0 is strict.
    """

    query_id: str
    conditions: tuple[int, ...]
    golds: tuple[int, ...]
    source: int
    n_capped: int
    quality: int
    step: int


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """Caps and quotas.

    Args:
        n_queries: How many to select.
        goal: Relaxed candidates are only used below this number.
        max_per_condition: Queries that may use a condition.
        max_per_gold: Queries a document may be gold for.
        relative_gold_cap: Whether ``max_per_gold`` gives way to 15% of the selected queries where that is more.
        share_n3_permille: Declared share of queries with three conditions.
        source_permille: Declared share per source index; sums to at most 1000.
        seed: Breaks ties.
    """

    n_queries: int
    goal: int
    max_per_condition: int
    max_per_gold: int
    relative_gold_cap: bool
    share_n3_permille: int
    source_permille: tuple[int, ...]
    seed: int

    def gold_cap(self, n_selected: int) -> int:
        """Queries a document may be gold for when ``n_selected`` get selected."""
        if self.relative_gold_cap:
            return max(self.max_per_gold, n_selected * SMALL_CORPUS_PERCENT // 100)
        return self.max_per_gold


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen entries and what held the others back.

    Args:
        chosen: Indices into the pool, in order of choice.
        gold_cap: The cap that applied.
        blocked: Of the strict entries left over: constraint to number of entries it blocks (one may count twice).
        left_over: Index of every entry left over to the cap that blocks it; ``n_queries`` when none does.
    """

    chosen: tuple[int, ...]
    gold_cap: int
    blocked: dict[str, int]
    left_over: dict[int, str]


class _Greedy:
    """State of one greedy pass over the pool (which is sorted by query id)."""

    def __init__(self, pool: Sequence[PoolEntry], rules: SelectionRules, size: int) -> None:
        self.rules, self.size = rules, size
        self.gold_cap = rules.gold_cap(size)
        self.conditions = _padded([entry.conditions for entry in pool])
        self.golds = _padded([entry.golds for entry in pool])
        families = {golds: index for index, golds in enumerate(sorted({entry.golds for entry in pool}))}
        self.family = np.array([families[entry.golds] for entry in pool], dtype=np.int64)
        self.n = np.array([len(entry.conditions) for entry in pool], dtype=np.int64)
        self.source = np.array([entry.source for entry in pool], dtype=np.int64)
        self.step = np.array([entry.step for entry in pool], dtype=np.int64)
        n_capped = np.array([min(entry.n_capped, 3) for entry in pool], dtype=np.int64)
        quality = np.array([entry.quality for entry in pool], dtype=np.int64)
        self.fixed = _QUALITY_WEIGHT * _UNIT * quality // 100 - _CAPPED_PENALTY * n_capped
        self.tie = np.random.Generator(np.random.PCG64(rules.seed)).permutation(len(pool))
        self.condition_use = np.zeros(int(self.conditions.max(initial=0)) + 2, dtype=np.int64)
        self.gold_use = np.zeros(int(self.golds.max(initial=0)) + 2, dtype=np.int64)
        self.family_use = np.zeros(len(families) + 1, dtype=np.int64)
        self.n_use = {2: 0, 3: 0}
        self.source_use = np.zeros(len(rules.source_permille) + 1, dtype=np.int64)
        self.taken = np.zeros(len(pool), dtype=np.bool_)
        self.chosen: list[int] = []

    def within_caps(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which entries the condition cap and the gold cap still allow."""
        # The padding index is the last element and stays unused.
        condition_room = self.condition_use[self.conditions] < self.rules.max_per_condition
        gold_room = self.gold_use[self.golds] < self.gold_cap
        return np.logical_and.reduce(condition_room, axis=1), np.logical_and.reduce(gold_room, axis=1)

    def gain(self) -> NDArray[np.int64]:
        """Worth of choosing each entry now."""
        gold = _worth(self.gold_use)
        gold[-1] = 0
        condition = _worth(self.condition_use)
        condition[-1] = 0
        n_golds = (self.golds >= 0).sum(axis=1)
        target = np.array([*self.rules.source_permille, 1000]) * self.size
        under = 1000 * self.source_use < target
        gain: NDArray[np.int64] = (
            _GOLD_WEIGHT * gold[self.golds].sum(axis=1) // n_golds
            + _FAMILY_WEIGHT * _worth(self.family_use)[self.family]
            + _CONDITION_WEIGHT * condition[self.conditions].sum(axis=1) // self.n
            + _SOURCE_WEIGHT * _UNIT * under[self.source]
            + self.fixed
        )
        return gain

    def fill(self, allowed: NDArray[np.bool_], limit: int, quota: dict[int, int] | None) -> None:
        """Choose the best entry again and again until nothing fits, or ``limit`` are chosen."""
        while len(self.chosen) < limit:
            condition_ok, gold_ok = self.within_caps()
            fits = allowed & ~self.taken & condition_ok & gold_ok
            if quota is not None:
                for n, most in quota.items():
                    if self.n_use[n] >= most:
                        fits &= self.n != n
            indices = np.flatnonzero(fits)
            if not len(indices):
                return
            gain = self.gain()[indices]
            best = indices[np.lexsort((self.tie[indices], -gain))[0]]
            self._take(int(best))

    def _take(self, index: int) -> None:
        self.taken[index] = True
        self.chosen.append(index)
        conditions, golds = self.conditions[index], self.golds[index]
        self.condition_use[conditions[conditions >= 0]] += 1
        self.gold_use[golds[golds >= 0]] += 1
        self.family_use[self.family[index]] += 1
        self.n_use[int(self.n[index])] += 1
        self.source_use[self.source[index]] += 1

    def left_over(self) -> dict[int, str]:
        """Cap that blocks each entry not chosen."""
        condition_ok, gold_ok = self.within_caps()
        return {
            index: "max_per_condition"
            if not condition_ok[index]
            else "max_per_gold"
            if not gold_ok[index]
            else "n_queries"
            for index in np.flatnonzero(~self.taken).tolist()
        }

    def blocked(self, allowed: NDArray[np.bool_]) -> dict[str, int]:
        condition_ok, gold_ok = self.within_caps()
        left = allowed & ~self.taken
        return {
            "left_over": int(left.sum()),
            "max_per_condition": int((left & ~condition_ok).sum()),
            "max_per_gold": int((left & ~gold_ok).sum()),
        }


def select(pool: Sequence[PoolEntry], rules: SelectionRules) -> Selection:
    """Select at most ``n_queries`` entries.

    The gold cap of a small corpus and the quotas depend on how many queries come out, so the size is lowered to
    what came out until both agree.

    Args:
        pool: Sorted by query id.
        rules: Caps and quotas.
    """
    size = min(rules.n_queries, len(pool))
    while True:
        state = _Greedy(pool, rules, size)
        n3 = (size * rules.share_n3_permille + 500) // 1000
        quota = {2: size - n3, 3: n3}
        for step in range(max((entry.step for entry in pool), default=0) + 1):
            limit = size if step == 0 else min(size, rules.goal)
            allowed = state.step == step
            state.fill(allowed, limit, quota)
            state.fill(allowed, limit, None)
        if len(state.chosen) == size:
            return Selection(tuple(state.chosen), state.gold_cap, state.blocked(state.step == 0), state.left_over())
        size = len(state.chosen)


def _padded(rows: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Ragged rows as a rectangle, -1 where a row is shorter."""
    width = max((len(row) for row in rows), default=1)
    return np.array([row + (-1,) * (width - len(row)) for row in rows], dtype=np.int64).reshape(len(rows), width)


def _worth(use: NDArray[np.int64]) -> NDArray[np.int64]:
    return _UNIT // (1 + use)
