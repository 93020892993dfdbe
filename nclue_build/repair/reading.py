"""A file of decisions against what it is about: ids, pages, quotes, and each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.findings import Findings, shown
from nclue_build.core.text import fold, matching_text, occurs
from nclue_build.inventory.decided import Scoped
from nclue_build.inventory.page_text import MIN_WORDS, is_short, page_readings, quote_stands
from nclue_build.records.repair import Decision
from nclue_build.store.jsonl import read_numbered
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.benchmark import Query
    from nclue_build.records.repair import Scope
    from nclue_build.store.workspace import Build


class Known(NamedTuple):
    """What decisions may name.

    Args:
        build: The build.
        queries: As composed, by id.
        n_pages: Of every document of the benchmark.
        allowed_roles: Blocks that may hold evidence.
        applied: Decisions that a version has applied already.
    """

    build: Build
    queries: Mapping[str, Query]
    n_pages: Mapping[str, int]
    allowed_roles: Collection[str]
    applied: Sequence[Scoped]


class Incoming(NamedTuple):
    """A file of decisions: what is new in it, and how many rows are applied already."""

    new: tuple[Scoped, ...]
    n_known: int


def read_decisions(path: Path, known: Known, scope: Scope, version: int) -> Incoming:
    """Read and check a file of decisions.

    Args:
        path: The file.
        known: What it may name.
        scope: How far its decisions are to reach.
        version: Number of the version that will apply them.

    Raises:
        DataError: with the line of everything that is wrong, conflicts with each other and with decisions applied
            already among it, each with both ids.
    """
    found = Findings()
    applied = {one.decision.decision_id: one for one in known.applied}
    lines: dict[str, int] = {}
    new: list[tuple[int, Decision]] = []
    n_known = 0
    for line, row in read_numbered(path, Decision, found=found, by_hand=True):
        if (first := lines.setdefault(row.decision_id, line)) != line:
            message = f"decision {row.decision_id!r} stands twice (first in line {first})"
            found.add("duplicate-decision", message, path=str(path), line=line, id=row.decision_id)
            continue
        before = applied.get(row.decision_id)
        if before is not None:
            n_known += 1
            if before.decision != row or before.scope != scope:
                what = "with other contents" if before.decision != row else f"under scope {before.scope}"
                message = f"P{before.version} has applied a decision of this id {what}: give it a new id"
                found.add("decision-conflict", message, path=str(path), line=line, id=row.decision_id)
            continue
        new.append((line, row))
        for code, message in _problems(row, known):
            found.add(code, message, path=str(path), line=line, id=row.decision_id)
    _check_quotes(new, known, path, found)
    _check_conflicts(new, known.applied, path, found)
    found.raise_any()
    ordered = sorted((row for _, row in new), key=lambda row: row.decision_id)
    return Incoming(tuple(Scoped(row, scope, version) for row in ordered), n_known)


def _problems(row: Decision, known: Known) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    query = known.queries.get(row.query_id)
    if query is None:
        found.append(("unknown-query", f"the benchmark has no query {row.query_id!r}"))
    elif row.condition_id not in {condition.condition_id for condition in query.conditions}:
        found.append(("unknown-condition", f"query {row.query_id} has no condition {row.condition_id!r}"))
    else:
        names = [
            name
            for one in query.conditions
            if one.condition_id == row.condition_id
            for name in (one.name, one.raw_name, *one.aliases)
        ]
        found += [
            (
                "quote-too-short",
                f"{shown(repr(quote.quote))} has fewer than {MIN_WORDS} words, and no name of the condition",
            )
            for quote in row.quotes
            if is_short(quote.quote) and not _names(quote.quote, names)
        ]
    n_pages = known.n_pages.get(row.doc_id)
    if n_pages is None:
        found.append(("unknown-document", f"document {row.doc_id!r} is not in the benchmark's corpus"))
    elif beyond := [page for page in (*row.pages, *row.pages_shown) if page > n_pages]:
        found.append(("decision-page", f"{row.doc_id} has {n_pages} pages, not page {min(beyond)}"))
    return found


def _names(quote: str, names: Iterable[str]) -> bool:
    text = fold(matching_text(quote))
    return any(occurs(fold(matching_text(name)), text) for name in names)


def _check_quotes(rows: Sequence[tuple[int, Decision]], known: Known, path: Path, found: Findings) -> None:
    """Every quote stands on its page; each document is read once."""
    by_document: dict[str, list[tuple[int, Decision]]] = {}
    for line, row in rows:
        if row.quotes and row.doc_id in known.n_pages:
            by_document.setdefault(row.doc_id, []).append((line, row))
    for doc_id, of_document in sorted(by_document.items()):
        wanted = {quote.page for _, row in of_document for quote in row.quotes}
        texts = {
            page.page: page_readings(page, known.allowed_roles)
            for page in read_pages(known.build.page_file(doc_id))
            if page.page in wanted
        }
        for line, row in of_document:
            for quote in row.quotes:
                if quote.page in texts and not quote_stands(quote.quote, texts[quote.page]):
                    message = f"document {doc_id}, page {quote.page}: {shown(repr(quote.quote))}"
                    found.add("quote-not-on-page", message, path=str(path), line=line, id=row.decision_id)


def _check_conflicts(
    rows: Sequence[tuple[int, Decision]], applied: Sequence[Scoped], path: Path, found: Findings
) -> None:
    """On one condition in one document all decisions say the same, whatever they reach."""
    said: dict[tuple[str, str], tuple[Decision, str, str]] = {}
    for one in applied:
        place = (one.decision.condition_id, one.decision.doc_id)
        advice = "leave this one out, or take the applied one back (docs/repair.md)"
        said[place] = (one.decision, f"applied by P{one.version}", advice)
    for line, row in rows:
        here = (row, f"line {line}", "keep one of them")
        other, where, advice = said.setdefault((row.condition_id, row.doc_id), here)
        if other.present != row.present:
            words = {True: "present", False: "absent"}
            message = (
                f"{row.decision_id} says {words[row.present]}, {other.decision_id} ({where}) says "
                f"{words[other.present]} of {row.condition_id} in {row.doc_id}: {advice}"
            )
            found.add("decision-conflict", message, path=str(path), line=line, id=row.decision_id)
