"""The benchmark's documents: the rows of ``documents_quality.jsonl`` that stay in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from nclue_build.core.errors import DataError, Finding
from nclue_build.records.corpus import DocumentQuality
from nclue_build.store.jsonl import iter_lines, validation_findings

if TYPE_CHECKING:
    from pathlib import Path

_DOCUMENT_ROW: Final = b'"kind":"document"'


def benchmark_documents(path: Path) -> list[DocumentQuality]:
    """Read the rows of the documents that take part from mining on.

    Args:
        path: ``documents_quality.jsonl``; its rows on sources are skipped.

    Returns:
        Rows with ``in_benchmark``, sorted by id.

    Raises:
        DataError: the file is missing, or with the line of every bad row.
    """
    rows: list[DocumentQuality] = []
    found: list[Finding] = []
    for number, line in iter_lines(path):
        if _DOCUMENT_ROW not in line:
            continue
        try:
            rows.append(DocumentQuality.model_validate_json(line))
        except ValidationError as error:
            found.extend(validation_findings(error, path, number, "bad-record"))
    if found:
        raise DataError.from_findings(found)
    return sorted((row for row in rows if row.in_benchmark), key=lambda row: row.doc_id)
