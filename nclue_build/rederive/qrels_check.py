"""Stored judgments, row by row, against the recomputed ones; quotes against their conditions and pages."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.findings import shown
from nclue_build.core.text import matching_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.base import Level
    from nclue_build.records.benchmark import Qrel, Query, Quote
    from nclue_build.rederive.documents import QuoteCheck
    from nclue_build.rederive.matching import Evidence, Judgment

MIN_QUOTE_LENGTH: Final = 40
"""Characters below which a quote of the rules shows its alias and nothing of what is said of it."""

Judged = dict[str, dict[str, "Judgment"]]
"""Recomputed judgments by query id and document id."""


DecidedPlace = tuple[str, str, int | None, str]
"""Condition id, document id, page and text of a quote that a decision rests on."""


class PlacedQuote(NamedTuple):
    """A quote and the judgment it belongs to."""

    line: int
    query_id: str
    doc_id: str
    quote: Quote


def compare_qrels(
    stored: Iterable[tuple[int, Qrel]], judged: Judged, documents: Collection[str], path: str, out: Findings
) -> None:
    """Compare every stored judgment with the recomputed one, field by field, and find missing and extra ones.

    Args:
        stored: Rows of qrels.jsonl with their lines.
        judged: The recomputed judgments.
        documents: Ids of the benchmark's corpus.
        path: Of qrels.jsonl, as shown.
        out: Takes what differs.
    """
    seen: set[tuple[str, str]] = set()
    n_stored = 0
    for line, qrel in stored:
        n_stored += 1
        key = (qrel.query_id, qrel.doc_id)
        if key in seen:
            message = f"document {qrel.doc_id}: judged twice"
            out.add("duplicate-qrel", message, path=path, line=line, id=qrel.query_id)
            continue
        seen.add(key)
        if qrel.query_id not in judged:
            out.add("unknown-query", "queries.jsonl does not have it", path=path, line=line, id=qrel.query_id)
        elif qrel.doc_id not in documents:
            message = f"query {qrel.query_id}: the document is not in the benchmark's corpus"
            out.add("unknown-document", message, path=path, line=line, id=qrel.doc_id)
        elif (expected := judged[qrel.query_id].get(qrel.doc_id)) is None:
            message = f"document {qrel.doc_id}: stored grade {qrel.grade}, recomputed 0"
            out.add("extra-qrel", message, path=path, line=line, id=qrel.query_id)
        else:
            _compare_row(qrel, line, expected, path, out)
    n_expected = sum(len(rows) for rows in judged.values())
    if n_stored != n_expected:
        message = f"rows: stored {n_stored}, sum of the unions {n_expected}"
        out.add("qrels-count-differs", message, path=path)
    for query_id, rows in judged.items():
        for doc_id, expected in rows.items():
            if (query_id, doc_id) not in seen:
                message = f"document {doc_id}: no row stored, recomputed grade {expected.grade}"
                out.add("missing-qrel", message, path=path, id=query_id)


def _compare_row(qrel: Qrel, line: int, expected: Judgment, path: str, out: Findings) -> None:
    violator = None if qrel.violator is None else (qrel.violator.conditions, qrel.violator.pages)
    for code, field, kept, wanted in (
        ("qrel-pages-differ", "pages", qrel.pages, expected.pages),
        ("qrel-clue-count-differs", "clue_count", qrel.clue_count, expected.clue_count),
        ("qrel-gate-differs", "gate", qrel.gate, expected.gate),
        ("qrel-gold-differs", "gold", qrel.gold, expected.gold),
        ("qrel-grade-differs", "grade", qrel.grade, expected.grade),
        ("qrel-witness-differs", "witness", qrel.witness, expected.witness),
        ("qrel-shared-pages-differ", "shared_pages", qrel.shared_pages, expected.shared_pages),
        ("qrel-violator-differs", "violator", violator, expected.violator and tuple(expected.violator)),
    ):
        if kept != wanted:
            message = f"document {qrel.doc_id}: {field} stored {shown(kept)}, recomputed {shown(wanted)}"
            out.add(code, message, path=path, line=line, id=qrel.query_id)
    if qrel.gold and expected.shared_pages:
        message = f"document {qrel.doc_id}: pages {shown(expected.shared_pages)} have every condition"
        out.add("single-page-gold", message, path=path, line=line, id=qrel.query_id)


def quotes_of(stored: Iterable[tuple[int, Qrel]]) -> Iterator[PlacedQuote]:
    """Every quote of every judgment, in file order."""
    for line, qrel in stored:
        for quote in qrel.evidence:
            yield PlacedQuote(line, qrel.query_id, qrel.doc_id, quote)


def check_quote_coverage(
    stored: Iterable[tuple[int, Qrel]],
    queries: Mapping[str, Query],
    composed: Judged,
    level: Level,
    path: str,
    out: Findings,
) -> None:
    """Check that quotes are about conditions of their query, and that golds have one for each.

    In document-level builds a gold without any quote was not judged, and needs none. A gold that a repair made needs
    quotes for what the repair changed: nobody read the rest.

    Args:
        stored: Rows of qrels.jsonl with their lines.
        queries: By id.
        composed: The judgments that follow from P0, of a repaired build; nothing of any other.
        level: Of the build.
        path: Of qrels.jsonl, as shown.
        out: Takes what is wrong.
    """
    for line, qrel in stored:
        query = queries.get(qrel.query_id)
        if query is None:
            continue
        ids = [condition.condition_id for condition in query.conditions]
        quoted = {quote.condition_id for quote in qrel.evidence}
        _check_quote_order(qrel, line, ids, path, out)
        for condition_id in sorted(quoted.difference(ids)):
            message = f"document {qrel.doc_id}: a quote is about {condition_id}"
            out.add("quote-of-other-condition", message, path=path, line=line, id=qrel.query_id)
        if qrel.gold and (quoted or level == "page"):
            before = composed.get(qrel.query_id, {}).get(qrel.doc_id)
            for index, condition_id in enumerate(ids):
                needed = before is None or before.gold or before.pages[index] != qrel.pages[index]
                if needed and condition_id not in quoted:
                    message = f"document {qrel.doc_id}: gold without a quote for {condition_id}"
                    out.add("missing-quote", message, path=path, line=line, id=qrel.query_id)


def _check_quote_order(qrel: Qrel, line: int, ids: Sequence[str], path: str, out: Findings) -> None:
    """Quotes stand in the order of the query's conditions, then of their pages, and none twice."""
    places = [
        (ids.index(quote.condition_id), quote.page or 0, quote.quote)
        for quote in qrel.evidence
        if quote.condition_id in ids
    ]
    for before, after in pairwise(places):
        if after == before:
            message = f"document {qrel.doc_id}: the quote for {ids[after[0]]} on page {after[1]} stands twice"
            out.add("duplicate-quote", message, path=path, line=line, id=qrel.query_id)
        elif after < before:
            message = f"document {qrel.doc_id}: quotes must stand in the order of the query's conditions"
            out.add("not-sorted", message, path=path, line=line, id=qrel.query_id)
            return


def report_quotes(  # noqa: PLR0913 - what was found, what it is held against, where it goes
    quotes: Sequence[PlacedQuote],
    checks: Mapping[int, QuoteCheck],
    seen_by: Callable[[str], Evidence],
    level: Level,
    path: str,
    out: Findings,
    *,
    decided: Collection[DecidedPlace] = (),
) -> None:
    """Turn what was found about each quote into differences.

    Args:
        quotes: All quotes.
        checks: By position in ``quotes``; a quote that is not there could not be looked up.
        seen_by: Gives P(d, c) as a query sees it.
        level: ``page`` or ``document``.
        path: Of qrels.jsonl, as shown.
        out: Takes what differs.
        decided: Quotes that people chose: they need neither an alias nor a length.
    """
    for index, (line, query_id, doc_id, quote) in enumerate(quotes):
        by_people = (quote.condition_id, doc_id, quote.page, quote.quote) in decided
        what = f"document {doc_id}, page {quote.page}, {quote.condition_id}: {shown(repr(quote.quote))}"
        if (quote.page is None) != (level == "document"):
            out.add("wrong-level", f"{what} in a {level}-level build", path=path, line=line, id=query_id)
            continue
        check = checks.get(index)
        if level == "page":
            if quote.page not in seen_by(query_id).get(quote.condition_id, {}).get(doc_id, ()):
                out.add("quote-page-differs", what, path=path, line=line, id=query_id)
            if check is None or not check.on_page:
                out.add("quote-not-on-page", what, path=path, line=line, id=query_id)
            elif (
                not by_people
                and quote.call_key is None
                and not check.is_block
                and len(matching_text(quote.quote)) < MIN_QUOTE_LENGTH
            ):
                message = f"{what} is a piece of fewer than {MIN_QUOTE_LENGTH} characters, and no whole block"
                out.add("quote-too-short", message, path=path, line=line, id=query_id)
        if check is not None and not check.has_alias and not by_people:
            out.add("quote-without-alias", what, path=path, line=line, id=query_id)
