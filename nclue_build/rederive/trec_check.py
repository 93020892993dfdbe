"""What every TREC file of a benchmark must hold, and how it differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nclue_build.core.ids import page_id
from nclue_build.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nclue_build.core.findings import Findings
    from nclue_build.records.base import Level
    from nclue_build.rederive.matching import Judgment
    from nclue_build.rederive.qrels_check import Judged
    from nclue_build.store.trec import TrecQrel

RowKey = tuple[str, str, str]
ReadRows = Callable[[str], "Iterable[tuple[int, TrecQrel]] | None"]
"""Gives the rows of a file of the benchmark with their lines; None when there is no such file."""


def compare_files(
    read: ReadRows, shown_path: Callable[[str], str], judged: Judged, level: Level, out: Findings
) -> None:
    """Compare every TREC file of a benchmark with the recomputed judgments.

    Args:
        read: Gives the rows of a file.
        shown_path: Gives a file's path, as shown.
        judged: The recomputed judgments.
        level: Of the build.
        out: Takes what differs.
    """
    for name in layout.TREC_FILES:
        rows = read(name)
        if rows is None:
            out.add("file-missing", "file not found: run 'nclue-build compose' again", path=shown_path(name))
        else:
            compare_rows(rows, expected_rows(name, judged, level), shown_path(name), out)


def expected_rows(name: str, judged: Judged, level: Level) -> dict[RowKey, int]:
    """The rows a file must hold: (query, iteration, document) to grade.

    Args:
        name: One of :data:`~nclue_build.store.layout.TREC_FILES`.
        judged: The recomputed judgments.
        level: Of the build; without pages there are no judgments of pages.

    Returns:
        In the order in which the file must have them.
    """
    folder, _, kind = name.rpartition("/")
    rows: dict[RowKey, int] = {}
    for query_id, documents in sorted(judged.items()):
        for doc_id, judgment in documents.items():
            if folder and folder != f"n{len(judgment.pages)}":
                continue
            for iteration, trec_id, grade in _rows_of(kind, doc_id, judgment, level):
                rows[query_id, iteration, trec_id] = grade
    return rows


def _rows_of(kind: str, doc_id: str, judgment: Judgment, level: Level) -> Iterator[tuple[str, str, int]]:
    if kind == layout.TREC:
        yield "0", doc_id, judgment.grade
    elif kind == layout.TREC_GOLD:
        if judgment.gold:
            yield "0", doc_id, 1
    elif kind == layout.TREC_CONDITIONS:
        for number in judgment.present:
            yield str(number), doc_id, 1
    elif level == "page":
        for page in sorted({page for pages in judgment.pages for page in pages}):
            yield "0", page_id(doc_id, page), sum(1 for pages in judgment.pages if page in pages)


def compare_rows(rows: Iterable[tuple[int, TrecQrel]], expected: dict[RowKey, int], path: str, out: Findings) -> None:
    """Compare the rows of one file, of which none repeats, with the expected ones."""
    missing = dict(expected)
    rank = {key: number for number, key in enumerate(expected)}
    highest: int | None = -1
    for line, row in rows:
        query_id, iteration, doc_id, grade = row
        key = (query_id, iteration, doc_id)
        wanted = missing.pop(key, None)
        if wanted is None:
            message = f"({iteration}, {doc_id}) with grade {grade}: recomputed 0"
            out.add("extra-trec-row", message, path=path, line=line, id=query_id)
            continue
        if grade != wanted:
            message = f"({iteration}, {doc_id}): stored {grade}, recomputed {wanted}"
            out.add("trec-grade-differs", message, path=path, line=line, id=query_id)
        if highest is not None and rank[key] < highest:
            out.add("not-sorted", f"({iteration}, {doc_id}) comes too late", path=path, line=line, id=query_id)
            highest = None  # one is enough
        elif highest is not None:
            highest = rank[key]
    for (query_id, iteration, doc_id), grade in missing.items():
        out.add("missing-trec-row", f"({iteration}, {doc_id}) with grade {grade}", path=path, id=query_id)
