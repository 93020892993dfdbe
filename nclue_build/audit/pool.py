"""Pages to look at for a condition in a document: several routes, taken in turn.

Ranked: the pages shown first, those that evaluators selected, then round-robin over pages with an alias, BM25 within
the document (Robertson et al., 1995; k1 = 1.2, b = 0.75), near matches for text that was misread, and the pages of the
construction; each page once, cut at 9 [R]. Fewer than 6 only where the document has no more pages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from nclue_build.core.text import fold, occurs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.records.audit import Route
    from nclue_build.records.inventory import Condition

MAX_PAGES: Final = 9
MIN_PAGES: Final = 6
_MIN_SIMILARITY: Final = 80
_K1, _B = 1.2, 0.75
_WORD: Final = re.compile(r"\w+")


def routes(
    condition: Condition,
    texts: Mapping[int, Sequence[str]],
    *,
    original: Sequence[int] = (),
    selected: Sequence[int] = (),
    construction: Sequence[int] = (),
) -> dict[Route, list[int]]:
    """Pages of each route, best first.

    Args:
        condition: What is looked for.
        texts: Readings of every page of the document.
        original: Shown in the first round.
        selected: Selected by evaluators.
        construction: P(d, c).
    """
    return {
        "original": list(original),
        "selected": list(selected),
        "alias": _alias_pages(condition, texts),
        "bm25": _bm25(condition, texts),
        "fuzzy": _fuzzy(condition, texts),
        "construction": list(construction),
    }


def pool(found: Mapping[Route, Sequence[int]], texts: Mapping[int, Sequence[str]]) -> tuple[int, ...]:
    """The ranked pool of the routes' pages."""
    ranked = list(dict.fromkeys([*found["original"], *found["selected"]]))
    turns = [found[name] for name in ("alias", "bm25", "fuzzy", "construction")]
    for place in range(max((len(pages) for pages in turns), default=0)):
        ranked += [pages[place] for pages in turns if place < len(pages)]
    ranked = list(dict.fromkeys(ranked))[:MAX_PAGES]
    for page in sorted(texts):
        if len(ranked) >= MIN_PAGES:
            break
        if page not in ranked:
            ranked.append(page)
    return tuple(ranked)


def _alias_pages(condition: Condition, texts: Mapping[int, Sequence[str]]) -> list[int]:
    def has(text: str) -> bool:
        return any(
            occurs(alias.form, text) if alias.match == "exact" else occurs(fold(alias.form), fold(text))
            for alias in condition.aliases
        )

    return [page for page in sorted(texts) if any(map(has, texts[page]))]


def _bm25(condition: Condition, texts: Mapping[int, Sequence[str]]) -> list[int]:
    """Pages with a word of the condition, by falling BM25 score, equal ones by page."""
    counts = {
        page: Counter(_WORD.findall(fold(readings[0]))) if readings else Counter[str]()
        for page, readings in texts.items()
    }
    lengths = {page: sum(count.values()) for page, count in counts.items()}
    mean = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    words = sorted({word for alias in condition.aliases for word in _WORD.findall(fold(alias.form))})
    scores: dict[int, float] = {}
    for word in words:
        holders = [page for page, count in counts.items() if count[word]]
        weight = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for page in holders:
            frequency = counts[page][word]
            norm = _K1 * (1 - _B + _B * lengths[page] / mean)
            scores[page] = scores.get(page, 0.0) + weight * frequency * (_K1 + 1) / (frequency + norm)
    return sorted(scores, key=lambda page: (-round(scores[page], 9), page))


def _fuzzy(condition: Condition, texts: Mapping[int, Sequence[str]]) -> list[int]:
    from rapidfuzz.fuzz import partial_ratio  # noqa: PLC0415 - needed here alone

    name = fold(condition.name)
    scores = {
        page: max((partial_ratio(name, fold(text)) for text in readings), default=0.0)
        for page, readings in texts.items()
    }
    near = [page for page, score in scores.items() if score >= _MIN_SIMILARITY]
    return sorted(near, key=lambda page: (-round(scores[page], 6), page))
