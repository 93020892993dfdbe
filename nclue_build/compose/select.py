"""Select queries: caps, quotas, and a greedy choice with diminishing returns.

The study's own selection reuses golds heavily (n-Clue supplement, section 2: 287 distinct golds and 453 families in
1,000 queries). Here a gold document, a gold family (the queries with the same complete gold set) or a condition is
worth less every time it is used again, so a new one wins over a used one of the same quality. All scores are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nclue_build.compose.requirements import Goal

_UNIT: Final = 5040
"""Worth of something never used; divisible by 1 to 10, so diminished worths of small counts are exact."""
_GOLD_WEIGHT: Final = 4
_FAMILY_WEIGHT: Final = 2
_CONDITION_WEIGHT: Final = 2
_QUALITY_WEIGHT: Final = 3
_SOURCE_WEIGHT: Final = 1
_CAPPED_PENALTY: Final = _UNIT
MIX_STRETCH_PERCENT: Final = 150
"""Of its declared share: what queries of one n may get when there are too few of the other."""
_AGREEMENT_PERCENT: Final = 97
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
        is_loose: Whether that step asks for less than close conditions.
    """

    query_id: str
    conditions: tuple[int, ...]
    golds: tuple[int, ...]
    source: int
    n_capped: int
    quality: int
    step: int
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """Caps and quotas.

    Args:
        n_queries: How many to select.
        goal: Relaxed candidates are only used below these numbers of queries, gold families and golds.
        max_per_condition: Queries that may use a condition.
        max_per_gold: Queries a document may be gold for.
        relative_gold_cap: Whether ``max_per_gold`` gives way to 15% of the selected queries where that is more.
        share_n3_permille: Declared share of queries with three conditions.
        source_permille: Declared share per source index; sums to at most 1000.
        seed: Breaks ties.
    """

    n_queries: int
    goal: Goal
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
        self.is_loose = np.array([entry.is_loose for entry in pool], dtype=np.bool_)
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

    def within_caps(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of these entries the condition cap and the gold cap still allow."""
        # The padding index is the last element and stays unused.
        condition_room = self.condition_use[self.conditions[indices]] < self.rules.max_per_condition
        gold_room = self.gold_use[self.golds[indices]] < self.gold_cap
        return np.logical_and.reduce(condition_room, axis=1), np.logical_and.reduce(gold_room, axis=1)

    def gain(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Worth of choosing each of these entries now."""
        gold = _worth(self.gold_use)
        gold[-1] = 0
        condition = _worth(self.condition_use)
        condition[-1] = 0
        golds = self.golds[indices]
        target = np.array([*self.rules.source_permille, 1000]) * self.size
        under = 1000 * self.source_use < target
        gain: NDArray[np.int64] = (
            _GOLD_WEIGHT * gold[golds].sum(axis=1) // (golds >= 0).sum(axis=1)
            + _FAMILY_WEIGHT * _worth(self.family_use)[self.family[indices]]
            + _CONDITION_WEIGHT * condition[self.conditions[indices]].sum(axis=1) // self.n[indices]
            + _SOURCE_WEIGHT * _UNIT * under[self.source[indices]]
            + self.fixed[indices]
        )
        return gain

    @property
    def n_families(self) -> int:
        """Gold families chosen so far."""
        return int((self.family_use > 0).sum())

    def fill(self, allowed: NDArray[np.bool_], limit: int, quota: dict[int, int], families: int = 0) -> None:
        """Choose the best entry again and again until nothing fits or enough are chosen.

        Args:
            allowed: Entries to choose from.
            limit: Enough queries.
            quota: Most queries per number of conditions.
            families: Where given, only entries of a new gold family, up to so many families.
        """
        live = np.flatnonzero(allowed & ~self.taken)
        while len(self.chosen) < limit and (not families or self.n_families < families):
            # Whatever is blocked stays blocked: counts only grow.
            condition_ok, gold_ok = self.within_caps(live)
            fits = ~self.taken[live] & condition_ok & gold_ok
            if families:
                fits &= self.family_use[self.family[live]] == 0
            for n, most in quota.items():
                if self.n_use[n] >= most:
                    fits &= self.n[live] != n
            live = live[fits]
            if not len(live):
                return
            self._take(self._best(live))

    def _take(self, index: int) -> None:
        self.chosen.append(index)
        self._count(index, 1)

    def _release(self, index: int) -> None:
        self.chosen.remove(index)
        self._count(index, -1)

    def _count(self, index: int, change: int) -> None:
        self.taken[index] = change > 0
        conditions, golds = self.conditions[index], self.golds[index]
        self.condition_use[conditions[conditions >= 0]] += change
        self.gold_use[golds[golds >= 0]] += change
        self.family_use[self.family[index]] += change
        self.n_use[int(self.n[index])] += change
        self.source_use[self.source[index]] += change

    def left_over(self) -> tuple[dict[int, str], dict[str, int]]:
        """Cap that blocks each entry not chosen, and how many strict ones each cap blocks."""
        left = np.flatnonzero(~self.taken)
        condition_ok, gold_ok = self.within_caps(left)
        mix_ok = np.ones(len(left), dtype=np.bool_)
        for n, most in self._quota(self.size, MIX_STRETCH_PERCENT).items():
            mix_ok &= (self.n[left] != n) | (self.n_use[n] < most)
        checks = {"max_per_condition": condition_ok, "max_per_gold": gold_ok, "share_n3": mix_ok}
        names = np.select([~fits for fits in checks.values()], list(checks), default="n_queries")
        strict = self.step[left] == 0
        blocked = {"left_over": int(strict.sum())}
        blocked |= {name: int((strict & ~fits).sum()) for name, fits in checks.items()}
        return dict(zip(left.tolist(), names.tolist(), strict=True)), blocked

    def run(self) -> None:
        """Strict entries up to the goal, relaxed ones as far as the goal asks for them, then strict ones again.

        Relaxed entries come in the middle because strict ones would use up the conditions they need.
        """
        goal = self.rules.goal
        strict = self.step == 0
        strict_families = len(np.unique(self.family[strict]))
        reserved = min(max(0, goal.families - strict_families), len(np.unique(self.family)) - strict_families)
        limit = min(self.size, goal.queries)
        self._fill_mixed(strict, min(limit, self.size - reserved))
        for step in range(1, int(self.step.max(initial=0)) + 1):
            entries, wanted = self.step == step, self._goal_of(step)
            self._fill_mixed(entries, min(limit, wanted.queries))
            self.fill(entries, self.size, self._quota(self.size, MIX_STRETCH_PERCENT), wanted.families)
        self._fill_mixed(strict, self.size)
        self._widen()

    def _goal_of(self, step: int) -> Goal:
        """What entries of a step are used for."""
        return self.rules.goal.loosely() if self.is_loose[self.step == step].any() else self.rules.goal

    @property
    def n_golds(self) -> int:
        """Documents that are gold for a chosen query so far."""
        return int((self.gold_use[:-1] > 0).sum())

    def _widen(self) -> None:
        """Exchange repetitive queries for relaxed ones of new golds or families, while the goal has too few of these.

        Step by step, so that the least relaxed ones come first. What goes is the query chosen last (worth least) whose
        golds and family stay without it.
        """
        for step in range(1, int(self.step.max(initial=0)) + 1):
            goal = self._goal_of(step)
            while (few_golds := self.n_golds < goal.golds) or self.n_families < goal.families:
                spare = self._spare()
                if spare is None:
                    return
                self._release(spare)
                new = self._newcomer(step, int(self.n[spare]), few_golds=few_golds)
                if new is None:
                    self._take(spare)
                    break
                self._take(new)

    def _spare(self) -> int | None:
        """The query chosen last without which no gold and no family is lost."""
        for index in reversed(self.chosen):
            golds = self.golds[index][self.golds[index] >= 0]
            if self.family_use[self.family[index]] > 1 and (self.gold_use[golds] > 1).all():
                return index
        return None

    def _newcomer(self, step: int, n: int, *, few_golds: bool) -> int | None:
        """The best entry of a step with so many conditions that fits and brings a new gold, or else a new family."""
        entries = np.flatnonzero((self.step == step) & ~self.taken & (self.n == n))
        if few_golds:
            entries = entries[((self.gold_use[self.golds[entries]] == 0) & (self.golds[entries] >= 0)).any(axis=1)]
        else:
            entries = entries[self.family_use[self.family[entries]] == 0]
        fits = np.logical_and(*self.within_caps(entries))
        entries = entries[fits]
        return self._best(entries) if len(entries) else None

    def _best(self, indices: NDArray[np.int64]) -> int:
        gain = self.gain(indices)
        best = np.flatnonzero(gain == gain.max())
        return int(indices[best[np.argmin(self.tie[indices[best]])]])

    def _fill_mixed(self, allowed: NDArray[np.bool_], limit: int) -> None:
        """Fill in the declared mix of n, then beyond it as far as that may be stretched."""
        self.fill(allowed, limit, self._quota(limit, 100))
        self.fill(allowed, limit, self._quota(limit, MIX_STRETCH_PERCENT))

    def _quota(self, total: int, percent: int) -> dict[int, int]:
        """Most queries of each n, in percent of the declared mix of ``total`` queries."""
        n3 = (total * self.rules.share_n3_permille + 500) // 1000
        return {2: (total - n3) * percent // 100, 3: n3 * percent // 100}

    def agrees(self) -> bool:
        """Whether the number chosen is about the one that caps and quotas were made for, and keeps its own cap."""
        busiest = int(self.gold_use[:-1].max(initial=0))
        n_chosen = len(self.chosen)
        return 100 * n_chosen >= _AGREEMENT_PERCENT * self.size and busiest <= self.rules.gold_cap(n_chosen)


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
        state.run()
        if state.agrees():
            left_over, blocked = state.left_over()
            return Selection(tuple(state.chosen), state.rules.gold_cap(len(state.chosen)), blocked, left_over)
        size = min(size - 1, len(state.chosen))


def _padded(rows: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Ragged rows as a rectangle, -1 where a row is shorter."""
    width = max((len(row) for row in rows), default=1)
    return np.array([row + (-1,) * (width - len(row)) for row in rows], dtype=np.int64).reshape(len(rows), width)


def _worth(use: NDArray[np.int64]) -> NDArray[np.int64]:
    return _UNIT // (1 + use)
