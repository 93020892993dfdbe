"""Groups of documents that are the same: by bytes, by text, nearly by text.

An unjudged copy of a gold would make "absent means 0" false, so by default only the representative
of a group stays in the benchmark's corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from nclue_build.records.corpus import DuplicateGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_NEAR_PERCENT: Final = 70
"""Estimated resemblance from which two documents are near-duplicates."""
_BANDS: Final = (25, 5)
"""Bands and rows of the index: it finds 99 % of the pairs at 70 % and all but 1 in 20,000 at 80 %."""

Kind = Literal["exact", "same_text", "near"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A readable document as duplicate detection sees it."""

    doc_id: str
    sha256: str
    text_sha256: str
    n_text_chars: int
    signature: bytes


def find_duplicates(candidates: Iterable[Candidate], *, remove: bool) -> list[DuplicateGroup]:
    """Group duplicates; each step works on what the steps before left as representatives.

    The representative is the document with the most text, then the smallest id. Near-duplicates are
    grouped with their representative only, never along a chain: every removed document
    resembles the one that stays.

    Args:
        candidates: Readable documents in any order.
        remove: Whether the others of a group are removed from the benchmark's corpus.

    Returns:
        Groups by their ids.
    """
    ranked = sorted(candidates, key=lambda one: (-one.n_text_chars, one.doc_id))
    groups: list[DuplicateGroup] = []
    ranked = _group_equal(ranked, "exact", lambda one: one.sha256, groups, remove=remove)
    ranked = _group_equal(
        ranked, "same_text", lambda one: one.text_sha256 if one.n_text_chars else None, groups, remove=remove
    )
    _group_near(ranked, groups, remove=remove)
    return sorted(groups, key=lambda group: group.group_id)


def _group_equal(
    ranked: Sequence[Candidate],
    kind: Kind,
    key: Callable[[Candidate], str | None],
    groups: list[DuplicateGroup],
    *,
    remove: bool,
) -> list[Candidate]:
    members: dict[str, list[Candidate]] = {}
    kept: list[Candidate] = []
    for one in ranked:
        value = key(one)
        if value is None:
            kept.append(one)
            continue
        group = members.setdefault(value, [])
        if not group:
            kept.append(one)
        group.append(one)
    groups += [_group(kind, group, None, remove=remove) for group in members.values() if len(group) > 1]
    return kept


def _group_near(ranked: Sequence[Candidate], groups: list[DuplicateGroup], *, remove: bool) -> None:
    from datasketch import MinHash, MinHashLSH  # noqa: PLC0415 - heavy, and only needed here

    signatures = {
        one.doc_id: np.frombuffer(one.signature, dtype="<u4").astype(np.uint32) for one in ranked if one.signature
    }
    if len(signatures) < 2:  # noqa: PLR2004 - nothing to compare
        return
    n_values = len(next(iter(signatures.values())))
    index = MinHashLSH(num_perm=n_values, params=_BANDS)
    for doc_id, values in signatures.items():
        index.insert(doc_id, MinHash(num_perm=n_values, hashvalues=values, scheme="affine32"))
    taken: set[str] = set()
    by_id = {one.doc_id: one for one in ranked}
    for one in ranked:
        if one.doc_id in taken or one.doc_id not in signatures:
            continue
        values = signatures[one.doc_id]
        similar: list[tuple[Candidate, int]] = []
        for other in sorted(index.query(MinHash(num_perm=n_values, hashvalues=values, scheme="affine32"))):
            equal = int(np.count_nonzero(values == signatures[other]))
            if other != one.doc_id and other not in taken and equal * 100 >= _NEAR_PERCENT * n_values:
                similar.append((by_id[other], equal * 100 // n_values))
        taken.add(one.doc_id)
        if similar:
            taken.update(other.doc_id for other, _ in similar)
            lowest = min(percent for _, percent in similar)
            groups.append(_group("near", [one, *(other for other, _ in similar)], lowest, remove=remove))


def _group(kind: Kind, members: Sequence[Candidate], percent: int | None, *, remove: bool) -> DuplicateGroup:
    representative = members[0].doc_id
    others = sorted(one.doc_id for one in members[1:])
    return DuplicateGroup(
        group_id=f"{kind}_{representative}",
        kind=kind,
        representative=representative,
        doc_ids=tuple(sorted([representative, *others])),
        removed=tuple(others) if remove else (),
        similarity_percent=percent,
    )
