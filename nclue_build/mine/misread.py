"""Misread words: what recognition of text makes of a word now and then (``[mine] fuzzy_aliases``).

Edit distance merges what must stay apart ("phosphite", "phosphate"), also in recognised text. What engines confuse are
shapes: so words are compared by a skeleton in which letters and digits of one shape are the same, as Unicode compares
identifiers (UTS #39). A misread word stands on recognised pages only, is no English and much rarer than the one word it
can be taken for.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from nclue_build.records.corpus import PageRow

RECOGNISING_BACKENDS: Final = frozenset({"tesseract"})
"""Readers that recognise text on images."""
RECOGNISED_FLAG: Final = "ocr"
"""Flag of a page whose text was recognised, whoever did it (docs/extract.md)."""
MIN_LENGTH: Final = 7
"""Characters below which two words of one shape are too often two words."""
TIMES_RARER: Final = 3
"""Documents of a word for each document of what is taken for its misreading."""

_PAIRS: Final = (("rn", "m"), ("nn", "m"), ("cl", "d"), ("vv", "w"), ("li", "h"), ("ii", "u"))
"""Two letters that run together."""
_SHAPES: Final = str.maketrans(
    {
        char: shape[0]
        for shape in ("il1j", "ce", "o0", "unv", "hb6", "s5", "gq9", "z2", "ft")
        for char in shape
    }
)  # fmt: skip


def is_recognised(page: PageRow) -> bool:
    """Whether the text of a page was recognised on an image."""
    return page.backend in RECOGNISING_BACKENDS or RECOGNISED_FLAG in page.flags


def skeleton(word: str) -> str:
    """A folded word in shapes: equal for words that look alike."""
    for pair, single in _PAIRS:
        word = word.replace(pair, single)
    return word.translate(_SHAPES)


def misreadings(
    frequency: Mapping[str, int], recognised_only: AbstractSet[str], is_english: Callable[[str], bool]
) -> dict[str, tuple[str, ...]]:
    """Misread words of a corpus.

    Args:
        frequency: Folded word to the documents it stands in.
        recognised_only: Words that stand on recognised pages alone.
        is_english: Whether a folded word is known; asked about words that look like another only.

    Returns:
        Word to its misreadings, sorted. No misreading has misreadings.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    shapes = {skeleton(word) for word in recognised_only if len(word) >= MIN_LENGTH}
    for word in sorted(frequency):
        if len(word) >= MIN_LENGTH - 1 and (shape := skeleton(word)) in shapes:
            groups[shape].append(word)
    found: dict[str, list[str]] = defaultdict(list)
    for group in groups.values():
        if len(group) == 1:
            continue
        doubtful = [
            word
            for word in group
            if word in recognised_only and len(word) >= MIN_LENGTH and "-" not in word and not is_english(word)
        ]
        # Where all are doubtful, the most frequent one may still be the word.
        sound = [word for word in group if word not in doubtful] or [
            max(doubtful, key=lambda word: (frequency[word], word))
        ]
        if len(sound) == 1 and sound[0].isalpha():
            for word in doubtful:
                if word != sound[0] and frequency[sound[0]] >= TIMES_RARER * frequency[word]:
                    found[sound[0]].append(word)
    return {word: tuple(variants) for word, variants in found.items()}
