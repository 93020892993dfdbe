"""Draw the items of a sheet: a seeded sample of every kind, whatever the order of the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.canonical import sha256_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.benchmark import Qrel, Query
    from nclue_build.records.inventory import Cluster, Condition
    from nclue_build.records.reading import ItemKind

STRICT: Final = "strict"
ALL: Final = "all"
LINKED: Final = "linked"
SPELLING: Final = "spelling"
_PLACES: Final = 3
_PLACES_PER_QUERY: Final = 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many items of each kind to draw; queries of every relaxation step."""

    conditions: int = 60
    clusters: int = 40
    facts: int = 40
    queries: int = 25


@dataclass(frozen=True, slots=True)
class Place:
    """A page on which to look for a condition."""

    document: str
    page: int
    condition: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item without the text to read it against.

    Args:
        key: Identifies it among its kind.
        kind: Of the item.
        stratum: What it was drawn from.
        population: Items of the stratum.
        name: Condition name or raw query.
        forms: Surface forms, or names of conditions.
        places: Pages to show.
    """

    key: str
    kind: ItemKind
    stratum: str
    population: int
    name: str
    forms: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """What a sheet is drawn from.

    Args:
        conditions: In the order of ``inventory.condition_ids``.
        inventory: All P(d, c).
        clusters: What mining joined.
        queries: Of the benchmark.
        golds: Gold judgments, by query and document.
    """

    conditions: Sequence[Condition]
    inventory: Inventory
    clusters: Sequence[Cluster]
    queries: Sequence[Query]
    golds: Mapping[tuple[str, str], Qrel]


def draw(material: Material, sizes: Sizes, seed: int) -> list[Drawn]:
    """Draw a sheet: conditions, merged clusters, facts and queries, in this order.

    Merged clusters with forms that more than spelling joins (an acronym and its long form) come first in their half,
    because nearly all others are plurals.
    """
    return [
        *_conditions(material, sizes.conditions, seed),
        *_clusters(material, sizes.clusters, seed),
        *_facts(material.inventory, material.conditions, sizes.facts, seed),
        *_queries(material, sizes.queries, seed),
    ]


def choose(total: int, size: int, seed: int, *names: str) -> list[int]:
    """``size`` of the numbers below ``total`` without repeats; a longer choice begins with every shorter one."""
    digest = sha256_bytes("\n".join(names).encode("utf-8"))
    generator = np.random.Generator(np.random.PCG64([seed, int(digest[:8], 16), int(digest[8:16], 16)]))
    chosen: list[int] = generator.permutation(total)[:size].tolist()
    return chosen


def _conditions(material: Material, size: int, seed: int) -> list[Drawn]:
    found = []
    for index in choose(len(material.conditions), size, seed, "conditions"):
        condition = material.conditions[index]
        forms = tuple(alias.form for alias in condition.aliases)
        places = _documents(material.inventory, index, seed, _PLACES)
        found.append(
            Drawn(condition.condition_id, "condition", ALL, len(material.conditions), condition.name, forms, places)
        )
    return found


def _clusters(material: Material, size: int, seed: int) -> list[Drawn]:
    """Conditions of more than one form, those joined by more than spelling first."""
    linked_forms = {form for cluster in material.clusters if cluster.links for form in cluster.aliases}
    merged = [index for index, condition in enumerate(material.conditions) if len(condition.aliases) > 1]
    linked = [
        index
        for index in merged
        if not linked_forms.isdisjoint(alias.form for alias in material.conditions[index].aliases)
    ]
    spelling = sorted(set(merged) - set(linked))
    n_linked = min(len(linked), max(size // 2, size - len(spelling)))
    found = []
    for stratum, group, wanted in ((LINKED, linked, n_linked), (SPELLING, spelling, size - n_linked)):
        for number in choose(len(group), wanted, seed, "clusters", stratum):
            condition = material.conditions[group[number]]
            forms = tuple(alias.form for alias in condition.aliases)
            places = _documents(material.inventory, group[number], seed, _PLACES)
            found.append(Drawn(condition.condition_id, "cluster", stratum, len(group), condition.name, forms, places))
    return found


def _documents(inventory: Inventory, condition: int, seed: int, size: int) -> tuple[Place, ...]:
    """Pages of different documents that establish a condition, the one with most mentions in each."""
    first, last = inventory.first_rows[condition : condition + 2].tolist()
    name = inventory.condition_ids[condition]
    places = []
    for row in sorted(first + number for number in choose(last - first, size, seed, "places", name)):
        begin, end = inventory.starts[row : row + 2].tolist()
        best = begin + int(np.argmax(inventory.mentions[begin:end]))
        document = inventory.document_ids[int(inventory.document_of[row])]
        places.append(Place(document, int(inventory.pages[best]), name))
    return tuple(places)


def _facts(inventory: Inventory, conditions: Sequence[Condition], size: int, seed: int) -> list[Drawn]:
    total = len(inventory.pages)
    found = []
    for number in choose(total, size, seed, "facts"):
        row = int(np.searchsorted(inventory.starts, number, side="right")) - 1
        condition = conditions[int(inventory.condition_of[row])]
        document, page = inventory.document_ids[int(inventory.document_of[row])], int(inventory.pages[number])
        found.append(
            Drawn(
                f"{condition.condition_id}/{document}/{page}",
                "fact",
                ALL,
                total,
                condition.name,
                tuple(alias.form for alias in condition.aliases),
                (Place(document, page, condition.condition_id),),
            )
        )
    return found


def _queries(material: Material, size: int, seed: int) -> list[Drawn]:
    steps: dict[str, list[Query]] = {}
    for query in sorted(material.queries, key=lambda query: query.query_id):
        steps.setdefault(query.relaxation or STRICT, []).append(query)
    found = []
    for step in sorted(steps, key=lambda step: (step != STRICT, step)):
        for index in choose(len(steps[step]), size, seed, "queries", step):
            query = steps[step][index]
            golds = sorted(choose(len(query.golds), _PLACES_PER_QUERY, seed, "golds", query.query_id))
            places = tuple(
                place for gold in golds for place in _evidence(material.golds[query.query_id, query.golds[gold]])
            )
            names = tuple(condition.name for condition in query.conditions)
            found.append(Drawn(query.query_id, "query", step, len(steps[step]), query.forms.raw, names, places))
    return found


def _evidence(gold: Qrel) -> list[Place]:
    """The pages the item judge quoted, a condition each."""
    return [Place(gold.doc_id, quote.page, quote.condition_id) for quote in gold.evidence if quote.page is not None]
