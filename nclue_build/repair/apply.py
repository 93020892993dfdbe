"""Decisions -> P(d, c): all of them together, from P0, in whatever order they come.

On one condition in one document the pages of all decisions are united, and so are the pages they were shown. Present:
P0 and these pages. Absent: P0 without the pages shown; where pages are left the decision is *unresolved* and
changes nothing, because three pages cannot tell of a whole document (n-Clue supplement, section 4) [the form is our
reading]. A page that a decision adds counts one mention and is no heading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nclue_build.records.inventory import EvidenceRow
from nclue_build.records.repair import PairOverride, Repair

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.inventory.decided import Scoped
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.inventory import Condition
    from nclue_build.records.repair import Effect

Pages = tuple[int, ...]
Key = tuple[str, str]
"""Condition id, document id."""


class Outcome(NamedTuple):
    """What decisions on one P(d, c) come to."""

    old: Pages
    new: Pages
    effect: Effect


class Applied(NamedTuple):
    """An inventory with decisions in it.

    Args:
        inventory: With all decisions of scope inventory.
        overrides: P(d, c) that single queries see otherwise, sorted.
        outcomes: Of each decision, by its id.
    """

    inventory: Inventory
    overrides: tuple[PairOverride, ...]
    outcomes: Mapping[str, Outcome]

    def of_query(self, query_id: str) -> Inventory:
        """The inventory as one query sees it."""
        own = [row for row in self.overrides if row.query_id == query_id]
        if not own:
            return self.inventory
        return self.inventory.replaced({
            (row.condition_id, row.doc_id): evidence_row(self.inventory, (row.condition_id, row.doc_id), row.pages)
            for row in own
        })  # fmt: skip


def conclude(pages: Pages, decisions: Iterable[Scoped]) -> Outcome:
    """What decisions on one P(d, c), all of which say the same, make of it."""
    rows = [one.decision for one in decisions]
    if rows[0].present:
        new = tuple(sorted({*pages, *(page for row in rows for page in row.pages)}))
        return Outcome(pages, new, "unchanged" if new == pages else "applied")
    shown = {page for row in rows for page in row.pages_shown}
    if not pages:
        return Outcome(pages, pages, "unchanged")
    if set(pages) - shown:
        return Outcome(pages, pages, "unresolved")
    return Outcome(pages, (), "applied")


def apply_decisions(p0: Inventory, decisions: Sequence[Scoped]) -> Applied:
    """Apply decisions that do not conflict.

    Args:
        p0: As mined, page level.
        decisions: All of them so far, in any order.
    """
    outcomes: dict[str, Outcome] = {}
    changes: dict[Key, EvidenceRow | None] = {}
    for key, group in _grouped(one for one in decisions if one.scope == "inventory"):
        outcome = conclude(pages_of(p0, key), group)
        outcomes |= {one.decision.decision_id: outcome for one in group}
        if outcome.effect == "applied":
            changes[key] = evidence_row(p0, key, outcome.new)
    inventory = p0.replaced(changes)
    overrides: list[PairOverride] = []
    pairs = [one for one in decisions if one.scope == "pair"]
    for query_id in sorted({one.decision.query_id for one in pairs}):
        for key, group in _grouped(one for one in pairs if one.decision.query_id == query_id):
            outcome = conclude(pages_of(inventory, key), group)
            outcomes |= {one.decision.decision_id: outcome for one in group}
            if outcome.effect == "applied":
                ids = tuple(sorted(one.decision.decision_id for one in group))
                condition_id, doc_id = key
                overrides.append(
                    PairOverride(
                        query_id=query_id, condition_id=condition_id, doc_id=doc_id, pages=outcome.new, decisions=ids
                    )
                )
    return Applied(inventory, tuple(overrides), outcomes)


def _grouped(decisions: Iterable[Scoped]) -> list[tuple[Key, list[Scoped]]]:
    groups: dict[Key, list[Scoped]] = {}
    for one in decisions:
        groups.setdefault((one.decision.condition_id, one.decision.doc_id), []).append(one)
    return sorted(groups.items())


def _row_of(inventory: Inventory, key: Key) -> int:
    condition_id, doc_id = key
    condition = np.array([inventory.condition_ids.index(condition_id)])
    document = np.array([inventory.document_ids.index(doc_id)])
    return int(inventory.find(condition, document)[0])


def pages_of(inventory: Inventory, key: Key) -> Pages:
    """P(d, c); empty where there is no row."""
    return inventory.pages_of(_row_of(inventory, key))


def evidence_row(inventory: Inventory, key: Key, pages: Pages) -> EvidenceRow | None:
    """The row of P(d, c) with other pages: what is known of a page stays, a new one has one mention; None for none."""
    if not pages:
        return None
    row = _row_of(inventory, key)
    begin, end = (int(inventory.starts[row]), int(inventory.starts[row + 1])) if row >= 0 else (0, 0)
    known = {
        page: (mentions, heading)
        for page, mentions, heading in zip(
            inventory.pages[begin:end].tolist(),
            inventory.mentions[begin:end].tolist(),
            inventory.in_heading[begin:end].tolist(),
            strict=True,
        )
    }
    facts = [known.get(page, (1, False)) for page in pages]
    return EvidenceRow(
        condition_id=key[0],
        doc_id=key[1],
        pages=pages,
        mentions=tuple(mentions for mentions, _ in facts),
        in_heading=tuple(heading for _, heading in facts),
    )


def recounted(conditions: Iterable[Condition], inventory: Inventory) -> list[Condition]:
    """Conditions with the frequencies of their evidence; those of their aliases stay what the pages say."""
    position = {key: index for index, key in enumerate(inventory.condition_ids)}
    documents, pages = inventory.document_frequency.tolist(), inventory.page_frequency.tolist()
    return [
        row.model_copy(
            update={
                "document_frequency": documents[position[row.condition_id]],
                "page_frequency": pages[position[row.condition_id]],
            }
        )
        for row in conditions
    ]


def repairs(decisions: Iterable[Scoped], before: Applied, after: Applied) -> list[Repair]:
    """What became of each decision, sorted by id.

    Args:
        decisions: The new ones.
        before: Without them.
        after: With them.
    """
    rows = []
    for decision, scope, version in sorted(decisions, key=lambda one: one.decision.decision_id):
        key = (decision.condition_id, decision.doc_id)
        old, new = (pages_of(applied.of_query(decision.query_id), key) for applied in (before, after))
        unresolved = after.outcomes[decision.decision_id].effect == "unresolved"
        rows.append(
            Repair(
                version=version,
                decision_id=decision.decision_id,
                scope=scope,
                query_id=decision.query_id,
                condition_id=decision.condition_id,
                doc_id=decision.doc_id,
                present=decision.present,
                effect="unresolved" if unresolved else "unchanged" if old == new else "applied",
                old=old,
                new=new,
                basis=decision.basis,
                reason=decision.reason,
                responses=decision.responses,
            )
        )
    return rows
