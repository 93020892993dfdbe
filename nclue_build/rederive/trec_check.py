"""What every TREC file of a benchmark must hold, and how it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.ids import page_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nclue_build.rederive.differences import Differences
    from nclue_build.rederive.matching import Judgment
    from nclue_build.rederive.qrels_check import Judged
    from nclue_build.store.trec import TrecQrel

QRELS: Final = "qrels.trec"
GOLD: Final = "qrels.gold.trec"
CONDITIONS: Final = "qrels.conditions.trec"
PAGES: Final = "qrels.pages.trec"
SPLITS: Final = (2, 3)
"""Numbers of conditions that have files of their own, in ``n2/`` and ``n3/``."""

RowKey = tuple[str, str, str]


def file_names() -> tuple[str, ...]:
    """Every TREC file of a benchmark, relative to its folder."""
    return (QRELS, GOLD, CONDITIONS, PAGES, *(f"n{n}/{name}" for n in SPLITS for name in (QRELS, GOLD)))


def expected_rows(name: str, judged: Judged, level: str) -> dict[RowKey, int]:
    """The rows a file must hold: (query, iteration, document) to grade.

    Args:
        name: One of :func:`file_names`.
        judged: The recomputed judgments.
        level: ``page`` or ``document``; without pages there are no judgments of pages.
    """
    folder, _, kind = name.rpartition("/")
    rows: dict[RowKey, int] = {}
    for query_id, documents in judged.items():
        for doc_id, judgment in documents.items():
            if folder and folder != f"n{len(judgment.pages)}":
                continue
            for iteration, trec_id, grade in _rows_of(kind, doc_id, judgment, level):
                rows[query_id, iteration, trec_id] = grade
    return rows


def _rows_of(kind: str, doc_id: str, judgment: Judgment, level: str) -> Iterator[tuple[str, str, int]]:
    if kind == QRELS:
        yield "0", doc_id, judgment.grade
    elif kind == GOLD:
        if judgment.gold:
            yield "0", doc_id, 1
    elif kind == CONDITIONS:
        for number in judgment.present:
            yield str(number), doc_id, 1
    elif level == "page":
        for page in sorted({page for pages in judgment.pages for page in pages}):
            yield "0", page_id(doc_id, page), sum(1 for pages in judgment.pages if page in pages)


def exact_line(row: TrecQrel) -> bytes:
    """The one way a row is written."""
    return f"{row.query_id} {row.iteration} {row.doc_id} {row.grade}".encode()


def compare_trec(
    rows: Iterable[tuple[int, TrecQrel]], expected: dict[RowKey, int], path: str, out: Differences
) -> None:
    """Compare the rows of one file, of which none repeats, with the expected ones."""
    missing = dict(expected)
    for line, row in rows:
        query_id, iteration, doc_id, grade = row
        wanted = missing.pop((query_id, iteration, doc_id), None)
        if wanted is None:
            message = f"({iteration}, {doc_id}) with grade {grade}: recomputed 0"
            out.add("extra-trec-row", message, path=path, line=line, id=query_id)
        elif grade != wanted:
            message = f"({iteration}, {doc_id}): stored {grade}, recomputed {wanted}"
            out.add("trec-grade-differs", message, path=path, line=line, id=query_id)
    for (query_id, iteration, doc_id), grade in missing.items():
        out.add("missing-trec-row", f"({iteration}, {doc_id}) with grade {grade}", path=path, id=query_id)
