"""The inventory in memory: evidence as compressed sparse rows of page numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.arrays import find_sorted, offsets, ranges
from nclue_build.core.findings import Findings
from nclue_build.records.inventory import EvidenceRow
from nclue_build.store.evidence import EvidenceColumns, columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.records.base import Level

STRONG_MENTIONS = 3
"""Mentions in a document from which a condition counts as strong there without a heading."""


@dataclass(frozen=True, eq=False)
class Inventory:
    """All P(d, c) of one version.

    Row ``r`` is the non-empty evidence of condition ``condition_of[r]`` in document ``document_of[r]``:
    pages ``pages[starts[r]:starts[r + 1]]`` (1-based, ascending), with ``mentions`` and ``in_heading``
    parallel to ``pages``. Rows are sorted by (condition, document). In a document-level inventory
    (``level = "document"``) every row is present and has no pages.

    Args:
        condition_ids: Sorted ids; ``condition_of`` indexes them.
        document_ids: Sorted ids of *all* documents of the benchmark's corpus; ``document_of`` indexes them.
        condition_of: int32, one per row.
        document_of: int32, one per row.
        starts: int64, rows + 1.
        pages: int32.
        mentions: int32, parallel to pages.
        in_heading: bool, parallel to pages.
        level: ``page`` or ``document``.
    """

    condition_ids: tuple[str, ...]
    document_ids: tuple[str, ...]
    condition_of: NDArray[np.int32]
    document_of: NDArray[np.int32]
    starts: NDArray[np.int64]
    pages: NDArray[np.int32]
    mentions: NDArray[np.int32]
    in_heading: NDArray[np.bool_]
    level: Level = "page"

    @classmethod
    def from_columns(
        cls,
        columns: EvidenceColumns,
        condition_ids: Sequence[str],
        document_ids: Sequence[str],
        level: Level = "page",
        *,
        path: str | None = None,
        found: Findings | None = None,
    ) -> Inventory:
        """Build from evidence rows in any order.

        Args:
            columns: The rows, each one good for itself.
            condition_ids: Of the inventory, in any order.
            document_ids: All documents of the benchmark's corpus, in any order.
            level: Of the inventory.
            path: File the rows come from, for messages; without it no lines are named.
            found: What is wrong with the file already.

        Raises:
            DataError: with everything in ``found``, and every row that names an unknown condition or document, stands
                twice, or does not fit the level.
        """
        conditions, documents = tuple(sorted(condition_ids)), tuple(sorted(document_ids))
        wrong = Findings() if found is None else found
        condition, document, order = place_rows(columns, conditions, documents, level, wrong, path)
        wrong.raise_any()
        lengths = np.diff(columns.starts)[order]
        flat = ranges(columns.starts[order], lengths)
        return cls(
            condition_ids=conditions,
            document_ids=documents,
            condition_of=condition[order],
            document_of=document[order],
            starts=offsets(lengths),
            pages=columns.pages[flat],
            mentions=columns.mentions[flat],
            in_heading=columns.in_heading[flat],
            level=level,
        )

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[EvidenceRow],
        condition_ids: Sequence[str],
        document_ids: Sequence[str],
        level: Level = "page",
    ) -> Inventory:
        """Build from evidence records in any order.

        Raises:
            DataError: as :meth:`from_columns`.
        """
        return cls.from_columns(columns_of(rows), condition_ids, document_ids, level)

    def replaced(self, changes: Mapping[tuple[str, str], EvidenceRow | None]) -> Inventory:
        """A copy in which some P(d, c) are others.

        Args:
            changes: By (condition id, document id), both known here: the new row, None where P(d, c) is to be empty.
        """
        condition = {key: index for index, key in enumerate(self.condition_ids)}
        document = {key: index for index, key in enumerate(self.document_ids)}
        kept = np.ones(self.n_rows, dtype=np.bool_)
        places = [(condition[condition_id], document[doc_id]) for condition_id, doc_id in changes]
        if places:
            rows = self.find(*np.array(places, dtype=np.int64).T)
            kept[rows[rows >= 0]] = False
        added = columns_of(row for row in changes.values() if row is not None)
        lengths = np.diff(self.starts)[kept]
        flat = ranges(self.starts[:-1][kept], lengths)
        new_conditions = np.array([condition[key] for key in added.condition_ids], dtype=np.int32)
        new_documents = np.array([document[key] for key in added.document_ids], dtype=np.int32)
        condition_of = np.concatenate([self.condition_of[kept], new_conditions[added.condition_of]])
        columns = EvidenceColumns(
            condition_ids=self.condition_ids,
            document_ids=self.document_ids,
            condition_of=condition_of,
            document_of=np.concatenate([self.document_of[kept], new_documents[added.document_of]]),
            starts=offsets(np.concatenate([lengths, np.diff(added.starts)])),
            pages=np.concatenate([self.pages[flat], added.pages]),
            mentions=np.concatenate([self.mentions[flat], added.mentions]),
            in_heading=np.concatenate([self.in_heading[flat], added.in_heading]),
            has_pages=np.full(len(condition_of), self.level == "page"),
            lines=np.arange(1, len(condition_of) + 1, dtype=np.int64),
        )
        return Inventory.from_columns(columns, self.condition_ids, self.document_ids, self.level)

    @property
    def n_rows(self) -> int:
        """Number of non-empty (document, condition) pairs."""
        return len(self.condition_of)

    def columns(self) -> EvidenceColumns:
        """The rows as ``evidence.jsonl`` holds them, sorted by (condition_id, doc_id)."""
        return EvidenceColumns(
            condition_ids=self.condition_ids,
            document_ids=self.document_ids,
            condition_of=self.condition_of,
            document_of=self.document_of,
            starts=self.starts,
            pages=self.pages,
            mentions=self.mentions,
            in_heading=self.in_heading,
            has_pages=np.full(self.n_rows, self.level == "page"),
            lines=np.arange(1, self.n_rows + 1, dtype=np.int64),
        )

    def rows(self) -> Iterator[EvidenceRow]:
        """Yield the evidence records, sorted by (condition_id, doc_id)."""
        for item in self.columns().items():
            yield EvidenceRow(
                condition_id=item.condition_id,
                doc_id=item.doc_id,
                pages=item.pages,
                mentions=item.mentions,
                in_heading=item.in_heading,
            )

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        return self.condition_of.astype(np.int64) * len(self.document_ids) + self.document_of

    def find(self, conditions: NDArray[np.integer], documents: NDArray[np.integer]) -> NDArray[np.int64]:
        """Row of each (condition, document) index pair, -1 where P(d, c) is empty.

        Args:
            conditions: Condition indices, any shape (broadcast against ``documents``).
            documents: Document indices.

        Returns:
            int64 array of the broadcast shape.
        """
        return find_sorted(self._keys, conditions.astype(np.int64) * len(self.document_ids) + documents)

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """Where the rows of each condition begin, and where those of the last one end: int64, conditions + 1."""
        return np.searchsorted(self.condition_of, np.arange(len(self.condition_ids) + 1)).astype(np.int64)

    def postings(self, condition: int) -> NDArray[np.int32]:
        """Indices of the documents that have a condition, ascending."""
        return self.document_of[self.first_rows[condition] : self.first_rows[condition + 1]]

    @cached_property
    def document_frequency(self) -> NDArray[np.int64]:
        """Per condition: the number of documents that have it."""
        return np.diff(self.first_rows)

    @cached_property
    def page_frequency(self) -> NDArray[np.int64]:
        """Per condition: the number of pages that establish it; 0 in document-level inventories."""
        return np.diff(self.starts[self.first_rows])

    def incidence(self) -> csr_array:
        """Which document has which condition.

        Returns:
            int32, conditions x documents, 1 where P(d, c) is not empty.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

        ones = np.ones(self.n_rows, dtype=np.int32)
        shape = (len(self.condition_ids), len(self.document_ids))
        return csr_array((ones, self.document_of, self.first_rows), shape=shape)

    def pages_of(self, row: int) -> tuple[int, ...]:
        """Pages of one row; empty for row -1 and in document-level inventories."""
        if row < 0:
            return ()
        return tuple(self.pages[self.starts[row] : self.starts[row + 1]].tolist())

    @cached_property
    def strong(self) -> NDArray[np.bool_]:
        """Per row whether it is strong (:func:`strong_rows`).

        Document-level rows count as strong: nothing is known of them.
        """
        if self.level == "document":
            return np.ones(self.n_rows, dtype=np.bool_)
        return strong_rows(self.starts[:-1], self.mentions, self.in_heading)


def strong_rows(
    begins: NDArray[np.integer], mentions: NDArray[np.integer], in_heading: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether a condition is more than mentioned in passing in a document; a passing mention makes a bad gold.

    Strong are :data:`STRONG_MENTIONS` mentions in the document, or one in a heading.

    Args:
        begins: Where the pages of each row (condition and document) begin; no row is empty.
        mentions: One per page.
        in_heading: One per page.

    Returns:
        One per row.
    """
    if not len(begins):
        return np.zeros(0, dtype=np.bool_)
    return (np.add.reduceat(mentions, begins) >= STRONG_MENTIONS) | np.logical_or.reduceat(in_heading, begins)


def place_rows(
    columns: EvidenceColumns,
    condition_ids: Sequence[str],
    document_ids: Sequence[str],
    level: Level,
    found: Findings,
    path: str | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Find the condition and document of every row among those there are.

    Args:
        columns: The rows, each one good for itself.
        condition_ids: Ascending.
        document_ids: Ascending.
        level: Of the inventory.
        found: Takes every row that names an unknown condition or document, stands twice, or does not fit the level.
        path: File the rows come from, for messages; without it no lines are named.

    Returns:
        Per row the position of its condition and of its document (-1 where unknown), and the order of the rows
        by condition and document.
    """
    condition = _positions(columns.condition_ids, condition_ids)[columns.condition_of]
    document = _positions(columns.document_ids, document_ids)[columns.document_of]
    known = (condition >= 0) & (document >= 0)
    keys = np.where(known, condition.astype(np.int64) * len(document_ids) + document, -1)
    order = np.argsort(keys, kind="stable")
    repeated = np.zeros(columns.n_rows, dtype=np.bool_)
    repeated[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    checks = (
        ("unknown-condition", "names an unknown condition", condition < 0),
        ("unknown-document", "names a document that is not in the benchmark's corpus", document < 0),
        ("duplicate-evidence", "stands twice", repeated),
        ("wrong-level", f"does not fit a {level}-level inventory", columns.has_pages != (level == "page")),
    )
    for row in np.flatnonzero(np.logical_or.reduce([mask for *_, mask in checks])).tolist():
        code, what = next((code, what) for code, what, mask in checks if mask[row])
        key = columns.condition_ids[columns.condition_of[row]]
        doc_id = columns.document_ids[columns.document_of[row]]
        line = None if path is None else int(columns.lines[row])
        found.add(code, f"evidence ({key}, {doc_id}) {what}", path=path, line=line, id=key)
    return condition, document, order


def _positions(ids: Sequence[str], known: Sequence[str]) -> NDArray[np.int32]:
    """Position of each id among the known ones, -1 where it is unknown."""
    position = {key: index for index, key in enumerate(known)}
    return np.array([position.get(key, -1) for key in ids], dtype=np.int32)
