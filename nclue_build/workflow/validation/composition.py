"""What composing reports of itself, counted again from the queries, the rejected candidates and the configuration.

What only composing itself saw (the conjunctions it enumerated, the caps that bind strict candidates, its shortfalls in
words) is held against its own sums; docs/gate.md lists the fields that nothing can be held against.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.compose.requirements import relaxation_goal
from nclue_build.compose.sample import D_PLUS_EDGES, L_MIN_EDGES
from nclue_build.compose.select import SMALL_CORPUS_PERCENT
from nclue_build.records.config import SMALL_CORPUS
from nclue_build.store import layout
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.records.benchmark import Query
    from nclue_build.records.composition import Composition, FormsQa
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.inventory import Rejected
    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.reading import Reading

_NOT_SELECTED: Final = "not_selected"
_BUSIEST: Final = 20
_STRATA: Final = ("n", "source", "l_min", "d_plus", "n_golds", "relaxation")
_FORMS: Final = 3
"""Deterministic forms of a query."""


@dataclass(frozen=True, slots=True)
class Composing:
    """Everything a report is compared with; ``item_judge`` is that of qrels.meta.json, None where it is unknown."""

    queries: tuple[Query, ...]
    rejected: tuple[Rejected, ...]
    documents: KnownDocuments
    config: BuildConfig
    item_judge: str | None


def check_composition(reading: Reading, known: Composing) -> None:
    """``composition.json``, beside the queries as composed."""
    path = reading.build.composed / layout.COMPOSITION
    report: Composition | None = reading.file(path, find_family("composition").model)
    if report is not None:
        for name, stored, expected in _differences(report, known):
            reading.add("composition-differs", f"{name}: stored {stored}, counted again {expected}", path)


def check_forms(reading: Reading, queries: Sequence[Query]) -> None:
    """``forms_qa.json``."""
    path = reading.build.benchmark / layout.FORMS_QA
    proof: FormsQa | None = reading.file(path, find_family("forms_qa").model)
    if proof is not None:
        for name, kept, wanted in _form_differences(proof, queries):
            reading.add("composition-differs", f"{name}: stored {kept}, counted again {wanted}", path)


def _differences(report: Composition, known: Composing) -> Iterator[tuple[str, object, object]]:
    n_documents = len(known.documents.in_benchmark)
    asked = known.config.resolve(n_documents).compose
    goal = relaxation_goal(asked.n_queries, n_documents)
    n_rejected = Counter(row.reason for row in known.rejected)
    n_left = n_rejected.pop(_NOT_SELECTED, 0)
    expected: dict[str, tuple[object, object]] = {
        "n_queries_asked": (report.n_queries_asked, asked.n_queries),
        "n_queries": (report.n_queries, len(known.queries)),
        "goal_queries": (report.goal_queries, goal.queries),
        "goal_families": (report.goal_families, goal.families),
        "goal_golds": (report.goal_golds, goal.golds),
        "seed": (report.seed, asked.seed),
        "verify": (report.verify, asked.verify),
        "item_judge": (report.item_judge, known.item_judge or report.item_judge),
        "steps.selected": (_selected_by_step(report), _selected(report, known.queries)),
        "refusals": (dict(report.refusals), dict(n_rejected)),
        "sampled in all": (_total(report, "sampled"), len(known.queries) + len(known.rejected)),
        "verified in all": (_total(report, "verified"), len(known.queries) + n_left),
        "mix": ([tuple(row.model_dump().values()) for row in report.mix], _mix(known)),
        "caps": (tuple(report.caps.model_dump().values()), _caps(known)),
        "diversity": (tuple(report.diversity.model_dump().values()), _diversity(known.queries)),
        "blocked.left_over": (report.blocked.get("left_over", 0) <= n_left, True),
        "blocked": (all(count <= report.blocked.get("left_over", 0) for count in report.blocked.values()), True),
    }
    if report.drop_rates:
        rates = report.drop_rates
        told = [(rate.n_golds, rate.dropped_permille) for rate in rates]
        counted = [(rate.n_golds, _permille(rate.dropped, rate.candidates)) for rate in rates]
        sums = (sum(rate.candidates for rate in rates), sum(rate.dropped for rate in rates))
        expected["drop_rates"] = (told, sorted(counted))
        expected["drop_rates in all"] = (sums, (_total(report, "sampled"), sum(n_rejected.values())))
    for name, (stored, wanted) in expected.items():
        if stored != wanted:
            yield name, stored, wanted


def _selected_by_step(report: Composition) -> list[tuple[str | None, dict[str, int]]]:
    return [(step.name, dict(step.selected)) for step in report.steps]


def _selected(report: Composition, queries: Sequence[Query]) -> list[tuple[str | None, dict[str, int]]]:
    """Queries by the step they were found at, the steps as reported: the strict one first, none twice."""
    counts = Counter((query.relaxation, query.n) for query in queries)
    names = list(dict.fromkeys([None, *(step.name for step in report.steps), *(query.relaxation for query in queries)]))
    return [(name, {f"n{n}": counts[name, n] for n in layout.ARITIES}) for name in names]


def _total(report: Composition, what: str) -> int:
    return sum(sum(getattr(step, what).values()) for step in report.steps)


def _mix(known: Composing) -> list[tuple[object, ...]]:
    queries, eligible = known.queries, known.documents.eligible
    share = round(known.config.compose.share_n3 * 1000)
    declared: dict[tuple[str, str], int] = {("n", "2"): 1000 - share, ("n", "3"): share}
    total = max(eligible.total(), 1)
    declared |= {("source", name): 1000 * count // total for name, count in eligible.items()}
    counts: Counter[tuple[str, str]] = Counter()
    for query in queries:
        sources = query.strata.sources
        counts["n", str(query.n)] += 1
        counts["source", sources[0] if len(sources) == 1 else "mixed"] += 1
        counts["l_min", _bucket(query.strata.l_min, L_MIN_EDGES)] += 1
        counts["d_plus", _bucket(query.strata.d_plus, D_PLUS_EDGES)] += 1
        counts["n_golds", str(len(query.golds))] += 1
        counts["relaxation", query.relaxation or "strict"] += 1
    keys = sorted({*declared, *counts}, key=lambda key: (_STRATA.index(key[0]), key[1]))
    return [(*key, declared.get(key), counts[key], _permille(counts[key], len(queries))) for key in keys]


def _bucket(value: int, edges: Sequence[int]) -> str:
    above = [edge for edge in edges if value <= edge]
    below = max((edge for edge in edges if value > edge), default=0)
    return f"{below + 1}-{above[0]}" if above else f"{below + 1}+"


def _caps(known: Composing) -> tuple[int, ...]:
    n_documents = len(known.documents.in_benchmark)
    asked = known.config.resolve(n_documents).compose
    cap = asked.max_per_gold
    if n_documents < SMALL_CORPUS and "max_per_gold" not in asked.model_fields_set:
        cap = max(cap, len(known.queries) * SMALL_CORPUS_PERCENT // 100)
    conditions = Counter(condition.condition_id for query in known.queries for condition in query.conditions)
    busiest = max(_gold_use(known.queries).values(), default=0)
    return (
        asked.max_per_condition,
        cap,
        max(conditions.values(), default=0),
        busiest,
        _permille(busiest, len(known.queries)),
    )


def _gold_use(queries: Sequence[Query]) -> Counter[str]:
    return Counter(doc_id for query in queries for doc_id in query.golds)


def _diversity(queries: Sequence[Query]) -> tuple[int, ...]:
    use = _gold_use(queries)
    busiest = set(sorted(use, key=lambda doc_id: (-use[doc_id], doc_id))[:_BUSIEST])
    return (
        len(use),
        len({query.golds for query in queries}),
        len({condition.condition_id for query in queries for condition in query.conditions}),
        sum(1 for query in queries if busiest.isdisjoint(query.golds)),
    )


def _permille(part: int, whole: int) -> int:
    return (1000 * part + whole // 2) // whole if whole else 0


def _form_differences(proof: FormsQa, queries: Sequence[Query]) -> Iterator[tuple[str, object, object]]:
    bad = {problem.query_id for problem in proof.problems}
    conditions = [condition for query in queries for condition in query.conditions]
    for name, stored, expected in (
        ("queries", proof.queries, len(queries)),
        ("passed", proof.passed, len(queries) - len(bad)),
        ("concepts_checked", proof.concepts_checked, _FORMS * len(conditions)),
        ("names_cleaned", proof.names_cleaned, sum(row.name != row.raw_name for row in conditions)),
        (
            "raw_names_with_and",
            proof.raw_names_with_and,
            sum(any(" and " in f" {row.raw_name} " for row in query.conditions) for query in queries),
        ),
        ("problems of unknown queries", sorted(bad - {query.query_id for query in queries}), []),
    ):
        if stored != expected:
            yield name, stored, expected
