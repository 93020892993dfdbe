from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.compose import report
from nclue_build.compose.ladder import Material, compose, selection_rules
from nclue_build.compose.needs import ItemQuotes
from nclue_build.compose.quotes import FoundQuote
from nclue_build.core.progress import NullProgress
from nclue_build.records.config import ComposeSection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.compose.candidates import Corpus
    from nclue_build.compose.ladder import Composed
    from nclue_build.compose.needs import Judged, Need
    from nclue_build.records.inventory import Condition


def agree(needs: Sequence[Need]) -> Judged:
    quote = FoundQuote((0,), 1, "x" * 40)
    return {need: tuple(ItemQuotes(condition, (), quote) for condition in need.conditions) for need in needs}


def refuse(needs: Sequence[Need]) -> Judged:
    return {
        need: tuple(ItemQuotes(condition, (), None, "names_only") for condition in need.conditions) for need in needs
    }


@pytest.fixture
def run(
    synthetic: Callable[..., Corpus], make_conditions: Callable[[Corpus], list[Condition]]
) -> Callable[..., tuple[Composed, ComposeSection, Corpus]]:
    def start(
        judge: Callable[[Sequence[Need]], Judged] = agree, seed: int = 5, **settings: object
    ) -> tuple[Composed, ComposeSection, Corpus]:
        corpus = synthetic(seed, 30, 120)
        config = ComposeSection.model_validate({"min_subsets": 3, "n_queries": 60, "n_candidates": 300} | settings)
        rules = selection_rules(corpus, config, small_corpus=True)
        made = compose(Material(corpus, make_conditions(corpus), config, rules, judge), NullProgress())
        return made, config, corpus

    return start


def test_enough_queries_are_no_shortfall(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, config, _ = run(n_queries=20)
    assert len(made.chosen) == 20
    assert [line for line in report.shortfalls(made, config) if "queries asked for" in line] == []


def test_strict_candidates_are_drawn_again_before_anything_is_relaxed(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
) -> None:
    once, _, _ = run(n_queries=20, n_candidates=60)
    assert [sum(step.sampled.values()) for step in once.steps] == [60]
    again, _, _ = run(n_queries=60, n_candidates=30)
    drawn = [sum(step.sampled.values()) for step in again.steps]
    assert drawn[0] in {60, 90, 120}
    assert len(drawn) == 1 or drawn[0] == 120
    assert len({entry.query_id for entry in again.pool}) == len(again.pool)


def test_a_corpus_short_of_strict_queries_is_relaxed_step_by_step(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
) -> None:
    made, config, _ = run(min_subsets=14, n_queries=150)
    names = [step.requirements.name for step in made.steps]
    assert names[:3] == [None, "one_weak_condition", "weak_golds"]
    relaxed = [entry for entry in made.chosen if entry.step]
    assert relaxed
    (line,) = [line for line in report.shortfalls(made, config) if "need relaxed requirements" in line]
    assert line.startswith(f"{len(relaxed)} of these {len(made.chosen)} queries")
    reports = report.step_reports(made)
    assert sum(sum(step.selected.values()) for step in reports) == len(made.chosen)
    assert all(step.sampled.keys() == step.verified.keys() for step in reports)


@pytest.mark.parametrize(("enough", "tried"), [(1, False), (10_000, True)])
def test_looser_relations_are_tried_only_where_there_are_hardly_any_queries(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
    monkeypatch: pytest.MonkeyPatch,
    enough: int,
    *,
    tried: bool,
) -> None:
    monkeypatch.setattr("nclue_build.compose.requirements.ENOUGH_QUERIES", enough)
    monkeypatch.setattr("nclue_build.compose.requirements.ENOUGH_FAMILIES", 1)
    made, _, _ = run(min_subsets=14, n_queries=150)
    names = [step.requirements.name for step in made.steps]
    assert "few_subsets" in names
    assert ("loosely_related_conditions" in names) is tried


def test_a_goal_of_gold_families_that_is_missed_is_named(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
) -> None:
    made, config, _ = run(n_queries=60)
    families = len({entry.golds for entry in made.chosen})

    def named(goal: int) -> list[str]:
        rules = dataclasses.replace(made.rules, goal=dataclasses.replace(made.rules.goal, families=goal))
        lines = report.shortfalls(dataclasses.replace(made, rules=rules), config)
        return [line for line in lines if "gold families" in line]

    assert named(families) == []
    (line,) = named(families + 1)
    assert line.startswith(f"{families} gold families, {families + 1} were aimed at")


def test_limits_that_overlap_are_said_to(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, config, _ = run(n_queries=500)
    blocked = {"left_over": 10, "max_per_condition": 8, "max_per_gold": 6, "share_n3": 0}

    def line(**changes: int) -> str:
        selection = dataclasses.replace(made.selection, blocked=Counter(blocked | changes))
        return report.binding_constraint(dataclasses.replace(made, selection=selection), config)

    assert "of 10 candidates left over max_per_condition = 5 stops 8, max_per_gold = " in line()
    assert "stops 6 (some by more than one of them)" in line()
    assert "more than one" not in line(max_per_gold=2)


def test_the_limits_of_relaxed_candidates_are_named(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
) -> None:
    made, config, _ = run(min_subsets=14, n_queries=150)
    relaxed = [index for index, entry in enumerate(made.pool) if entry.step]

    def line(names: dict[int, str], queries: int) -> str:
        selection = dataclasses.replace(made.selection, blocked={"left_over": 0}, left_over=names)
        rules = dataclasses.replace(made.rules, goal=dataclasses.replace(made.rules.goal, queries=queries))
        return report.binding_constraint(dataclasses.replace(made, selection=selection, rules=rules), config)

    stopped = line({relaxed[0]: "max_per_gold", relaxed[1]: "max_per_gold", relaxed[2]: "max_per_condition"}, 10_000)
    assert "of 3 relaxed candidates left over max_per_condition = 5 stops 1, max_per_gold = " in stopped
    assert "goal_queries" not in stopped
    beyond = line({relaxed[0]: "n_queries"}, len(made.chosen))
    assert f"relaxed requirements fill up to goal_queries = {len(made.chosen)} and are not used for 1 more" in beyond


def test_where_nothing_is_strict_it_is_said_so(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, config, _ = run(min_subsets=60)
    line = report.binding_constraint(made, config)
    assert line.startswith("no conjunction meets the strict requirements; 'unrelated' drops")


def test_no_candidate_is_drawn_twice(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, _, _ = run(min_subsets=14, n_queries=150)
    ids = [entry.query_id for entry in made.pool] + list(made.mismatches)
    assert len(ids) == len(set(ids)) == sum(sum(step.sampled.values()) for step in made.steps)


def test_a_judge_that_refuses_everything_is_named(
    run: Callable[..., tuple[Composed, ComposeSection, Corpus]],
) -> None:
    made, config, _ = run(judge=refuse)
    assert made.chosen == []
    message = report.nothing_chosen(made, config, "rules")
    assert message.startswith("the rules judge found no good quote for any of")
    assert "'names_only'" in message
    assert {rate[1] for rate in made.drop_rates.values()} == {rate[0] for rate in made.drop_rates.values()}


def test_the_binding_requirement_is_named(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, config, _ = run(min_subsets=60)
    assert made.chosen == []
    assert "'few_subsets'" in report.nothing_chosen(made, config, "rules")
    assert "lower [compose] min_subsets" in report.nothing_chosen(made, config, "rules")


def test_a_source_without_queries_is_named(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, _, corpus = run()
    assert report.absent_sources([], made, corpus.sources) == tuple(
        f"source {name!r} is in no query: none of its documents is a gold of a selected candidate"
        for name in corpus.sources
    )


def test_documents_that_may_be_no_gold_are_none(run: Callable[..., tuple[Composed, ComposeSection, Corpus]]) -> None:
    made, _, corpus = run()
    assert not corpus.gold_eligible.all()
    golds = np.array(sorted({gold for entry in made.chosen for gold in entry.golds}))
    assert corpus.gold_eligible[golds].all()
