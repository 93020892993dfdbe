"""What the rules say of the items that a model judged.

Both look at the same condition of the same document for the same candidate. Conditions that a document does not have
are asked of a model alone, and are no cases of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.compose.needs import CALL_FAILURES
from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.ids import query_id
from nclue_build.records.calls import Agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.compose.needs import ItemQuotes, Need
    from nclue_build.inventory.table import Inventory
    from nclue_build.records.inventory import Condition

MOST_NEEDS: Final = 1000
"""Needs that are compared, of a large build: the rules take as long as a replay of the calls, and a share does."""


def compared(needs: Iterable[Need], document_ids: Sequence[str]) -> list[Need]:
    """The needs to compare: all where they are few, else those of whole documents, drawn by the digests of their ids.

    Args:
        needs: Those that a model judged.
        document_ids: By index.
    """
    by_document: dict[int, list[Need]] = {}
    for need in needs:
        by_document.setdefault(need.document, []).append(need)
    drawn: list[Need] = []
    for document in sorted(by_document, key=lambda index: sha256_bytes(document_ids[index].encode("utf-8"))):
        if len(drawn) >= MOST_NEEDS:
            break
        drawn += by_document[document]
    return drawn


def agreement(
    model: Mapping[Need, Sequence[ItemQuotes]],
    rules: Mapping[Need, Sequence[ItemQuotes]],
    inventory: Inventory,
    conditions: Sequence[Condition],
) -> list[Agreement]:
    """A row per document, condition and candidate, sorted by id.

    Args:
        model: What the model says of each need.
        rules: What the rules say of those that are compared.
        inventory: All P(d, c).
        conditions: In the order of ``inventory.condition_ids``.
    """
    rows = []
    for need, quotes in rules.items():
        asked = (inventory.condition_ids[index] for index in (*need.conditions, *need.absent))
        candidate = f"{inventory.document_ids[need.document]}/{query_id(asked)}"
        # The answers to absent conditions come last, and the rules give none.
        for item, other in zip(model[need], quotes, strict=False):
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
    return "NONE" if item.refusal in CALL_FAILURES else "REFUSED"


def _reason(item: ItemQuotes) -> str:
    if item.refusal is not None:
        return item.refusal
    return "" if item.best is None else f"page {item.best.page}"
