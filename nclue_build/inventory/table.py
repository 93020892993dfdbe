"""The inventory in memory: evidence as compressed sparse rows of page numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.errors import DataError, Finding
from nclue_build.records.inventory import EvidenceRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

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
    level: str = "page"

    @classmethod
    def from_rows(
        cls, rows: Iterable[EvidenceRow], condition_ids: Sequence[str], document_ids: Sequence[str], level: str = "page"
    ) -> Inventory:
        """Build from evidence rows in any order.

        Raises:
            DataError: a row names an unknown condition or document, stands twice, or does not fit the level.
        """
        conditions = tuple(sorted(condition_ids))
        documents = tuple(sorted(document_ids))
        condition_index = {key: index for index, key in enumerate(conditions)}
        document_index = {key: index for index, key in enumerate(documents)}
        found: list[Finding] = []
        keyed: dict[tuple[int, int], EvidenceRow] = {}
        for row in rows:
            label = f"({row.condition_id}, {row.doc_id})"
            condition, document = condition_index.get(row.condition_id), document_index.get(row.doc_id)
            if condition is None or document is None:
                what = "condition" if condition is None else "document"
                found.append(Finding("dangling-id", f"evidence {label} names an unknown {what}", id=row.condition_id))
            elif (condition, document) in keyed:
                found.append(Finding("duplicate-evidence", f"evidence {label} stands twice", id=row.condition_id))
            elif (row.pages is None) != (level == "document"):
                found.append(Finding("wrong-level", f"evidence {label} does not fit a {level}-level inventory"))
            else:
                keyed[condition, document] = row
        if found:
            raise DataError.from_findings(found)
        ordered = sorted(keyed)
        lengths = [len(keyed[key].pages or ()) for key in ordered]
        return cls(
            condition_ids=conditions,
            document_ids=documents,
            condition_of=np.array([key[0] for key in ordered], dtype=np.int32),
            document_of=np.array([key[1] for key in ordered], dtype=np.int32),
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            pages=np.array([page for key in ordered for page in keyed[key].pages or ()], dtype=np.int32),
            mentions=np.array([count for key in ordered for count in keyed[key].mentions], dtype=np.int32),
            in_heading=np.array([flag for key in ordered for flag in keyed[key].in_heading], dtype=np.bool_),
            level=level,
        )

    @property
    def n_rows(self) -> int:
        """Number of non-empty (document, condition) pairs."""
        return len(self.condition_of)

    def rows(self) -> Iterator[EvidenceRow]:
        """Yield the evidence rows, sorted by (condition_id, doc_id)."""
        for row in range(self.n_rows):
            part = slice(int(self.starts[row]), int(self.starts[row + 1]))
            yield EvidenceRow(
                condition_id=self.condition_ids[self.condition_of[row]],
                doc_id=self.document_ids[self.document_of[row]],
                pages=tuple(self.pages[part].tolist()) if self.level == "page" else None,
                mentions=tuple(self.mentions[part].tolist()),
                in_heading=tuple(self.in_heading[part].tolist()),
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
        keys = conditions.astype(np.int64) * len(self.document_ids) + documents
        if not self.n_rows:
            return np.full(keys.shape, -1, dtype=np.int64)
        position = np.minimum(np.searchsorted(self._keys, keys), self.n_rows - 1)
        return np.where(self._keys[position] == keys, position, -1).astype(np.int64)

    def pages_of(self, row: int) -> tuple[int, ...]:
        """Pages of one row; empty for row -1 and in document-level inventories."""
        if row < 0:
            return ()
        return tuple(self.pages[self.starts[row] : self.starts[row + 1]].tolist())

    @cached_property
    def strong(self) -> NDArray[np.bool_]:
        """Per row: at least :data:`STRONG_MENTIONS` mentions in the document, or one in a heading.

        A passing mention makes a bad gold. Document-level rows count as strong: nothing is known of them.
        """
        if self.level == "document":
            return np.ones(self.n_rows, dtype=np.bool_)
        if not self.n_rows:
            return np.zeros(0, dtype=np.bool_)
        mentions = np.add.reduceat(self.mentions, self.starts[:-1])
        headings = np.logical_or.reduceat(self.in_heading, self.starts[:-1])
        return (mentions >= STRONG_MENTIONS) | headings
