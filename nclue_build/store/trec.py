"""TREC qrels files: ``qid iteration docid grade``, single spaces, unique pairs, integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.errors import DataError, Finding
from nclue_build.store.atomic import atomic_writer
from nclue_build.store.jsonl import iter_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_COLUMNS = 4


class TrecQrel(NamedTuple):
    """A row of a qrels file; ``iteration`` is ``0`` or a 1-based subtopic."""

    query_id: str
    iteration: str
    doc_id: str
    grade: int


def write_trec_qrels(path: Path, rows: Iterable[TrecQrel]) -> int:
    """Write rows in the order given, atomically; returns how many."""
    count = 0
    with atomic_writer(path) as stream:
        for query_id, iteration, doc_id, grade in rows:
            stream.write(f"{query_id} {iteration} {doc_id} {grade}\n".encode())
            count += 1
    return count


def read_trec_qrels(path: Path) -> list[TrecQrel]:
    """Read a qrels file strictly.

    Raises:
        DataError: with the line of every row that is not four fields, has a grade that is no
            integer, or repeats a (query, iteration, document).
    """
    rows: list[TrecQrel] = []
    found: list[Finding] = []
    seen: set[tuple[str, str, str]] = set()
    for number, line in iter_lines(path):
        parts = line.decode("utf-8", "replace").split()
        if len(parts) != _COLUMNS:
            found.append(Finding("bad-qrels-row", f"expected 4 fields, found {len(parts)}", str(path), number))
            continue
        query_id, iteration, doc_id, grade = parts
        if not grade.lstrip("-").isdecimal():
            found.append(Finding("bad-qrels-row", f"grade {grade!r} is no integer", str(path), number))
            continue
        if (query_id, iteration, doc_id) in seen:
            found.append(Finding("duplicate-qrel", f"({query_id}, {doc_id}) stands twice", str(path), number))
            continue
        seen.add((query_id, iteration, doc_id))
        rows.append(TrecQrel(query_id, iteration, doc_id, int(grade)))
    if found:
        raise DataError.from_findings(found)
    return rows
