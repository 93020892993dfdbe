"""What stands on a page around a form: enough to judge by, with the role and the neighbours of its block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.excerpt import excerpt
from nclue_build.core.text import fold, matching_text, occurs, readings
from nclue_build.records.reading import SheetPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.records.corpus import Block, PageRow, Role
    from nclue_build.records.inventory import Alias

WIDTH: Final = 320
"""Characters shown of the block that holds the form."""
NEIGHBOUR_WIDTH: Final = 80
"""Characters shown of the blocks before and after it."""
_RANK: Final = {"text": 0, "list": 1, "title": 2}
_OTHER: Final = 3


def show_place(
    page: PageRow, condition_id: str, aliases: Sequence[Alias], allowed_roles: frozenset[Role], doc_id: str
) -> SheetPlace:
    """The block that says most about a condition on a page, with the ends of its neighbours.

    Running text goes before lists, headings and the rest, a longer block before a shorter one.
    """
    held = [index for index, block in enumerate(page.blocks) if block.role in allowed_roles and _holds(block, aliases)]
    if not held:
        return SheetPlace(doc_id=doc_id, page=page.page, condition_id=condition_id, role=None, text="")
    best = min(held, key=lambda index: (_RANK.get(page.blocks[index].role, _OTHER), -len(page.blocks[index].text)))
    block = page.blocks[best]
    forms = sorted((alias.form for alias in aliases), key=lambda form: (-len(form), form))
    before = matching_text(page.blocks[best - 1].text)[-NEIGHBOUR_WIDTH:] if best else ""
    after = matching_text(page.blocks[best + 1].text)[:NEIGHBOUR_WIDTH] if best + 1 < len(page.blocks) else ""
    text = " | ".join([before, excerpt(block.text, forms, WIDTH), after])
    return SheetPlace(doc_id=doc_id, page=page.page, condition_id=condition_id, role=block.role, text=text)


def _holds(block: Block, aliases: Sequence[Alias]) -> bool:
    for reading in readings(block.text):
        folded = fold(reading)
        if any(
            occurs(alias.form, reading) if alias.match == "exact" else occurs(fold(alias.form), folded)
            for alias in aliases
        ):
            return True
    return False
