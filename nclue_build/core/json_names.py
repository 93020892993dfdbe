"""Names that stand twice in a JSON object: readers take the last one without a word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def repeated_name(pairs: Sequence[tuple[str, object]]) -> str | None:
    """The first name of an object that stands in it again, in time linear in their number; None without one.

    Args:
        pairs: Names and values in the order of the text, as a decoder gives them to its ``object_pairs_hook``.
    """
    if len({name for name, _ in pairs}) == len(pairs):
        return None
    counts = Counter(name for name, _ in pairs)
    return next(name for name in counts if counts[name] > 1)
