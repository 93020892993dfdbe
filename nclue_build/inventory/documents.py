"""The benchmark's documents: the rows of ``documents_quality.jsonl`` that stay in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings
from nclue_build.records.corpus import QUALITY_ROW, DocumentQuality
from nclue_build.store.jsonl import read_numbered, run_first

if TYPE_CHECKING:
    from pathlib import Path


def benchmark_documents(path: Path) -> list[DocumentQuality]:
    """Read the rows of the documents that take part from mining on.

    Args:
        path: ``documents_quality.jsonl``; its rows on sources are skipped.

    Returns:
        Rows with ``in_benchmark``, sorted by id.

    Raises:
        DataError: the file is missing, or with the line of every bad row and repeated id.
    """
    found = Findings()
    rows: dict[str, DocumentQuality] = {}
    first_line: dict[str, int] = {}
    for line, row in read_numbered(path, QUALITY_ROW, found=found, advice=run_first("extract")):
        if not isinstance(row, DocumentQuality):
            continue
        if (first := first_line.setdefault(row.doc_id, line)) != line:
            message = f"doc_id {row.doc_id!r} stands twice (first in line {first})"
            found.add("duplicate-document", message, path=str(path), line=line, id=row.doc_id)
        rows[row.doc_id] = row
    found.raise_any()
    return [rows[doc_id] for doc_id in sorted(rows) if rows[doc_id].in_benchmark]


def count_benchmark_documents(path: Path) -> int:
    """Number of the benchmark's documents, on which some defaults depend; 0 where the file cannot be read (yet)."""
    try:
        return len(benchmark_documents(path))
    except DataError:
        return 0
