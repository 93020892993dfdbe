"""All nonzero judgments of a benchmark as arrays; a pair that is not here has grade 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

GOLD: Final = 64
"""Added to the grade of a gold in a table of labels: one look-up tells both."""
GRADE_MASK: Final = GOLD - 1
_MAX_DENSE_CELLS: Final = 1 << 28


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Who is judged for which query, with which grade.

    Args:
        query_ids: Of the N queries, sorted; everything per query is in this order.
        doc_ids: Of the D documents judged for any query, sorted; a document's index here is its code.
        n: int64, N: number of conditions of each query.
        starts: int64, N + 1: the judgments of query ``q`` are ``starts[q]:starts[q + 1]``.
        docs: int64, code of each judged document, ascending within a query.
        grades: int8, at least 1.
        gold: bool.
    """

    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    n: NDArray[np.int64]
    starts: NDArray[np.int64]
    docs: NDArray[np.int64]
    grades: NDArray[np.int8]
    gold: NDArray[np.bool_]
    query_code: Mapping[str, int] = field(repr=False)
    doc_code: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, arity: Mapping[str, int], rows: Iterable[tuple[str, str, int, bool]]) -> Judgments:
        """Build from rows in any order.

        Args:
            arity: Number of conditions by query id: every query, also one without a row.
            rows: Query id, document id, grade (1 to 63) and whether it is a gold; no pair twice.

        Raises:
            ValueError: a row of a query that is not there, a pair that stands twice, a grade out of range.
        """
        query_ids = tuple(sorted(arity))
        query_code = {query_id: code for code, query_id in enumerate(query_ids)}
        listed = list(rows)
        doc_ids = tuple(sorted({row[1] for row in listed}))
        doc_code = {doc_id: code for code, doc_id in enumerate(doc_ids)}
        try:
            queries = np.array([query_code[row[0]] for row in listed], dtype=np.int64)
        except KeyError as error:
            raise ValueError(f"a judgment of an unknown query: {error.args[0]}") from None
        docs = np.array([doc_code[row[1]] for row in listed], dtype=np.int64)
        grades = np.array([row[2] for row in listed], dtype=np.int64)
        if len(grades) and not (grades.min() >= 1 and grades.max() <= GRADE_MASK):
            raise ValueError(f"grades must be from 1 to {GRADE_MASK}")
        order = np.lexsort((docs, queries))
        queries, docs = queries[order], docs[order]
        twice = np.flatnonzero((queries[1:] == queries[:-1]) & (docs[1:] == docs[:-1]))
        if len(twice):
            pair = f"({query_ids[queries[twice[0]]]}, {doc_ids[docs[twice[0]]]})"
            raise ValueError(f"judged twice: {pair}")
        return cls(
            query_ids,
            doc_ids,
            np.array([arity[query_id] for query_id in query_ids], dtype=np.int64),
            offsets(np.bincount(queries, minlength=len(query_ids))),
            docs,
            grades[order].astype(np.int8),
            np.array([row[3] for row in listed], dtype=np.bool_)[order],
            query_code,
            doc_code,
        )

    @property
    def queries(self) -> NDArray[np.int64]:
        """Query of every judgment."""
        return np.repeat(np.arange(len(self.query_ids)), np.diff(self.starts))

    def n_golds(self) -> NDArray[np.int64]:
        """Golds of each query."""
        return np.bincount(self.queries[self.gold], minlength=len(self.query_ids))

    def n_judged(self) -> NDArray[np.int64]:
        """Judged documents of each query, |D+|."""
        return np.diff(self.starts)

    def labels(self) -> NDArray[np.uint8]:
        """The table of labels: grade, plus 64 for a gold.

        Returns:
            uint8, N x (D + 1); the last column, of every document without a judgment, is 0.

        Raises:
            MemoryError: more than 2^28 cells.
        """
        shape = len(self.query_ids), len(self.doc_ids) + 1
        if shape[0] * shape[1] > _MAX_DENSE_CELLS:
            raise MemoryError(f"a table of {shape[0]} queries x {shape[1]} documents does not fit")
        table = np.zeros(shape, dtype=np.uint8)
        table[self.queries, self.docs] = self.grades.astype(np.uint8) + GOLD * self.gold.astype(np.uint8)
        return table

    def families(self) -> NDArray[np.int64]:
        """Exact families: queries with the same set of golds.

        Returns:
            int64, N: number of each query's family, in order of their first query (paper, section 2).
        """
        numbers: dict[bytes, int] = {}
        gold_docs = self.docs[self.gold]
        starts = offsets(self.n_golds())
        sets = (gold_docs[starts[q] : starts[q + 1]].tobytes() for q in range(len(self.query_ids)))
        return np.array([numbers.setdefault(key, len(numbers)) for key in sets], dtype=np.int64)

    def only(self, chosen: NDArray[np.bool_]) -> Judgments:
        """The judgments of some of the queries; documents keep their codes.

        Args:
            chosen: bool, N.
        """
        rows = np.repeat(chosen, np.diff(self.starts))
        query_ids = tuple(query_id for query_id, wanted in zip(self.query_ids, chosen.tolist(), strict=True) if wanted)
        return Judgments(
            query_ids,
            self.doc_ids,
            self.n[chosen],
            offsets(np.diff(self.starts)[chosen]),
            self.docs[rows],
            self.grades[rows],
            self.gold[rows],
            {query_id: code for code, query_id in enumerate(query_ids)},
            self.doc_code,
        )
