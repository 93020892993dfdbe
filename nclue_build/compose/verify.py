"""Verify candidates: a quote for every condition of every judged document.

Two judges give the same kind of answer: ``rules`` (here), deterministic and no language model, and ``model``
(:mod:`nclue_build.compose.model_judge`). A condition without a good quote in a gold drops the candidate: any mismatch
with the mined condition set drops the whole item (n-Clue supplement, section 2). Documents are judged one at a time,
each read once for all candidates that need it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.compose.needs import ItemQuotes, Need
from nclue_build.compose.quotes import FoundQuote, Refusal, find_quote, prepare_page, worst_refusal
from nclue_build.core.arrays import offsets
from nclue_build.gate.explain import witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.compose.candidates import Candidates
    from nclue_build.compose.needs import Reason
    from nclue_build.compose.quotes import PageText
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.corpus import PageRow, Role
    from nclue_build.records.inventory import Alias

HARD_SUBSETS: Final = 3
"""Subset documents per candidate that ``verify = "golds+hard"`` judges besides the golds."""


@dataclass(frozen=True, slots=True)
class Item:
    """One condition of one document to be judged.

    Args:
        condition: Index.
        aliases: Of the condition.
        preferred: Witness pages of the candidates that need it, ascending: all get a quote where there is one.
        pages: All of P(d, c), those with most mentions first: tried in order for the quote of last resort.
    """

    condition: int
    aliases: tuple[Alias, ...]
    preferred: tuple[int, ...]
    pages: tuple[int, ...]


def judge_document(pages: Iterable[PageRow], items: Sequence[Item], allowed_roles: Iterable[Role]) -> list[ItemQuotes]:
    """Judge all items of one document.

    Args:
        pages: Its page rows; only the needed ones are looked at.
        items: What to judge.
        allowed_roles: Roles in which an occurrence counts.
    """
    needed = {page for item in items for page in item.pages}
    rows = {row.page: row for row in pages if row.page in needed}
    allowed = frozenset(allowed_roles)

    @cache
    def prepared(page: int) -> PageText:
        return prepare_page(rows[page], allowed)

    def look(item: Item, page: int) -> FoundQuote | Refusal:
        return find_quote(prepared(page), item.aliases) if page in rows else "not_on_page"

    return [_judge_item(item, partial(look, item)) for item in items]


def _judge_item(item: Item, look: Callable[[int], FoundQuote | Refusal]) -> ItemQuotes:
    found = {page: look(page) for page in item.preferred}
    quotes = tuple(quote for quote in found.values() if isinstance(quote, FoundQuote))
    heading: FoundQuote | None = None
    for page in item.pages:
        if page not in found:
            found[page] = look(page)
        quote = found[page]
        if isinstance(quote, FoundQuote):
            if not quote.is_heading:
                return ItemQuotes(item.condition, quotes, quote)
            heading = heading or quote
    refusal = worst_refusal(quote for quote in found.values() if not isinstance(quote, FoundQuote))
    return ItemQuotes(item.condition, quotes, heading, None if heading else refusal)


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
    limit = HARD_SUBSETS if verify == "golds+hard" else None
    row_mentions = np.diff(offsets(inventory.mentions)[inventory.starts])
    for index in range(len(candidates)):
        conditions = candidates.conditions[index]
        golds = candidates.golds(index)
        rows = inventory.find(conditions, np.array(golds)[:, None])
        wanted = []
        for document, gold_rows in zip(golds, rows, strict=True):
            pages = witness([inventory.pages_of(row) for row in gold_rows.tolist()])
            wanted.append(Need(document, tuple(conditions.tolist()), pages or (None,) * candidates.n))
        if verify != "golds":
            wanted.extend(_subset_needs(inventory, row_mentions, conditions, golds)[:limit])
        needs.append(wanted)
    return needs


def _subset_needs(
    inventory: Inventory, row_mentions: NDArray[np.int64], conditions: NDArray[np.int32], golds: Sequence[int]
) -> list[Need]:
    """The judged documents beside the golds, those with most conditions first, then those with most mentions."""
    present: dict[int, list[tuple[int, int]]] = {}
    for condition in conditions.tolist():
        first, last = inventory.first_rows[condition : condition + 2].tolist()
        for row in range(first, last):
            present.setdefault(int(inventory.document_of[row]), []).append((condition, row))
    ranked = sorted(
        (-len(found), -sum(int(row_mentions[row]) for _, row in found), document)
        for document, found in present.items()
        if document not in golds
    )
    wanted = []
    for *_, document in ranked:
        having = tuple(condition for condition, _ in present[document])
        absent = tuple(condition for condition in conditions.tolist() if condition not in having)
        wanted.append(Need(document, having, (None,) * len(having), absent))
    return wanted


def plan_items(
    needs: Iterable[Need], inventory: Inventory, aliases: Mapping[int, tuple[Alias, ...]]
) -> dict[int, list[Item]]:
    """Group needs by document, for the judge that looks at one condition at a time.

    Returns:
        Document index to its items, both ascending.
    """
    preferred: dict[tuple[int, int], set[int]] = {}
    for need in needs:
        for condition, page in zip(need.conditions, need.pages, strict=True):
            pages = preferred.setdefault((need.document, condition), set())
            if page is not None:
                pages.add(page)
    plan: dict[int, list[Item]] = {}
    for document, condition in sorted(preferred):
        row = int(inventory.find(np.array(condition), np.array(document)))
        part = slice(int(inventory.starts[row]), int(inventory.starts[row + 1]))
        by_mentions = inventory.pages[part][np.lexsort((inventory.pages[part], -inventory.mentions[part]))]
        first = tuple(sorted(preferred[document, condition]))
        item = Item(condition, aliases[condition], first, tuple(by_mentions.tolist()))
        plan.setdefault(document, []).append(item)
    return plan


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a candidate was dropped."""

    reason: Reason
    document: int
    condition: int


@dataclass(slots=True)
class Verification:
    """What verifying the candidates of one arity gave.

    Args:
        passed: Indices of the candidates that passed.
        mismatches: Index to reason, of those that did not.
        by_n_golds: Number of golds to (candidates, dropped).
    """

    passed: list[int] = field(default_factory=list)
    mismatches: dict[int, Mismatch] = field(default_factory=dict)
    by_n_golds: dict[int, tuple[int, int]] = field(default_factory=dict)


def drop_mismatches(
    candidates: Candidates, needs: Sequence[Sequence[Need]], judged: Mapping[Need, Sequence[ItemQuotes]]
) -> Verification:
    """Drop every candidate with a mismatch; the first one, golds first, is its reason.

    Args:
        candidates: Of one arity.
        needs: ``needs_of`` them.
        judged: What the judge says of each.
    """
    result = Verification()
    for index, wanted in enumerate(needs):
        mismatch = next(
            (
                Mismatch(item.refusal, need.document, item.condition)
                for need in wanted
                for item in judged[need]
                if item.refusal is not None
            ),
            None,
        )
        if mismatch is None:
            result.passed.append(index)
        else:
            result.mismatches[index] = mismatch
        n_golds = len(candidates.golds(index))
        seen, dropped = result.by_n_golds.get(n_golds, (0, 0))
        result.by_n_golds[n_golds] = (seen + 1, dropped + (mismatch is not None))
    return result
