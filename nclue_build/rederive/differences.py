"""Differences between what is stored and what was recomputed: their codes, and the list of them."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_FINDINGS: Final = 1000
"""Findings that are kept in full; those beyond are counted by code only."""

CODES: Final[Mapping[str, str]] = MappingProxyType({
    # Files
    "file-missing": "A file that the build should have is not there.",
    "digest-differs": "A file no longer has the SHA-256 that another file of the build records for it.",
    "bad-record": "A row of a BEIR file does not hold what its format promises.",
    "bad-qrels-row": "A TREC row is not four fields with single spaces and an integer grade.",
    "byte-order-mark": "A TREC file starts with a byte order mark, which tools read as part of the first id.",
    "not-sorted": "The rows of a file are not in ascending order of their ids.",
    # Pages and inventory
    "page-rows-differ": "A page file does not hold the pages 1..n of its document, or n differs from the corpus rows.",
    "allowed-roles-differ": "version.json was made with other block roles than the configuration allows.",
    "text-version-differs": "version.json was made with other text rules than this program has.",
    "version-counts-differ": "A count in version.json is not what the files hold.",
    "bad-alias-form": "An alias is not normalised, or does not start and end with a word character.",
    "shared-alias": "Two conditions have the same alias, so their pages cannot be told apart.",
    "duplicate-alias": "A condition lists the same alias twice.",
    "duplicate-document": "Two rows have the same document id.",
    "duplicate-condition": "Two conditions have the same id.",
    "duplicate-evidence": "Two evidence rows are about the same condition and document.",
    "unknown-condition": "A row names a condition that conditions.jsonl does not have.",
    "unknown-document": "A row names a document that is not in the benchmark's corpus.",
    "unknown-query": "A row names a query that queries.jsonl does not have.",
    "wrong-level": "A row has pages in a document-level build, or none in a page-level build.",
    "missing-evidence": "A condition occurs in a document, and evidence.jsonl has no row for it.",
    "extra-evidence": "evidence.jsonl has a row for a condition that does not occur in the document.",
    "evidence-pages-differ": "The pages of an evidence row are not the pages where its condition occurs.",
    "evidence-mentions-differ": "The mentions of an evidence row are not the number of occurrences on its pages.",
    "evidence-headings-differ": "The heading marks of an evidence row are not where its condition occurs in titles.",
    "condition-frequency-differs": "A condition's document or page frequency is not what its evidence gives.",
    "alias-frequency-differs": "An alias's document or page frequency is not where it occurs.",
    # Queries
    "duplicate-query": "Two queries have the same id.",
    "query-id-differs": "A query id is not the digest of the query's condition ids.",
    "query-id-clash": "A query has the id of a document.",
    "query-conditions-differ": "The conditions of a query repeat, or are not in ascending order of their ids.",
    "query-names-differ": "A name or the aliases of a query's condition are not those of conditions.jsonl.",
    "form-without-concept": "A form of a query does not hold one of its concepts verbatim.",
    "query-golds-differ": "The golds of a query are not the documents that pass the gate, in order.",
    "query-judged-differs": "n_judged of a query is not the number of documents with one of its conditions.",
    "query-strata-differ": "The strata of a query are not those of its golds and judged documents.",
    "query-without-gold": "No document passes the gate for a query.",
    "ineligible-gold": "A gold is a document that documents_quality.jsonl excludes from being one.",
    "query-without-rows": "No document has any condition of a query.",
    # Judgments
    "duplicate-qrel": "A query and document are judged twice in one file.",
    "missing-qrel": "A document has conditions of a query, and the qrels do not say so.",
    "extra-qrel": "The qrels judge a document that has no condition of the query.",
    "qrels-count-differs": "The number of qrels is not the sum over queries of the documents with a condition.",
    "qrel-pages-differ": "The pages of a judgment are not P(d, c) of the query's conditions.",
    "qrel-clue-count-differs": "The clue count of a judgment is not the number of conditions in the document.",
    "qrel-gate-differs": "The gate outcome of a judgment is not what its pages give.",
    "qrel-gold-differs": "A judgment says gold where the gate fails, or the reverse.",
    "qrel-grade-differs": "The grade of a judgment is not its clue count, capped where the gate fails.",
    "qrel-witness-differs": "The witness of a judgment is not the smallest assignment of distinct pages.",
    "qrel-shared-pages-differ": "The shared pages of a judgment are not those with every condition.",
    "qrel-violator-differs": "The violator of a judgment is not the first smallest Hall set.",
    "single-page-gold": "A stored gold has a page with every condition of the query.",
    "meta-differs": "qrels.meta.json does not say what the qrels hold or were made from.",
    # Quotes
    "quote-not-on-page": "A quote does not stand in an allowed block of the page it names.",
    "quote-page-differs": "A quote names a page that does not establish its condition.",
    "quote-without-alias": "A quote does not hold any alias of its condition.",
    "quote-of-other-condition": "A quote is about a condition that the query does not have.",
    "missing-quote": "A gold has no quote for one of the query's conditions.",
    # TREC and BEIR
    "missing-trec-row": "A row is missing from a TREC file.",
    "extra-trec-row": "A TREC file has a row that should not be there.",
    "trec-grade-differs": "The grade of a TREC row is not the recomputed one.",
    "beir-corpus-differs": "The documents of the BEIR folder are not those of the benchmark.",
    "beir-queries-differ": "The queries of the BEIR folder are not those of the benchmark.",
    "beir-qrels-differ": "The judgments of the BEIR folder are not those of the benchmark.",
})  # fmt: skip
"""Every code a gate finding can have, and what it means in one line."""

_SHOWN: Final = 200


def shown(value: object) -> str:
    """A value as a message shows it: cut where a long document would fill screens with page numbers."""
    text = str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class Differences:
    """Collects findings: all are counted, the first :data:`MAX_FINDINGS` are kept."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self._counts: Counter[str] = Counter()

    def add(
        self,
        code: str,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        id: str | None = None,  # noqa: A002 - the name of the finding's field
    ) -> None:
        """Record one difference.

        Raises:
            KeyError: the code is not in :data:`CODES`.
        """
        CODES[code]
        self._counts[code] += 1
        if len(self.kept) < MAX_FINDINGS:
            self.kept.append(Finding(code, message, path, line, id))

    @property
    def total(self) -> int:
        """Number of differences, kept or not."""
        return self._counts.total()

    @property
    def by_code(self) -> dict[str, int]:
        """Number of differences of every code that occurred, sorted by code."""
        return dict(sorted(self._counts.items()))
