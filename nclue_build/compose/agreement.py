"""What the rules say of the items that a model judged.

Both look at the same condition of the same document for the same candidate. Conditions that a document does not have
are asked of a model alone, and are no cases of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.ids import query_id
from nclue_build.records.calls import Agreement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.compose.needs import ItemQuotes, Need
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.inventory import Condition


def agreement(
    model: Mapping[Need, Sequence[ItemQuotes]],
    rules: Mapping[Need, Sequence[ItemQuotes]],
    inventory: Inventory,
    conditions: Sequence[Condition],
) -> list[Agreement]:
    """A row per document, condition and candidate, sorted by id.

    Args:
        model: What the model says of each need.
        rules: What the rules say of the same needs.
        inventory: All P(d, c).
        conditions: In the order of ``inventory.condition_ids``.
    """
    rows = []
    for need, answers in model.items():
        asked = (inventory.condition_ids[index] for index in (*need.conditions, *need.absent))
        candidate = f"{inventory.document_ids[need.document]}/{query_id(asked)}"
        # The answers to absent conditions come last, and the rules give none.
        for item, other in zip(answers, rules[need], strict=False):
            condition = conditions[item.condition]
            rows.append(
                Agreement(
                    case_id=f"{candidate}/{condition.condition_id}",
                    kind="item",
                    name=condition.name,
                    rules=_verdict(other),
                    rules_reason=_reason(other),
                    model=_verdict(item),
                    model_reason=_reason(item),
                    call_key=item.call_key,
                )
            )
    return sorted(rows, key=lambda row: row.case_id)


def _verdict(item: ItemQuotes) -> str:
    """``QUOTED``, ``REFUSED``, or ``NONE`` where a call has no usable reply."""
    if item.refusal is None:
        return "QUOTED"
    return "NONE" if item.refusal.startswith("call_") else "REFUSED"


def _reason(item: ItemQuotes) -> str:
    if item.refusal is not None:
        return item.refusal
    return "" if item.best is None else f"page {item.best.page}"
