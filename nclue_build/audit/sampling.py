"""Which pairs are audited: a stratified draw with its inclusion probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


class Candidate(NamedTuple):
    """A pair that may be drawn, and its stratum."""

    query_id: str
    doc_id: str
    stratum: str


class Drawn(NamedTuple):
    """A pair that was drawn, and how many of its stratum were."""

    candidate: Candidate
    drawn: int
    available: int


def draw(candidates: Sequence[Candidate], size: int, seed: int) -> list[Drawn]:
    """Draw pairs, as evenly over the strata as these allow, without replacement and in mixed order.

    Each stratum gets the same number; what a small one cannot give goes to the others. Within a stratum every pair
    has the same probability, drawn / available.

    Args:
        candidates: In any order.
        size: How many, at most.
        seed: Of the draw.
    """
    strata: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates):
        strata.setdefault(candidate.stratum, []).append(candidate)
    quota = dict.fromkeys(sorted(strata), 0)
    left = min(size, len(candidates))
    while left:
        for name in quota:
            if left and quota[name] < len(strata[name]):
                quota[name] += 1
                left -= 1
    random = np.random.Generator(np.random.PCG64(seed))
    found = [
        Drawn(strata[name][index], count, len(strata[name]))
        for name, count in quota.items()
        for index in sorted(random.permutation(len(strata[name]))[:count].tolist())
    ]
    return [found[index] for index in random.permutation(len(found)).tolist()]
