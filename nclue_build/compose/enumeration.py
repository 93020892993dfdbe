"""Enumerate the conjunctions of two and three conditions that fulfil the requirements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.compose.candidates import Conjunctions, find_candidates
from nclue_build.compose.pairs import compatible_pairs
from nclue_build.compose.triples import propose_triples

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from nclue_build.compose.candidates import Candidates, Corpus
    from nclue_build.compose.relatedness import Relatedness
    from nclue_build.compose.requirements import Requirements

_TRIPLES_PER_CANDIDATE: Final = 16
"""Triples proposed for each candidate wanted, over all documents: most of them fail a requirement."""
_MIN_QUOTA: Final = 24


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All conjunctions found at one step of the relaxation ladder.

    Args:
        pairs: Conjunctions of two.
        triples: Conjunctions of three.
        counts: What was looked at and why it was dropped: ``pairs.<reason>``, ``n2.<reason>``, ``n3.<reason>``.
    """

    pairs: Candidates
    triples: Candidates
    counts: dict[str, int]

    def without(self, titles: NDArray[np.bool_]) -> Enumeration:
        """Only the conjunctions of no such condition; the others are counted as ``title_condition``."""
        kept = [
            found.take(np.flatnonzero(~titles[found.conditions].any(axis=1))) for found in (self.pairs, self.triples)
        ]
        counts = dict(self.counts)
        for n, before, after in zip(("n2", "n3"), (self.pairs, self.triples), kept, strict=True):
            counts[f"{n}.title_condition"] = len(before) - len(after)
            counts[f"{n}.found"] = len(after)
        return Enumeration(kept[0], kept[1], counts)


def enumerate_conjunctions(
    corpus: Corpus,
    keys: csr_array,
    relatedness: Relatedness,
    requirements: Requirements,
    n_candidates: int,
    seed: int,
) -> Enumeration:
    """Enumerate, in memory bounded by blocks and quotas, never looking at all triples.

    Args:
        corpus: Documents and P(d, c).
        keys: Content keys of the conditions.
        relatedness: Of the conditions.
        requirements: What to fulfil.
        n_candidates: Candidates wanted in the end; scales the quota of triples per document.
        seed: Of the choice among a document's triples.
    """
    inventory = corpus.inventory
    frequency = inventory.document_frequency
    table = compatible_pairs(inventory, keys, relatedness, requirements.relation)
    counts = {f"pairs.{reason}": count for reason, count in table.drops.items()}
    counts["pairs.compatible"] = len(table.keys)

    members = table.members()
    rare = table.n_shared <= requirements.max_golds + requirements.max_capped
    drops = {"too_many_shared": int((~rare).sum())}
    members = members[rare]
    pairs = find_candidates(
        corpus, Conjunctions(members, frequency[members].sum(axis=1), table.closeness[rare]), requirements, drops
    )
    counts |= {f"n2.{reason}": count for reason, count in drops.items()} | {"n2.found": len(pairs)}

    usable = corpus.gold_eligible[inventory.document_of]
    if requirements.max_weak == 0:
        usable &= corpus.topical
    quota = max(_MIN_QUOTA, -(-_TRIPLES_PER_CANDIDATE * n_candidates // max(len(inventory.document_ids), 1)))
    proposed = propose_triples(inventory, table, usable, quota, seed)
    sides = np.stack([table.find(proposed[:, a], proposed[:, b]) for a, b in ((0, 1), (0, 2), (1, 2))])
    union = frequency[proposed].sum(axis=1) - table.n_shared[sides].sum(axis=0)
    drops = {}
    triples = find_candidates(
        corpus, Conjunctions(proposed, union, table.closeness[sides].min(axis=0)), requirements, drops
    )
    counts |= {"n3.proposed": len(proposed)}
    counts |= {f"n3.{reason}": count for reason, count in drops.items()} | {"n3.found": len(triples)}
    return Enumeration(pairs, triples, counts)
