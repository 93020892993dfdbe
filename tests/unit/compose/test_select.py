from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.compose.report import diversity
from nclue_build.compose.requirements import Goal
from nclue_build.compose.select import MIX_STRETCH_PERCENT, PoolEntry, SelectionRules, select

if TYPE_CHECKING:
    from collections.abc import Sequence

RULES = SelectionRules(
    n_queries=100,
    goal=Goal(queries=50, families=20, golds=0),
    max_per_condition=5,
    max_per_gold=6,
    relative_gold_cap=False,
    share_n3_permille=200,
    source_permille=(500, 500),
    seed=11,
)


def pool(size: int, n_documents: int, n_conditions: int, seed: int = 1, step: int = 0) -> list[PoolEntry]:
    """Candidates whose golds follow a skewed distribution, as long documents make it."""
    random = np.random.Generator(np.random.PCG64(seed))
    weight = 1 / np.arange(1, n_documents + 1)
    entries = {}
    for _ in range(size):
        n = 2 + int(random.random() < 0.3)
        conditions = tuple(sorted(random.choice(n_conditions, size=n, replace=False).tolist()))
        n_golds = min(int(random.geometric(0.6)), 4)
        golds = tuple(sorted(random.choice(n_documents, n_golds, replace=False, p=weight / weight.sum()).tolist()))
        sources = {gold % 2 for gold in golds}
        query_id = "q_" + "_".join(map(str, conditions))
        entries[query_id] = PoolEntry(
            query_id, conditions, golds, sources.pop() if len(sources) == 1 else -1,
            int(random.random() < 0.1), int(random.integers(0, 101)), step,
        )  # fmt: skip
    return sorted(entries.values(), key=lambda entry: entry.query_id)


def chosen(entries: Sequence[PoolEntry], rules: SelectionRules) -> list[PoolEntry]:
    return [entries[index] for index in select(entries, rules).chosen]


def test_caps_and_mix_hold() -> None:
    picked = chosen(pool(2000, 60, 200), RULES)
    assert len(picked) == len({entry.query_id for entry in picked}) == 100
    assert max(Counter(c for entry in picked for c in entry.conditions).values()) <= 5
    assert max(Counter(g for entry in picked for g in entry.golds).values()) <= 6
    assert sum(len(entry.conditions) == 3 for entry in picked) == 20


@pytest.mark.parametrize("n_queries", [40, 120, 400])
@pytest.mark.parametrize("n_documents", [9, 16, 36])
def test_no_document_of_a_small_corpus_is_gold_for_more_than_15_percent(n_queries: int, n_documents: int) -> None:
    rules = replace(RULES, n_queries=n_queries, relative_gold_cap=True)
    entries = pool(3000, n_documents, 400)
    selection = select(entries, rules)
    picked = [entries[index] for index in selection.chosen]
    busiest = max(Counter(gold for entry in picked for gold in entry.golds).values())
    assert len(picked) > 0
    assert busiest <= selection.gold_cap
    assert busiest <= max(6, 15 * len(picked) // 100)


def test_selection_is_more_diverse_than_chance() -> None:
    entries = pool(4000, 400, 900)
    rules = replace(RULES, n_queries=500, goal=Goal(100, 50, 0))
    picked = chosen(entries, rules)
    order = np.random.Generator(np.random.PCG64(3)).permutation(len(entries))[: len(picked)]
    ours, random = diversity(picked), diversity([entries[index] for index in order])
    assert len(picked) == 500
    assert ours.gold_documents > random.gold_documents
    assert ours.families > random.families
    assert ours.conditions >= random.conditions
    assert ours.queries_without_20_busiest_golds > random.queries_without_20_busiest_golds


def test_the_choice_depends_on_pool_and_seed_alone() -> None:
    entries = pool(1500, 60, 200)
    assert select(entries, RULES).chosen == select(list(entries), RULES).chosen
    flat = [replace(entry, quality=50, n_capped=0) for entry in entries]
    assert select(flat, RULES).chosen != select(flat, replace(RULES, seed=12)).chosen


def test_relaxed_entries_are_used_below_the_goal_only() -> None:
    strict, relaxed = pool(30, 60, 300), pool(800, 60, 300, seed=2, step=1)
    entries = sorted({entry.query_id: entry for entry in (*relaxed, *strict)}.values(), key=lambda e: e.query_id)
    picked = chosen(entries, RULES)
    assert sum(entry.step == 1 for entry in picked) > 0
    assert len(picked) <= RULES.goal.queries
    enough = sorted((*pool(2000, 60, 200), *(replace(entry, query_id=f"r{entry.query_id}") for entry in relaxed)),
                    key=lambda e: e.query_id)  # fmt: skip
    assert all(entry.step == 0 for entry in chosen(enough, RULES))


def test_relaxed_entries_bring_gold_families_that_strict_ones_lack() -> None:
    strict = [replace(entry, golds=(int(entry.conditions[0]) % 8,)) for entry in pool(900, 8, 300)]
    relaxed = [replace(entry, query_id=f"r{entry.query_id}") for entry in pool(300, 40, 300, seed=2, step=1)]
    rules = replace(RULES, relative_gold_cap=True)
    picked = chosen(sorted((*strict, *relaxed), key=lambda entry: entry.query_id), rules)
    assert len({entry.golds for entry in picked}) >= rules.goal.families
    assert sum(entry.step == 1 for entry in picked) <= rules.goal.families


def test_relaxed_entries_take_the_place_of_repetitive_ones_where_golds_are_too_few() -> None:
    strict = [replace(entry, golds=(int(entry.conditions[0]) % 20,)) for entry in pool(2000, 8, 300)]
    relaxed = [
        replace(entry, query_id=f"r{entry.query_id}", golds=tuple(20 + gold for gold in entry.golds))
        for entry in pool(400, 40, 300, seed=2, step=1)
    ]
    entries = sorted((*strict, *relaxed), key=lambda entry: entry.query_id)
    before = chosen(entries, RULES)
    rules = replace(RULES, goal=Goal(queries=50, families=20, golds=35))
    picked = chosen(entries, rules)
    assert {entry.step for entry in before} == {0}
    assert len({gold for entry in before for gold in entry.golds}) == 20
    assert len({gold for entry in picked for gold in entry.golds}) >= 35
    assert sum(entry.step == 1 for entry in picked) <= 15
    assert Counter(len(entry.conditions) for entry in picked) == Counter(len(entry.conditions) for entry in before)
    assert max(Counter(gold for entry in picked for gold in entry.golds).values()) <= 6
    assert max(Counter(c for entry in picked for c in entry.conditions).values()) <= 5


def test_quality_decides_between_equals_and_capped_documents_count_against() -> None:
    base = PoolEntry("q", (0, 1), (0,), 0, 0, 50, 0)
    entries = [
        replace(base, query_id="a", conditions=(0, 1), quality=10),
        replace(base, query_id="b", conditions=(2, 3), quality=90),
        replace(base, query_id="c", conditions=(4, 5), quality=90, n_capped=1),
    ]
    rules = replace(RULES, n_queries=1, goal=Goal(1, 0, 0), share_n3_permille=0)
    assert [entries[index].query_id for index in select(entries, rules).chosen] == ["b"]


@pytest.mark.parametrize(("share", "arity"), [(0, 2), (1000, 3)])
def test_one_arity_alone_is_possible(share: int, arity: int) -> None:
    picked = chosen(pool(1000, 60, 200), replace(RULES, share_n3_permille=share))
    assert {len(entry.conditions) for entry in picked} == {arity}


def test_the_mix_is_stretched_only_so_far() -> None:
    entries = pool(3000, 60, 300)
    triples = [entry for entry in entries if len(entry.conditions) == 3]
    pairs = [entry for entry in entries if len(entry.conditions) == 2][:30]
    pairs = [
        replace(entry, conditions=(1000 + 2 * index, 1001 + 2 * index), golds=(100 + index,))
        for index, entry in enumerate(pairs)
    ]
    picked = chosen(sorted((*triples, *pairs), key=lambda entry: entry.query_id), RULES)
    n3 = sum(len(entry.conditions) == 3 for entry in picked)
    assert len(picked) - n3 == 30
    most = RULES.share_n3_permille * MIX_STRETCH_PERCENT * len(picked) // 100_000
    assert most - 1 <= n3 <= most + 1


def test_left_over_entries_name_what_blocks_them() -> None:
    entries = pool(2000, 12, 60)
    selection = select(entries, replace(RULES, n_queries=1000))
    assert len(selection.chosen) + len(selection.left_over) == len(entries)
    assert set(selection.left_over.values()) <= {"max_per_condition", "max_per_gold", "share_n3", "n_queries"}
    assert selection.blocked["left_over"] == len(selection.left_over)
    assert selection.blocked["max_per_gold"] > 0


def test_an_empty_pool() -> None:
    assert select([], RULES).chosen == ()
