from __future__ import annotations

import json
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
    with pytest.raises(DataError, match=r"documents_quality.jsonl:2: document.source: Field required"):
        benchmark_documents(path)
    with pytest.raises(DataError, match="file not found: run 'nclue-build extract' first"):
        benchmark_documents(tmp_path / "none.jsonl")


def test_white_space_in_the_json_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "documents_quality.jsonl"
    rows = [quality("a"), SourceQuality(source="s", n_documents=1, n_pages=1, pages_passed=1, passed=True)]
    path.write_text("".join(json.dumps(row.model_dump()) + "\n" for row in rows), encoding="utf-8")
    assert [row.doc_id for row in benchmark_documents(path)] == ["a"]


@pytest.mark.parametrize("row", ['{"kind":"other"}', '{"doc_id":"b"}', '{"kind":"source"}', "[]"])
def test_a_row_that_is_neither_kind_is_bad(tmp_path: Path, row: str) -> None:
    path = tmp_path / "documents_quality.jsonl"
    path.write_text(row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"documents_quality.jsonl:1: .*\[bad-record\]"):
        benchmark_documents(path)


def test_repeated_documents_are_reported_with_the_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "documents_quality.jsonl"
    write_jsonl(path, [quality("a"), quality("b"), quality("a", in_benchmark=False)])
    path.write_text(path.read_text() + "{}\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        benchmark_documents(path)
    assert {(finding.code, finding.line) for finding in caught.value.findings} == {
        ("duplicate-document", 3),
        ("bad-record", 4),
    }
