from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import DataError
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.records.corpus import DocumentQuality, SourceQuality
from nclue_build.store.jsonl import write_jsonl

if TYPE_CHECKING:
    from pathlib import Path


def quality(doc_id: str, *, in_benchmark: bool = True) -> DocumentQuality:
    return DocumentQuality(
        doc_id=doc_id, source="s", status="ok", n_pages=1, pages_ok=1, pages_empty=0, pages_failed=0, n_words=1,
        language="en", flags=(), in_benchmark=in_benchmark, gold_eligible=True,
        removed=None if in_benchmark else "duplicate", message=None,
    )  # fmt: skip


def test_documents_of_the_benchmark_in_order(tmp_path: Path) -> None:
    path = tmp_path / "documents_quality.jsonl"
    source = SourceQuality(source="s", n_documents=3, n_pages=3, pages_passed=3, passed=True)
    write_jsonl(path, [quality("b"), quality("c", in_benchmark=False), source, quality("a")])
    assert [row.doc_id for row in benchmark_documents(path)] == ["a", "b"]


def test_bad_rows_are_reported_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "documents_quality.jsonl"
    write_jsonl(path, [quality("a")])
    path.write_text(path.read_text() + '{"kind":"document","doc_id":"b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"documents_quality.jsonl:2: source: Field required"):
        benchmark_documents(path)
    with pytest.raises(DataError, match="file not found"):
        benchmark_documents(tmp_path / "none.jsonl")
