"""Runs as arrays, and the order of documents with equal scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from nclue_build.stats.judgments import GOLD

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ties = Literal["input", "trec", "worst", "expected"]
TIES: Final[tuple[Ties, ...]] = ("input", "trec", "worst", "expected")
ABSENT: Final = -1
"""In place of a document where a ranking has ended."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """What one system returned for every query, best first.

    Args:
        docs: int64, N x depth, in the order of the judgments' queries: codes of judged documents as there; any
            other document has a code of at least D (its own, or D for all); :data:`ABSENT` after the last.
        scores: float64, N x depth, never rising along a row; minus infinity where a document is absent.
        returned: bool, N: whether the run has the query at all.
    """

    docs: NDArray[np.int64]
    scores: NDArray[np.float64]
    returned: NDArray[np.bool_]

    def n_tied(self) -> NDArray[np.int64]:
        """Documents of each query that share their score with a neighbour."""
        same = (self.scores[:, 1:] == self.scores[:, :-1]) & (self.docs[:, 1:] != ABSENT)
        tied = np.zeros(self.docs.shape, dtype=np.bool_)
        tied[:, 1:] |= same
        tied[:, :-1] |= same
        return np.asarray(tied.sum(axis=1))


def rank(
    docs: NDArray[np.int64],
    scores: NDArray[np.float64],
    *,
    ties: Ties = "input",
    docno_ranks: NDArray[np.int64] | None = None,
    labels: NDArray[np.uint8] | None = None,
) -> Ranking:
    """Order documents by falling score.

    Args:
        docs: int64, N x depth, as in :class:`Ranking` but in the order of the run.
        scores: float64, N x depth, finite where there is a document.
        ties: How documents with equal scores follow each other. ``input``: as in the run (the study's rule).
            ``trec``: as trec_eval does, by falling document id after rounding scores to single precision.
            ``worst``: subsets first, golds last, which no other order can undercut on n-Clue Score, Gold Hit and
            Gold-NDCG. ``expected``: like ``input``; :mod:`nclue_build.stats.expected` averages over all orders.
        docno_ranks: For ``trec``: int64, rank of every document code in the byte order of ids.
        labels: For ``worst``: the table of :meth:`Judgments.labels`.
    """
    present = docs != ABSENT
    keyed = np.where(present, scores, -np.inf)
    if ties == "trec":
        if docno_ranks is None:
            raise ValueError("ties = trec needs docno_ranks")
        with np.errstate(over="ignore"):  # what is beyond single precision ties at infinity, as there
            keyed = keyed.astype(np.float32).astype(np.float64)
        second = np.where(present, -docno_ranks[docs], 0)
    elif ties == "worst":
        if labels is None:
            raise ValueError("ties = worst needs labels")
        found = look_up(labels, docs)
        second = np.where(found >= GOLD, 2, np.where(found > 0, 0, 1))
    elif bool(np.all(keyed[:, 1:] <= keyed[:, :-1])):  # in order as it is, as most runs are
        return Ranking(docs, keyed, present.any(axis=1))
    else:
        second = None
    order = np.argsort(-keyed, axis=1, kind="stable") if second is None else np.lexsort((second, -keyed), axis=1)
    docs, keyed = np.take_along_axis(docs, order, axis=1), np.take_along_axis(keyed, order, axis=1)
    return Ranking(docs, keyed, present.any(axis=1))


def look_up(labels: NDArray[np.uint8], docs: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Label of every place of a ranking; 0 for documents without a judgment and for absent ones.

    Args:
        labels: The table of :meth:`Judgments.labels`, N x (D + 1).
        docs: int64, N x anything.
    """
    width = labels.shape[1]
    # Read as unsigned, an absent document (-1) has the largest code of all.
    columns = np.minimum(docs.view(np.uint64), width - 1).view(np.int64)
    return np.asarray(labels.reshape(-1)[columns + width * np.arange(len(docs))[:, None]])
