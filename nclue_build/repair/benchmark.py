"""Queries under another inventory: golds, quotes, and which queries are left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.records.benchmark import Quote, Strata

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.inventory.decided import Scoped
    from nclue_build.records.benchmark import Qrel, Query
    from nclue_build.records.corpus import DocumentQuality
    from nclue_build.records.repair import Decision

Pair = tuple[str, str]
"""Query id, document id."""
Place = tuple[str, str]
"""Condition id, document id."""


class Quotes(NamedTuple):
    """What can be quoted of a condition in a document.

    Args:
        judged: By pair: what the item judge quoted when the query was composed.
        decided: By condition and document: what positive decisions quote.
    """

    judged: Mapping[Pair, tuple[Quote, ...]]
    decided: Mapping[Place, tuple[Quote, ...]]


def collect_quotes(qrels: Iterable[Qrel], decisions: Iterable[Scoped]) -> Quotes:
    """Quotes of the composed benchmark and of all decisions."""
    judged = {(row.query_id, row.doc_id): row.evidence for row in qrels if row.evidence}
    decided: dict[Place, set[tuple[int, str]]] = {}
    for decision in (one.decision for one in decisions):
        place = decided.setdefault((decision.condition_id, decision.doc_id), set())
        place.update((quote.page, quote.quote) for quote in decision.quotes)
    return Quotes(
        judged,
        {
            key: tuple(Quote(condition_id=key[0], page=page, quote=text) for page, text in sorted(places))
            for key, places in decided.items()
        },
    )


def evidence_of(query: Query, qrel: Qrel, quotes: Quotes, own: Sequence[Decision]) -> tuple[Quote, ...]:
    """The quotes of one judgment under the new inventory.

    Those of the item judge stay where their page still counts. A gold, and a pair that a decision is about, also has
    those of the decisions on its conditions. A condition that was never quoted for the pair has none: nobody read it.

    Args:
        query: The query.
        qrel: The judgment, without quotes.
        quotes: Everything there is to quote.
        own: Decisions on this very pair.
    """
    kept: dict[tuple[int, int, str], str | None] = {}
    places = [condition.condition_id for condition in query.conditions]
    audited = {decision.condition_id for decision in own}
    for index, condition_id in enumerate(places):
        if qrel.gold or condition_id in audited:
            for quote in quotes.decided.get((condition_id, qrel.doc_id), ()):
                kept[index, quote.page or 0, quote.quote] = None
    for quote in quotes.judged.get((query.query_id, qrel.doc_id), ()):
        kept[places.index(quote.condition_id), quote.page or 0, quote.quote] = quote.call_key
    return tuple(
        Quote(condition_id=places[index], page=page, quote=text, call_key=call_key)
        for (index, page, text), call_key in sorted(kept.items())
        if page in qrel.pages[index]
    )


def regraded(query: Query, qrels: Sequence[Qrel], documents: Mapping[str, DocumentQuality]) -> Query | None:
    """A query with the golds and strata of its new judgments; None where it has no gold left."""
    golds = tuple(row.doc_id for row in qrels if row.gold)
    if not golds:
        return None
    facts = [documents[doc_id] for doc_id in golds]
    return query.model_copy(
        update={
            "golds": golds,
            "n_judged": len(qrels),
            "strata": Strata(
                l_min=min(row.n_pages for row in facts),
                d_plus=len(qrels),
                sources=tuple(sorted({row.source for row in facts})),
            ),
        }
    )
