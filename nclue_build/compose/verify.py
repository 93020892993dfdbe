"""Verify candidates with the rules item judge: a quote for every condition of every judged document.

The judge is deterministic and no language model; files name it ``rules``. A condition without a good quote in a
gold drops the candidate: any mismatch with the mined condition set drops the whole item (n-Clue supplement,
section 2). Documents are judged one at a time, each read once for all candidates that need it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.compose.quotes import FoundQuote, find_quote, prepare_page
from nclue_build.gate.explain import witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.compose.candidates import Candidates
    from nclue_build.compose.quotes import Refusal
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.corpus import PageRow
    from nclue_build.records.inventory import Alias

JUDGE: Final = "rules"
HARD_SUBSETS: Final = 3
"""Subset documents per candidate that ``verify = "golds+hard"`` judges besides the golds."""
_MAX_PAGES: Final = 8
"""Pages of one P(d, c) that are tried beyond the preferred ones."""


@dataclass(frozen=True, slots=True)
class Item:
    """One condition of one document to be judged.

    Args:
        condition: Index.
        aliases: Of the condition.
        preferred: Witness pages of the candidates that need it, ascending: all get a quote where there is one.
        others: Further pages, tried in order until one has a quote when no preferred page has.
    """

    condition: int
    aliases: tuple[Alias, ...]
    preferred: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """What the judge found: quotes by page, or the refusal of every page tried."""

    condition: int
    quotes: tuple[FoundQuote, ...]
    refusal: Refusal | None

    def quote_for(self, page: int | None) -> FoundQuote:
        """The quote of that page, else the best one there is."""
        return next((quote for quote in self.quotes if quote.page == page), min(self.quotes))

    def joined(self, other: ItemVerdict) -> ItemVerdict:
        """Both verdicts on the same item: the quotes of either."""
        quotes = tuple(sorted({*self.quotes, *other.quotes}))
        return ItemVerdict(self.condition, quotes, None if quotes else self.refusal)


def judge_document(pages: Iterable[PageRow], items: Sequence[Item], allowed_roles: Iterable[str]) -> list[ItemVerdict]:
    """Judge all items of one document.

    Args:
        pages: Its page rows; only the needed ones are looked at.
        items: What to judge.
        allowed_roles: Roles in which an occurrence counts.
    """
    needed = {page for item in items for page in (*item.preferred, *item.others)}
    allowed = tuple(allowed_roles)
    texts = {row.page: prepare_page(row.page, row.blocks, allowed) for row in pages if row.page in needed}
    verdicts = []
    for item in items:
        quotes: list[FoundQuote] = []
        refusal: Refusal | None = None
        for page in (*item.preferred, *item.others):
            if quotes and page not in item.preferred:
                break
            found: FoundQuote | Refusal = find_quote(texts[page], item.aliases) if page in texts else "not_on_page"
            if isinstance(found, FoundQuote):
                quotes.append(found)
            else:
                refusal = refusal or found
        verdicts.append(ItemVerdict(item.condition, tuple(quotes), None if quotes else refusal))
    return verdicts


@dataclass(frozen=True, slots=True)
class Need:
    """A document a candidate wants judged: its conditions there and, for a gold, the witness page of each.

    Args:
        document: Index.
        conditions: Indices of the conditions the document has, ascending.
        pages: Preferred page of each, parallel to ``conditions``; None where there is no preference.
    """

    document: int
    conditions: tuple[int, ...]
    pages: tuple[int | None, ...]


def needs_of(candidates: Candidates, inventory: Inventory, verify: str) -> list[list[Need]]:
    """Which documents each candidate wants judged.

    Args:
        candidates: Of one arity.
        inventory: All P(d, c).
        verify: ``golds``, ``golds+hard`` (and the subsets with the most conditions and mentions) or ``all``.

    Returns:
        For each candidate its needs, golds first.
    """
    needs: list[list[Need]] = []
    for index in range(len(candidates)):
        conditions = candidates.conditions[index]
        golds = candidates.golds(index)
        rows = inventory.find(conditions, np.array(golds)[:, None])
        wanted = []
        for document, gold_rows in zip(golds, rows, strict=True):
            pages = witness([inventory.pages_of(row) for row in gold_rows.tolist()])
            wanted.append(Need(document, tuple(conditions.tolist()), pages or (None,) * candidates.n))
        if verify != "golds":
            limit = HARD_SUBSETS if verify == "golds+hard" else None
            wanted.extend(_subset_needs(inventory, conditions, frozenset(golds), limit))
        needs.append(wanted)
    return needs


def _subset_needs(
    inventory: Inventory,
    conditions: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    golds: frozenset[int],
    limit: int | None,
) -> list[Need]:
    mentions = np.concatenate([[0], np.cumsum(inventory.mentions, dtype=np.int64)])
    present: dict[int, list[tuple[int, int]]] = {}
    for condition in conditions.tolist():
        first, last = np.searchsorted(inventory.condition_of, [condition, condition + 1])
        for row in range(int(first), int(last)):
            present.setdefault(int(inventory.document_of[row]), []).append((condition, row))
    subsets = [
        (
            -len(found),
            -sum(int(mentions[inventory.starts[row + 1]] - mentions[inventory.starts[row]]) for _, row in found),
            document,
        )
        for document, found in present.items()
        if document not in golds
    ]
    return [
        Need(document, tuple(condition for condition, _ in present[document]), (None,) * len(present[document]))
        for _, _, document in sorted(subsets)[:limit]
    ]


def plan_items(
    needs: Iterable[Iterable[Need]], inventory: Inventory, aliases: Mapping[int, tuple[Alias, ...]]
) -> dict[int, list[Item]]:
    """Group the needs of all candidates by document.

    Returns:
        Document index to its items, both ascending.
    """
    preferred: dict[tuple[int, int], set[int]] = {}
    for wanted in needs:
        for need in wanted:
            for condition, page in zip(need.conditions, need.pages, strict=True):
                pages = preferred.setdefault((need.document, condition), set())
                if page is not None:
                    pages.add(page)
    plan: dict[int, list[Item]] = {}
    for document, condition in sorted(preferred):
        first = preferred[document, condition]
        row = int(inventory.find(np.array(condition), np.array(document)))
        others = [page for page in inventory.pages_of(row) if page not in first][:_MAX_PAGES]
        item = Item(condition, aliases[condition], tuple(sorted(first)), tuple(others))
        plan.setdefault(document, []).append(item)
    return plan


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a candidate was dropped."""

    reason: Refusal
    document: int
    condition: int


@dataclass(slots=True)
class Verification:
    """Outcome of verifying the candidates of one arity.

    Args:
        passed: Indices of the candidates that passed.
        mismatches: Index to reason, of those that did not.
        by_n_golds: Number of golds to (candidates, dropped).
    """

    passed: list[int] = field(default_factory=list)
    mismatches: dict[int, Mismatch] = field(default_factory=dict)
    by_n_golds: dict[int, tuple[int, int]] = field(default_factory=dict)


def apply_verdicts(
    candidates: Candidates, needs: Sequence[Sequence[Need]], verdicts: Mapping[tuple[int, int], ItemVerdict]
) -> Verification:
    """Drop every candidate with a mismatch; the first one, golds first, is its reason.

    Args:
        candidates: Of one arity.
        needs: ``needs_of`` them.
        verdicts: By (document, condition).
    """
    outcome = Verification()
    for index, wanted in enumerate(needs):
        mismatch = next(
            (
                Mismatch(refusal, need.document, condition)
                for need in wanted
                for condition in need.conditions
                if (refusal := verdicts[need.document, condition].refusal) is not None
            ),
            None,
        )
        if mismatch is None:
            outcome.passed.append(index)
        else:
            outcome.mismatches[index] = mismatch
        n_golds = len(candidates.golds(index))
        seen, dropped = outcome.by_n_golds.get(n_golds, (0, 0))
        outcome.by_n_golds[n_golds] = (seen + 1, dropped + (mismatch is not None))
    return outcome
