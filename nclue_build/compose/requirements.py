"""What a conjunction must fulfil to become a query, and how that is relaxed in declared steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nclue_build.compose.relatedness import Relation

if TYPE_CHECKING:
    from nclue_build.records.config import ComposeSection
    from nclue_build.records.inventory import Condition

FEW_QUERIES: Final = 150
"""Queries a corpus of any size should give before anything is relaxed for more."""
FEW_FAMILIES: Final = 100
"""Gold families a corpus of any size should give, if that many are asked for."""
FAMILIES_PER_100_DOCUMENTS: Final = 40
"""Gold families a large corpus should give, up to two thirds of the queries."""
GOLDS_PER_100_DOCUMENTS: Final = 30
"""Documents of 100 that should be gold for some query, up to half as many as there are queries."""
ENOUGH_QUERIES: Final = 50
"""Queries from which looser relations are no way to more: readers accept about one such query in five."""
ENOUGH_FAMILIES: Final = 85
"""Gold families up to which looser relations are worth it, if that many are asked for: queries that share all their
golds tell systems apart on a few documents only."""
QUERIES_PER_DOCUMENT: Final = 4
"""Queries per document up to which relaxing is worth it: beyond, more of the same few documents adds little."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements on a conjunction; ``name`` is None for the strict ones, else the relaxation step.

    Args:
        name: What ``relaxation`` of a query says.
        max_weak: Conditions that may be passing mentions in a gold (0 = every condition strong in every gold).
        relation: What every pair of conditions must have to do with each other.
        min_subsets: Judged documents beside the golds.
        max_golds: Golds.
        max_capped: Documents with every condition that fail the page gate.
        titles: Whether conditions may be titles of bodies, offices and programmes (:func:`is_title`).
    """

    name: str | None
    max_weak: int
    relation: Relation
    min_subsets: int
    max_golds: int
    max_capped: int
    titles: bool = True

    @property
    def is_loose(self) -> bool:
        """Whether conditions need not be close: then only what keeps a benchmark from being none is taken."""
        return self.relation < Relation.CLOSE


def is_title(condition: Condition) -> bool:
    """Whether a condition is a title in capitals: of a body, an office, a programme ("Chief Financial Officer", "CDC").

    Documents name these in passing, and a query that joins one with a topic is seldom a need anybody has. A word in
    capitals is a title only if no document spells it out: others are things as often as bodies ("Unicode", "GDP").
    """
    parts = condition.name.split()
    if len(parts) > 1:
        return parts[0][0].isupper() and parts[-1][0].isupper()
    return all(alias.form.removesuffix("s").isupper() and " " not in alias.form for alias in condition.aliases)


def relaxation_ladder(config: ComposeSection) -> tuple[Requirements, ...]:
    """The strict requirements and each declared step after them, every one wider than the one before.

    Passing mentions come first (one condition of a gold, then any), since a query about unrelated things is one nobody
    asks, however well its evidence is established. Titles are next, then fewer subset documents; looser relations come
    last, and only as far as there are hardly any queries or families (:data:`ENOUGH_QUERIES`,
    :data:`ENOUGH_FAMILIES`). docs/quality has what readers thought of each step.
    """
    strict = Requirements(
        name=None,
        max_weak=0 if config.strong_golds else _ANY,
        relation=Relation.CLOSE,
        min_subsets=config.min_subsets,
        max_golds=config.max_golds,
        max_capped=config.max_golds if config.capped_documents == "penalise" else 0,
        titles=False,
    )
    steps = [strict]
    if config.strong_golds:
        steps.append(replace(steps[-1], name="one_weak_condition", max_weak=1))
        steps.append(replace(steps[-1], name="weak_golds", max_weak=_ANY))
    steps.append(replace(steps[-1], name="title_conditions", titles=True))
    if config.min_subsets > 1:
        steps.append(replace(steps[-1], name="few_subsets", min_subsets=config.min_subsets // 2))
    steps.append(replace(steps[-1], name="loosely_related_conditions", relation=Relation.ASSOCIATED))
    steps.append(replace(steps[-1], name="unrelated_conditions", relation=Relation.ANY))
    return tuple(steps)


@dataclass(frozen=True, slots=True)
class Goal:
    """What the strict requirements should give; below any of the numbers they are relaxed.

    Args:
        queries: Number of queries.
        families: Number of gold families: different complete gold sets.
        golds: Number of documents that are gold for any query.
    """

    queries: int
    families: int
    golds: int

    def loosely(self) -> Goal:
        """What looser relations are used for."""
        return Goal(min(self.queries, ENOUGH_QUERIES), min(self.families, ENOUGH_FAMILIES), 0)

    def meets(self, goal: Goal) -> bool:
        """Whether these numbers are at least those of the goal."""
        return self.queries >= goal.queries and self.families >= goal.families and self.golds >= goal.golds


def relaxation_goal(n_queries: int, n_documents: int) -> Goal:
    """Number of queries and gold families below which requirements are relaxed.

    A corpus of a few dozen documents cannot carry a thousand queries that differ; relaxing quality to get
    there would be a bad trade, so the goal grows with the corpus up to the number asked for. Queries that all have
    the same few golds measure little, so a few relaxed ones of new gold families and new golds are worth having.
    """
    queries = min(n_queries, max(FEW_QUERIES, QUERIES_PER_DOCUMENT * n_documents))
    families = max(FEW_FAMILIES, n_documents * FAMILIES_PER_100_DOCUMENTS // 100)
    golds = n_documents * GOLDS_PER_100_DOCUMENTS // 100
    return Goal(queries, min(families, 2 * queries // 3), min(golds, queries // 2))


_ANY: Final = 8
