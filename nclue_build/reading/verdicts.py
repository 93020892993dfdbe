"""Shares of the verdicts on a sheet, with intervals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.records.reading import VERDICTS
from nclue_build.stats.agreement import wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nclue_build.records.reading import ItemKind, SheetItem


@dataclass(frozen=True, slots=True)
class Share:
    """How often a verdict was given.

    Args:
        verdict: The verdict.
        count: Items that have it.
        share: Of the items read.
        low: Lower end of the interval.
        high: Upper end.
    """

    verdict: str
    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class StratumShares:
    """What was said of the items of one stratum.

    Args:
        kind: Of the items.
        stratum: Drawn from.
        population: Items of the stratum.
        drawn: Items on the sheet.
        read: Items with a verdict.
        shares: Of every verdict there is, in their order; empty when nothing was read.
    """

    kind: ItemKind
    stratum: str
    population: int
    drawn: int
    read: int
    shares: tuple[Share, ...]


def count_shares(items: Iterable[SheetItem]) -> list[StratumShares]:
    """Shares per kind and stratum, in the order of the sheet; strata are never pooled, they have other weights."""
    groups: dict[tuple[ItemKind, str], list[SheetItem]] = {}
    for item in items:
        groups.setdefault((item.kind, item.stratum), []).append(item)
    found = []
    for (kind, stratum), members in groups.items():
        counts = Counter(item.verdict for item in members if item.verdict is not None)
        total = sum(counts.values())
        shares = tuple(
            Share(verdict, counts[verdict], interval.value, interval.low, interval.high)
            for verdict in (VERDICTS[kind] if total else ())
            for interval in (wilson(counts[verdict], total),)
        )
        found.append(StratumShares(kind, stratum, members[0].population, len(members), total, shares))
    return found
