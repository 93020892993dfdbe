"""What extraction wrote, read back: page rows and completed corpus rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.records.corpus import CorpusRow, PageRow
from nclue_build.store.jsonl import read_jsonl, run_first

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_pages(path: Path) -> Iterator[PageRow]:
    """Yield the pages of one document, one in memory at a time.

    Raises:
        DataError: the file is missing, or with every bad row.
    """
    return read_jsonl(path, PageRow, advice=run_first("extract"))


def read_documents(path: Path) -> Iterator[CorpusRow]:
    """Yield the rows of ``documents.jsonl``.

    Raises:
        DataError: the file is missing, or with every bad row.
    """
    return read_jsonl(path, CorpusRow, advice=run_first("extract"))
