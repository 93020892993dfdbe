from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.compose.candidates import Conjunctions, Corpus, find_candidates
from nclue_build.compose.enumeration import enumerate_conjunctions
from nclue_build.compose.pairs import compatible_pairs
from nclue_build.compose.redundancy import key_matrix
from nclue_build.compose.relatedness import LIFTS, Relation, measure_relatedness
from nclue_build.compose.requirements import Requirements, is_title, relaxation_goal, relaxation_ladder
from nclue_build.compose.triples import propose_triples
from nclue_build.core.ids import condition_id
from nclue_build.gate.check import row_bitsets
from nclue_build.gate.explain import judge_pages
from nclue_build.inventory.table import Inventory
from nclue_build.records.config import ComposeSection
from nclue_build.records.inventory import Alias, Condition, EvidenceRow, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.compose.candidates import Candidates

LOOSE = Requirements(None, max_weak=0, relation=Relation.ANY, min_subsets=2, max_golds=3, max_capped=2)


def own_keys(inventory: Inventory) -> list[frozenset[str]]:
    return [frozenset({key}) for key in inventory.condition_ids]


def brute_force(corpus: Corpus, n: int, requirements: Requirements) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Every conjunction that fulfils the requirements, but for relatedness, and its golds."""
    inventory = corpus.inventory
    pages = {
        (int(inventory.condition_of[row]), int(inventory.document_of[row])): inventory.pages_of(row)
        for row in range(inventory.n_rows)
    }
    strong = {key: bool(inventory.strong[row]) for row, key in enumerate(pages)}
    documents = {
        condition: {d for c, d in pages if c == condition} for condition in range(len(inventory.condition_ids))
    }
    found = {}
    for chosen in itertools.combinations(documents, n):
        both = [
            2 * len(documents[a] & documents[b]) < len(documents[a] | documents[b]) and documents[a] & documents[b]
            for a, b in itertools.combinations(chosen, 2)
        ]
        full = sorted(set.intersection(*(documents[c] for c in chosen)))
        gold = [d for d in full if judge_pages([pages[c, d] for c in chosen]).gold]
        weak = max((sum(not strong[c, d] for c in chosen) for d in gold), default=0)
        judged = len(set.union(*(documents[c] for c in chosen)))
        if (
            all(both)
            and 1 <= len(gold) <= requirements.max_golds
            and all(corpus.gold_eligible[d] for d in gold)
            and weak <= requirements.max_weak
            and len(full) - len(gold) <= requirements.max_capped
            and judged - len(gold) >= requirements.min_subsets
        ):
            found[chosen] = tuple(gold)
    return found


def as_dict(candidates: Candidates) -> dict[tuple[int, ...], tuple[int, ...]]:
    return {tuple(row): candidates.golds(index) for index, row in enumerate(candidates.conditions.tolist())}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("max_weak", [0, 1, 8])
def test_enumeration_equals_brute_force(synthetic: Callable[..., Corpus], seed: int, max_weak: int) -> None:
    corpus = synthetic(seed, 14, 24, 3)
    inventory = corpus.inventory
    wanted = Requirements(None, max_weak, Relation.ANY, min_subsets=2, max_golds=3, max_capped=1)
    keys = key_matrix(own_keys(inventory))
    relatedness = measure_relatedness(inventory, corpus.n_pages)
    found = enumerate_conjunctions(corpus, keys, relatedness, wanted, 10_000, 11)
    assert as_dict(found.pairs) == brute_force(corpus, 2, wanted)
    assert as_dict(found.triples) == brute_force(corpus, 3, wanted)
    assert len(found.pairs) > 0
    for candidates in (found.pairs, found.triples):
        for index, row in enumerate(candidates.conditions.tolist()):
            documents = {d for c in row for d in inventory.document_of[inventory.condition_of == c].tolist()}
            assert candidates.n_judged[index] == len(documents)


def test_strict_candidates_are_related_and_not_redundant(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(4, 40, 200)
    inventory = corpus.inventory
    shared = [frozenset({key, f"group{index % 10}"}) for index, key in enumerate(inventory.condition_ids)]
    relatedness = measure_relatedness(inventory, corpus.n_pages)
    strict = relaxation_ladder(ComposeSection(min_subsets=4))[0]
    found = enumerate_conjunctions(corpus, key_matrix(shared), relatedness, strict, 500, 11)
    closeness = relatedness.dense(slice(None))
    for candidates in (found.pairs, found.triples):
        assert len(candidates) > 0
        for row in candidates.conditions.tolist():
            for a, b in itertools.combinations(row, 2):
                assert closeness[a, b] >= relatedness.close_from
                assert a % 10 != b % 10


def test_related_conditions_come_from_one_topic(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(4, 60, 240, 4)
    relatedness = measure_relatedness(corpus.inventory, corpus.n_pages)
    keys = key_matrix(own_keys(corpus.inventory))

    def same_topic_percent(relation: Relation) -> int:
        members = compatible_pairs(corpus.inventory, keys, relatedness, relation).members()
        return 100 * int((members[:, 0] % 4 == members[:, 1] % 4).sum()) // len(members)

    chance, associated, close = map(same_topic_percent, Relation)
    assert chance < associated < close
    assert close > 80


def test_pairs_do_not_depend_on_the_block_size(
    synthetic: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = synthetic(6, 30, 100)
    keys = key_matrix(own_keys(corpus.inventory))

    def run() -> tuple[list[int], list[int]]:
        relatedness = measure_relatedness(corpus.inventory, corpus.n_pages)
        table = compatible_pairs(corpus.inventory, keys, relatedness, Relation.ASSOCIATED)
        return table.keys.tolist(), table.closeness.tolist()

    whole = run()
    for module in ("pairs", "relatedness"):
        monkeypatch.setattr(f"nclue_build.compose.{module}._BLOCK_CELLS", 700)
    monkeypatch.setattr("nclue_build.compose.candidates._BLOCK_PAIRS", 16)
    assert run() == whole


def test_a_document_proposes_no_more_than_its_quota(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(7, 20, 150, 2)
    inventory = corpus.inventory
    relatedness = measure_relatedness(inventory, corpus.n_pages)
    table = compatible_pairs(inventory, key_matrix(own_keys(inventory)), relatedness, Relation.ANY)
    everything = np.ones(inventory.n_rows, dtype=np.bool_)
    few = propose_triples(inventory, table, everything, 5, 11)
    assert 0 < len(few) <= 5 * 20
    assert (np.diff(few, axis=1) > 0).all()
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert (table.find(few[:, a], few[:, b]) >= 0).all()
    assert propose_triples(inventory, table, everything, 5, 11).tolist() == few.tolist()
    assert propose_triples(inventory, table, everything, 5, 12).tolist() != few.tolist()


def test_a_document_that_cannot_be_gold_takes_its_conjunctions_away(
    make_inventory: Callable[..., Inventory], make_corpus: Callable[..., Corpus]
) -> None:
    inventory = make_inventory({(c, d): (page,) for d in "xyz" for page, c in enumerate("ab", start=1)})
    corpus = make_corpus(inventory)
    corpus.gold_eligible[1] = False
    drops: dict[str, int] = {}
    pair = Conjunctions(np.array([[0, 1]], np.int32), np.array([6]), np.array([0], np.int32))
    assert len(find_candidates(corpus, pair, LOOSE, drops)) == 0
    assert drops["ineligible_gold"] == 1


def test_capped_documents_are_counted_or_dropped(
    make_inventory: Callable[..., Inventory], make_corpus: Callable[..., Corpus]
) -> None:
    pages = {("a", "x"): (1,), ("b", "x"): (2,), ("a", "y"): (3,), ("b", "y"): (3,), ("a", "z"): (1,), ("b", "w"): (1,)}
    corpus = make_corpus(make_inventory(pages))
    pair = Conjunctions(np.array([[0, 1]], np.int32), np.array([6]), np.array([0], np.int32))
    found = find_candidates(corpus, pair, LOOSE, {})
    assert found.n_capped.tolist() == [1]
    assert found.n_judged.tolist() == [4]
    drop = relaxation_ladder(ComposeSection(capped_documents="drop", min_subsets=2))[0]
    drops: dict[str, int] = {}
    assert len(find_candidates(corpus, pair, drop, drops)) == 0
    assert drops["capped_documents"] == 1


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        (["Chief Financial Officer", "CFO"], True),
        (["Office of Management and Budget"], True),
        (["CDC", "CDCs"], True),
        (["Tribal governments"], False),
        (["Medicaid program"], False),
        (["groundwater monitoring"], False),
        (["GDP", "gross domestic product"], False),
        (["Unicode"], False),
    ],
)
def test_titles_are_phrases_in_capitals_and_acronyms_nobody_spells_out(
    forms: list[str],
    expected: bool,  # noqa: FBT001 - a parameter
) -> None:
    verdict = Verdict(judge="rules", model=None, call_key=None, reason="test")
    aliases = tuple(Alias(form=form, match="folded", document_frequency=1, page_frequency=1) for form in forms)
    condition = Condition(
        condition_id=condition_id(forms[0]), name=forms[0], aliases=aliases, document_frequency=1, page_frequency=1,
        verdict=verdict, rubric=None,
    )  # fmt: skip
    assert is_title(condition) is expected


def test_a_topic_of_a_long_document_is_said_often_or_in_a_heading() -> None:
    def row(condition: str, document: str, mentions: int, *, heading: bool = False) -> EvidenceRow:
        return EvidenceRow(
            condition_id=condition, doc_id=document, pages=(1,), mentions=(mentions,), in_heading=(heading,)
        )

    rows = [
        row("a", "long", 6), row("b", "long", 7), row("c", "long", 1, heading=True),
        row("a", "short", 2), row("b", "short", 3), row("c", "short", 1),
    ]  # fmt: skip
    inventory = Inventory.from_rows(rows, ["a", "b", "c"], ["long", "short"])
    corpus = Corpus(
        inventory=inventory,
        bitsets=row_bitsets(inventory),
        n_pages=np.array([261, 120], dtype=np.int32),
        gold_eligible=np.ones(2, dtype=np.bool_),
        source=np.zeros(2, dtype=np.int32),
        sources=("s",),
    )
    found = {
        (inventory.condition_ids[c], inventory.document_ids[d])
        for c, d, topical in zip(inventory.condition_of, inventory.document_of, corpus.topical, strict=True)
        if topical
    }
    assert found == {("b", "long"), ("c", "long"), ("b", "short")}


def test_closeness_is_company_in_common_times_strength(synthetic: Callable[..., Corpus]) -> None:
    corpus = synthetic(3, 12, 18, n_topics=3)
    inventory, n = corpus.inventory, len(corpus.inventory.condition_ids)
    places = [
        {
            (int(inventory.document_of[row]), page)
            for row in range(*inventory.first_rows[condition : condition + 2].tolist())
            for page in inventory.pages_of(row)
        }
        for condition in range(n)
    ]
    nearby = [
        {(d, q) for d, page in place for q in range(page - 2, page + 3) if 1 <= q <= corpus.n_pages[d]}
        for place in places
    ]
    total = int(corpus.n_pages.sum())
    strength = [[0] * n for _ in range(n)]
    for a, b in itertools.permutations(range(n), 2):
        near = len(places[a] & nearby[b]) + len(places[b] & nearby[a])
        chance = len(places[a]) * len(nearby[b]) + len(places[b]) * len(nearby[a])
        strength[a][b] = (near >= 2) * sum(near * total >= lift * chance for lift in LIFTS)
    found = measure_relatedness(inventory, corpus.n_pages).dense(slice(None))
    for a, b in itertools.permutations(range(n), 2):
        norms = sum(x * x for x in strength[a]) * sum(x * x for x in strength[b])
        common = sum(x * y for x, y in zip(strength[a], strength[b], strict=True))
        expected = strength[a][b] * (1_000_000 * common * common // norms + 1) if strength[a][b] else 0
        assert found[a, b] == expected
    assert (found > 0).sum() > n


def test_the_ladder_only_ever_widens() -> None:
    ladder = relaxation_ladder(ComposeSection())
    assert [step.name for step in ladder] == [
        None, "one_weak_condition", "weak_golds", "title_conditions", "few_subsets", "loosely_related_conditions",
        "unrelated_conditions",
    ]  # fmt: skip
    for before, after in itertools.pairwise(ladder):
        assert after.titles >= before.titles
        assert after.max_weak >= before.max_weak
        assert after.relation <= before.relation
        assert after.min_subsets <= before.min_subsets
    assert "weak_golds" not in {step.name for step in relaxation_ladder(ComposeSection(strong_golds=False))}


def test_the_goal_grows_with_the_corpus_up_to_what_is_asked_for() -> None:
    assert relaxation_goal(1000, 36).queries == 150
    assert relaxation_goal(1000, 2021).queries == 1000
    assert relaxation_goal(50, 36).queries == 50
    assert relaxation_goal(50, 36).families == 33


def test_an_inventory_without_conditions() -> None:
    from nclue_build.gate.check import row_bitsets  # noqa: PLC0415 - used once
    from nclue_build.inventory.table import Inventory as Table  # noqa: PLC0415

    empty = Table.from_rows((), (), ("d",))
    relatedness = measure_relatedness(empty, np.array([3], np.int32))
    assert len(compatible_pairs(empty, key_matrix([]), relatedness, Relation.CLOSE).keys) == 0
    assert len(row_bitsets(empty).starts) == 0
