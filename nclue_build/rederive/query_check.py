"""Queries against the recomputed judgments, the conditions they name, and their own forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.findings import shown
from nclue_build.core.ids import query_id as id_of_query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.benchmark import Query, QueryCondition
    from nclue_build.records.inventory import Condition
    from nclue_build.rederive.matching import Judgment


class DocumentFacts(NamedTuple):
    """What is said of a document beyond its pages."""

    source: str
    n_pages: int
    gold_eligible: bool
    title: str


def check_query_ids(
    queries: Sequence[tuple[int, Query]], documents: Mapping[str, object], path: str, out: Findings
) -> None:
    """Check that ids are unique, are no document's id, and are the digest of their conditions."""
    seen: set[str] = set()
    for line, query in queries:
        key = query.query_id
        if key in seen:
            out.add("duplicate-query", "the id stands twice", path=path, line=line, id=key)
        seen.add(key)
        if key in documents:
            out.add("query-id-clash", "a document has the same id", path=path, line=line, id=key)
        expected = id_of_query(condition.condition_id for condition in query.conditions)
        if key != expected:
            out.add("query-id-differs", f"its conditions give {expected}", path=path, line=line, id=key)


def check_left_out(
    stored: Sequence[tuple[int, Query]],
    composed: Sequence[Query],
    judged: Mapping[str, Mapping[str, Judgment]],
    documents: Mapping[str, DocumentFacts],
    path: str,
    out: Findings,
) -> None:
    """Check that a repaired benchmark has the composed queries that have golds, and no others.

    Args:
        stored: The queries there are, with their lines.
        composed: As composed.
        judged: The recomputed judgments of the composed queries.
        documents: What is said of each document.
        path: Of queries.jsonl, as shown.
        out: Takes what differs.
    """
    there = {query.query_id for _, query in stored}
    known = {query.query_id: query for query in composed}
    for line, query in stored:
        before = known.get(query.query_id)
        same = {"golds": query.golds, "n_judged": query.n_judged, "strata": query.strata}
        if before is None:
            out.add("unknown-query", "it was not composed", path=path, line=line, id=query.query_id)
        elif before.model_copy(update=same) != query:
            message = "beside golds, n_judged and strata it differs from what was composed"
            out.add("query-conditions-differ", message, path=path, line=line, id=query.query_id)
    for query_id in sorted(known.keys() - there):
        golds = [doc_id for doc_id, judgment in judged[query_id].items() if judgment.gold]
        if golds and all(documents[doc_id].gold_eligible for doc_id in golds):
            out.add("query-missing", f"its golds are {shown(golds)}", path=path, id=query_id)


def check_query_conditions(
    query: Query, line: int, conditions: Mapping[str, Condition], path: str, out: Findings
) -> None:
    """Check the conditions of one query against conditions.jsonl, and its forms against the conditions."""
    ids = [condition.condition_id for condition in query.conditions]
    if ids != sorted(set(ids)):
        message = f"ids must ascend without repeats, stored {ids}"
        out.add("query-conditions-differ", message, path=path, line=line, id=query.query_id)
    for used in query.conditions:
        known = conditions.get(used.condition_id)
        if known is None:
            message = f"{used.condition_id} is not in conditions.jsonl"
            out.add("unknown-condition", message, path=path, line=line, id=query.query_id)
        else:
            for message in _name_problems(used, known):
                out.add("query-names-differ", message, path=path, line=line, id=query.query_id)
    _check_forms(query, line, path, out)


def _check_forms(query: Query, line: int, path: str, out: Findings) -> None:
    """Every form holds its concepts; the deterministic ones are made of nothing else."""
    raw_names = [condition.raw_name for condition in query.conditions]
    names = [condition.name for condition in query.conditions]
    quoted = [f'"{name}"' for name in names]
    for form, text, concepts, expected in (
        ("raw", query.forms.raw, raw_names, _listed(raw_names)),
        ("clean_v2", query.forms.clean_v2, names, "; ".join(quoted)),
        ("natural", query.forms.natural, names, f"Find the document that discusses {_listed(quoted)}."),
        ("paraphrase", query.forms.paraphrase, names, query.forms.paraphrase),
    ):
        if text is None:
            continue
        lacking = [concept for concept in concepts if concept not in text]
        for concept in lacking:
            message = f"{form} does not contain {concept!r}: {shown(repr(text))}"
            out.add("form-without-concept", message, path=path, line=line, id=query.query_id)
        if not lacking and text != expected:
            message = f"{form}: stored {shown(repr(text))}, expected {shown(repr(expected))}"
            out.add("query-form-differs", message, path=path, line=line, id=query.query_id)


def _listed(names: Sequence[str]) -> str:
    """Two names joined by "and", more by commas and an "and" before the last (n-Clue supplement, section 2)."""
    *first, last = names
    comma = "," if len(first) > 1 else ""
    return f"{', '.join(first)}{comma} and {last}"


def _name_problems(used: QueryCondition, known: Condition) -> list[str]:
    problems = []
    if used.raw_name != known.name:
        problems.append(f"raw_name of {used.condition_id}: stored {used.raw_name!r}, mined {known.name!r}")
    if _letters(used.name) != _letters(used.raw_name):  # cleaning may take punctuation out, never a letter
        problems.append(f"name of {used.condition_id}: {used.name!r} is not {used.raw_name!r} cleaned")
    forms = tuple(alias.form for alias in known.aliases)
    if used.aliases != forms:
        problems.append(f"aliases of {used.condition_id}: stored {shown(used.aliases)}, mined {shown(forms)}")
    return problems


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def compare_query(
    query: Query,
    line: int,
    judged: Mapping[str, Judgment],
    documents: Mapping[str, DocumentFacts],
    path: str,
    out: Findings,
) -> None:
    """Compare golds, the number judged and the strata of one query with the recomputed judgments."""
    golds = tuple(doc_id for doc_id, judgment in judged.items() if judgment.gold)
    if not judged:
        out.add("query-without-rows", "no document has any of its conditions", path=path, line=line, id=query.query_id)
    if not golds:
        out.add("query-without-gold", "no document passes the gate", path=path, line=line, id=query.query_id)
    for doc_id in golds:
        if not documents[doc_id].gold_eligible:
            message = f"gold {doc_id} may be judged, but not be a gold"
            out.add("ineligible-gold", message, path=path, line=line, id=query.query_id)
    if query.golds != golds:
        message = f"golds: stored {shown(query.golds)}, recomputed {shown(golds)}"
        out.add("query-golds-differ", message, path=path, line=line, id=query.query_id)
    if query.n_judged != len(judged):
        message = f"n_judged: stored {query.n_judged}, recomputed {len(judged)}"
        out.add("query-judged-differs", message, path=path, line=line, id=query.query_id)
    stored = (query.strata.l_min, query.strata.d_plus, query.strata.sources)
    facts = [documents[doc_id] for doc_id in golds]
    sources = tuple(sorted({fact.source for fact in facts}))
    expected = (min((fact.n_pages for fact in facts), default=0), len(judged), sources)
    if stored != expected:
        message = f"l_min, d_plus, sources: stored {shown(stored)}, recomputed {shown(expected)}"
        out.add("query-strata-differ", message, path=path, line=line, id=query.query_id)
