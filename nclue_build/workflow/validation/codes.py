"""What can be found, by its stable code. Codes that ``gate`` has too mean the same there."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Corpus
        "corpus-missing": "The corpus file or the folder of PDFs is not there, or lists nothing.",
        "not-fetched": "A corpus row has no file yet.",
        "size-differs": "A PDF does not have the size that is listed for it.",
        # Every file
        "file-missing": "A file that the build should have is not there.",
        "bad-record": "A row or file does not fit its schema.",
        "byte-order-mark": "A file starts with a byte order mark.",
        "bad-qrels-row": "A TREC row is not four fields with an integer grade.",
        "digest-differs": "A file does not have the SHA-256 that another file records for it.",
        # Ids
        "duplicate-id": "Two rows of a file have the same id.",
        "duplicate-document": "Two rows have the same document id.",
        "duplicate-condition": "Two conditions have the same id.",
        "duplicate-evidence": "Two evidence rows are about the same condition and document.",
        "duplicate-query": "Two queries have the same id.",
        "duplicate-qrel": "A query and document are judged twice in one file.",
        "unknown-document": "A row names a document that is not in the benchmark's corpus.",
        "unknown-condition": "A row names a condition that does not exist there.",
        "unknown-query": "A row names a query that queries.jsonl does not have.",
        "query-id-clash": "A query has the id of a document.",
        # Shapes that one row alone does not show
        "page-rows-differ": "A page file does not hold the pages 1..n of its document.",
        "qrel-pages-differ": "The page lists of a judgment are not one per condition of its query.",
        # Receipts
        "output-altered": "A file is not what its stage wrote.",
        "output-missing": "A file that a stage wrote is gone.",
        "stale-stage": "Inputs, settings or rules of a stage changed since it ran.",
    }
)
