"""From strict requirements down the relaxation ladder until there are enough queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.compose.enumeration import enumerate_conjunctions
from nclue_build.compose.redundancy import content_keys, key_matrix, words
from nclue_build.compose.relatedness import measure_relatedness
from nclue_build.compose.requirements import Goal, is_title, relaxation_goal, relaxation_ladder
from nclue_build.compose.sample import gold_source, spread_sample, strata
from nclue_build.compose.select import PoolEntry, Selection, SelectionRules, select
from nclue_build.compose.triples import seeded_generator
from nclue_build.compose.verify import drop_mismatches, needs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from nclue_build.compose.candidates import Candidates, Corpus
    from nclue_build.compose.enumeration import Enumeration
    from nclue_build.compose.needs import Judged, Need
    from nclue_build.compose.requirements import Requirements
    from nclue_build.compose.verify import Mismatch
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import ComposeSection
    from nclue_build.records.inventory import Condition

    Judge = Callable[[Sequence[Need]], Judged]

_PAIR: Final = 2
_STRICT_TURNS: Final = 4
"""Times ``n_candidates`` strict candidates are drawn at most, while there are more: they come before relaxed ones."""
_RELAXED_CANDIDATES_PER_QUERY: Final = 8
"""Candidates drawn at a relaxation step for each query of the goal."""
_PAGES_FOR_HALF: Final = 10
"""Pages for each of which a condition is mentioned once where its topicality is rated half."""
_ONLY_TRIPLES: Final = 1000
_N3_CANDIDATES_PERCENT: Final = 150
"""Share of triples among the candidates, in percent of their share among queries: more of them fail verification."""


@dataclass(slots=True)
class Step:
    """What one step of the ladder did.

    Args:
        requirements: Of the step.
        counts: From enumeration.
        sampled: Number of conditions to candidates drawn.
        verified: Number of conditions to candidates that passed.
    """

    requirements: Requirements
    counts: dict[str, int]
    sampled: dict[int, int] = field(default_factory=dict)
    verified: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Composed:
    """Everything that was composed, before anything is written.

    Args:
        pool: Verified candidates, sorted by query id.
        selection: Of the pool.
        rules: Of the selection.
        needs: Query id to the documents judged for it.
        judged: What the judge says of these.
        mismatches: Query id to the reason, of candidates the judge dropped.
        drop_rates: Number of golds to (candidates, dropped).
        steps: Steps of the ladder that were tried.
    """

    pool: list[PoolEntry]
    selection: Selection
    rules: SelectionRules
    needs: dict[str, list[Need]]
    judged: Judged
    mismatches: dict[str, Mismatch]
    drop_rates: dict[int, tuple[int, int]]
    steps: list[Step]

    @property
    def chosen(self) -> list[PoolEntry]:
        """Selected entries, sorted by query id."""
        return sorted((self.pool[index] for index in self.selection.chosen), key=lambda entry: entry.query_id)


def selection_rules(corpus: Corpus, config: ComposeSection, *, small_corpus: bool) -> SelectionRules:
    """Caps and quotas of a corpus; sources are declared in proportion to the documents that may be golds."""
    eligible = np.bincount(corpus.source[corpus.gold_eligible], minlength=len(corpus.sources))
    return SelectionRules(
        n_queries=config.n_queries,
        goal=relaxation_goal(config.n_queries, len(corpus.inventory.document_ids)),
        max_per_condition=config.max_per_condition,
        max_per_gold=config.max_per_gold,
        relative_gold_cap=small_corpus and "max_per_gold" not in config.model_fields_set,
        share_n3_permille=round(config.share_n3 * 1000),
        source_permille=tuple((1000 * eligible // max(int(eligible.sum()), 1)).tolist()),
        seed=config.seed,
    )


@dataclass(frozen=True, slots=True)
class Material:
    """What is composed from, and by which rules.

    Args:
        corpus: Documents and P(d, c).
        conditions: In the order of ``inventory.condition_ids``.
        config: The ``[compose]`` table, resolved for this corpus.
        rules: Of the selection.
        judge: Judges needs; None in document-level builds, where no page can be quoted.
    """

    corpus: Corpus
    conditions: Sequence[Condition]
    config: ComposeSection
    rules: SelectionRules
    judge: Judge | None


def compose(material: Material, progress: Progress) -> Composed:
    """Enumerate, sample, verify and select, relaxing the requirements until the goal is reached."""
    return _Ladder(material, progress).climb_down()


class _Ladder:
    def __init__(self, material: Material, progress: Progress) -> None:
        self.corpus, self.config, self.rules = material.corpus, material.config, material.rules
        self.judge, self.progress = material.judge, progress
        conditions = material.conditions
        self.keys = key_matrix(content_keys(conditions))
        self.relatedness = measure_relatedness(self.corpus.inventory, self.corpus.n_pages)
        self.titles = np.array([is_title(condition) for condition in conditions], dtype=np.bool_)
        self.is_phrase = [len(words(condition.name)) > 1 for condition in conditions]
        self.seen: dict[int, NDArray[np.int64]] = {}
        self.done = Composed([], Selection((), 0, {}, {}), self.rules, {}, {}, {}, {}, [])

    def climb_down(self) -> Composed:
        done, reached = self.done, Goal(0, 0, 0)
        for number, requirements in enumerate(relaxation_ladder(self.config)):
            goal = self.rules.goal.loosely() if requirements.is_loose else self.rules.goal
            if reached.meets(goal):
                break
            self.progress.start(f"compose: {requirements.name or 'strict'}", None, "candidates")
            found = self._enumerate(requirements)
            for turn in range(_STRICT_TURNS if number == 0 else 1):
                if not self._add(number, found, turn) and turn:
                    break
                done.pool.sort(key=lambda entry: entry.query_id)
                done.selection = select(done.pool, self.rules)
                chosen = done.chosen
                reached = Goal(
                    len(chosen),
                    len({entry.golds for entry in chosen}),
                    len({gold for entry in chosen for gold in entry.golds}),
                )
                if reached.meets(goal) and not self._lacks_pairs():
                    break
        return done

    def _lacks_pairs(self) -> bool:
        """Whether more of the selected queries than declared have three conditions."""
        chosen = self.done.chosen
        n3 = sum(len(entry.conditions) > _PAIR for entry in chosen)
        return 1000 * n3 > self.rules.share_n3_permille * len(chosen) + 500

    def _enumerate(self, requirements: Requirements) -> Enumeration:
        """All conjunctions of a step of the ladder, which begins with this."""
        found = enumerate_conjunctions(
            self.corpus, self.keys, self.relatedness, requirements, self.config.n_candidates, self.config.seed
        )
        if not requirements.titles:
            found = found.without(self.titles)
        self.done.steps.append(Step(requirements, found.counts))
        return found

    def _add(self, number: int, found: Enumeration, turn: int) -> int:
        """Sample and verify conjunctions of the latest step; what passes joins the pool.

        Returns:
            How many were drawn.
        """
        step = self.done.steps[-1]
        pairs, triples = self._unseen(found.pairs), self._unseen(found.triples)
        wanted = self.config.n_candidates
        if number > 0:
            wanted = min(wanted, _RELAXED_CANDIDATES_PER_QUERY * self.rules.goal.queries)
        n_triples = self._triples_wanted(wanted, len(pairs), len(triples))
        n_pairs = 0 if self.rules.share_n3_permille == _ONLY_TRIPLES else wanted - n_triples
        samples: list[Candidates] = []
        for candidates, size in ((pairs, n_pairs), (triples, n_triples)):
            names = ("sample", step.requirements.name or "strict", str(candidates.n), *([str(turn)] if turn else []))
            drawn = spread_sample(
                candidates, strata(candidates, self.corpus), size, seeded_generator(self.config.seed, *names)
            )
            sample = candidates.take(drawn)
            self.seen[sample.n] = np.concatenate([self.seen.get(sample.n, np.empty(0, np.int64)), self._keys(sample)])
            step.sampled[sample.n] = step.sampled.get(sample.n, 0) + len(sample)
            samples.append(sample)
        needs = [self._needs(sample) for sample in samples]
        judged: Judged = {}
        if self.judge is not None:
            judged = self.judge([need for sample in needs for wanted in sample for need in wanted])
        for sample, wanted_by_sample in zip(samples, needs, strict=True):
            n_passed = self._admit(number, sample, wanted_by_sample, judged)
            step.verified[sample.n] = step.verified.get(sample.n, 0) + n_passed
        self.done.judged |= judged
        return sum(map(len, samples))

    def _triples_wanted(self, wanted: int, n_pairs: int, n_triples: int) -> int:
        """Triples among the candidates: by their share, and in place of pairs that are not there."""
        share_permille = self.rules.share_n3_permille
        if share_permille == 0:
            return 0
        share = -(-wanted * share_permille * _N3_CANDIDATES_PERCENT // 100_000)
        return min(n_triples, max(min(share, wanted), wanted - n_pairs))

    def _needs(self, sample: Candidates) -> list[list[Need]]:
        if self.judge is None:
            return [[] for _ in range(len(sample))]
        return needs_of(sample, self.corpus.inventory, self.config.verify)

    def _keys(self, candidates: Candidates) -> NDArray[np.int64]:
        keys = np.zeros(len(candidates), dtype=np.int64)
        for column in candidates.conditions.T:
            keys = keys * len(self.is_phrase) + column
        return keys

    def _unseen(self, candidates: Candidates) -> Candidates:
        seen = self.seen.get(candidates.n)
        if seen is None:
            return candidates
        return candidates.take(np.flatnonzero(~np.isin(self._keys(candidates), seen)))

    def _admit(
        self,
        number: int,
        sample: Candidates,
        needs: Sequence[list[Need]],
        judged: Judged,
    ) -> int:
        """Add the candidates without a mismatch to the pool; returns how many."""
        done, inventory = self.done, self.corpus.inventory
        verified = drop_mismatches(sample, needs, judged)
        sources = gold_source(sample, self.corpus).tolist()
        for index in verified.passed:
            conditions = tuple(sample.conditions[index].tolist())
            query_id = sample.query_id(index, inventory.condition_ids)
            done.needs[query_id] = needs[index]
            done.pool.append(
                PoolEntry(
                    query_id=query_id,
                    conditions=conditions,
                    golds=sample.golds(index),
                    source=sources[index],
                    n_capped=int(sample.n_capped[index]),
                    quality=self._quality(sample, index, needs[index], judged),
                    step=number,
                    is_loose=self.done.steps[number].requirements.is_loose,
                )
            )
        for index, mismatch in verified.mismatches.items():
            done.mismatches[sample.query_id(index, inventory.condition_ids)] = mismatch
        for n_golds, (seen, dropped) in verified.by_n_golds.items():
            before = done.drop_rates.get(n_golds, (0, 0))
            done.drop_rates[n_golds] = (before[0] + seen, before[1] + dropped)
        return len(verified.passed)

    def _quality(
        self,
        sample: Candidates,
        index: int,
        needs: Sequence[Need],
        judged: Judged,
    ) -> int:
        """0 to 100.

        Half is for how much its golds write about the condition they write least about (25 where it is said once in ten
        pages), the rest for closeness (12 where it just suffices), for quotes from running text and for names of more
        than one word.
        """
        corpus, conditions = self.corpus, sample.conditions[index]
        golds = np.array(sample.golds(index))
        rows = corpus.inventory.find(conditions, golds[:, None])
        often = _PAGES_FOR_HALF * corpus.mentions[rows]
        topic = int((50 * often // (often + corpus.n_pages[golds][:, None])).min())
        given = [
            item.quote_for(page)
            for need in needs
            for item, page in zip(judged[need], need.pages, strict=False)  # nothing is quoted for absent conditions
        ]
        running = 15 * sum(1 for quote in given if quote.is_running_text) // max(len(given), 1)
        phrases = 10 * sum(1 for condition in conditions.tolist() if self.is_phrase[condition]) // len(conditions)
        closeness = int(sample.closeness[index])
        return topic + 25 * closeness // (closeness + self.relatedness.close_from) + running + phrases
