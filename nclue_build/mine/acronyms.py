"""Acronym definitions, after Schwartz & Hearst (2003), and their corpus-wide vote.

"A Simple Algorithm for Identifying Abbreviation Definitions in Biomedical Text". Their shortest match truncates long
forms ("policy optimization (PPO)"), so among the candidates the one whose word initials spell the acronym wins.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.core.english import function_words
from nclue_build.core.text import fold
from nclue_build.mine.normal import normal_form
from nclue_build.mine.spelling import is_acronym
from nclue_build.mine.tokens import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEFINITION: Final = re.compile(r"\(\s*([A-Z][A-Za-z0-9&\-]{1,9})\s*[;,)]")
_CHUNK: Final = re.compile(r"[A-Z0-9][a-z]*")
_MIN_CHUNKS = 2
_MAX_EXTRA_WORDS = 5
_MIN_SHARE_PERCENT = 80


def definitions(text: str) -> list[tuple[str, str]]:
    """(acronym, long form) pairs defined in one reading of a block, long form as it stands there."""
    found = []
    for match in _DEFINITION.finditer(text):
        acronym = match.group(1)
        if not is_acronym(acronym):
            continue
        before = text[: match.start()].rstrip()
        long_form = _long_form(_singular(acronym), before)
        if long_form is not None:
            found.append((acronym, long_form))
    return found


def _long_form(acronym: str, before: str) -> str | None:
    """The words before the parenthesis whose initials spell the acronym, or None."""
    letters = [char.casefold() for char in acronym if char.isalnum()]
    # "SuDS": a small letter inside may belong to the word that the capital before it begins.
    chunks = [match.casefold() for match in _CHUNK.findall(acronym)]
    limit = min(len(letters) + _MAX_EXTRA_WORDS, 2 * len(letters))
    words = list(TOKEN.finditer(before))[-limit:]
    # The long form ends right before the parenthesis and holds no sentence break.
    if not words or before[words[-1].end() :].strip("\"'"):
        return None
    begin = len(words)
    while begin > 0 and (begin == len(words) or before[words[begin - 1].end() : words[begin].start()] in {" ", ", "}):
        begin -= 1
    words = words[begin:]
    for first in range(len(words) - 1, -1, -1):
        held = [word.group() for word in words[first:]]
        if _spells(held, letters) or (len(chunks) >= _MIN_CHUNKS and _spells(held, chunks)):
            text = before[words[first].start() : words[-1].end()]
            return text if " " in text else None
    return None


def _spells(words: list[str], beginnings: list[str]) -> bool:
    """Whether the words (and hyphenated parts) begin one after the other with these letters.

    Link words may be skipped or counted ("DoD"), years and figures are skipped; every other
    word must give its initial.
    """
    skippable = function_words("articles", "prepositions", "conjunctions") | {"&"}
    parts: list[tuple[str, bool]] = []
    for word in words:
        pieces = [piece for piece in re.split(r"[-/]", word) if piece]
        parts.extend(
            (piece.casefold(), index > 0 or piece.casefold() in skippable or piece.isdecimal())
            for index, piece in enumerate(pieces)
        )
    if not parts or parts[0][1] or not parts[0][0].startswith(beginnings[0]):
        return False
    reachable = {0}
    for part, optional in parts:
        skipped = reachable if optional else set()
        reachable = skipped | {
            state + 1 for state in reachable if state < len(beginnings) and part.startswith(beginnings[state])
        }
        if not reachable:
            return False
    return len(beginnings) in reachable


@dataclass(frozen=True, slots=True)
class AcronymVote:
    """What the corpus says of one acronym.

    Args:
        acronym: As written, in the singular.
        long_forms: Folded long forms of the winning reading, most frequent first; empty when ambiguous.
        documents: Documents that define it at all.
        ambiguous: Whether it has several unrelated long forms.
    """

    acronym: str
    long_forms: tuple[str, ...]
    documents: int
    ambiguous: bool


def _singular(acronym: str) -> str:
    return acronym[:-1] if acronym.endswith("s") and acronym[:-1].isupper() else acronym


def vote(per_document: Iterable[Iterable[tuple[str, str]]]) -> dict[str, AcronymVote]:
    """Settle each acronym over the corpus: one vote per document and long form.

    Variants of one long form (plural, hyphens, spelling) vote together, and so do an acronym and its plural: where
    "FTA" is one thing and "FTAs" are another, a page cannot tell them. The winner needs 80% of the votes; otherwise the
    acronym is ambiguous and stays apart.
    """
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    variants: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    documents: Counter[str] = Counter()
    for pairs in per_document:
        distinct = sorted({(_singular(acronym), fold(long_form)) for acronym, long_form in pairs})
        documents.update({acronym for acronym, _ in distinct})
        for acronym, normal in sorted({(acronym, normal_form(text)) for acronym, text in distinct}):
            votes[acronym][normal] += 1
        for acronym, text in distinct:
            variants[acronym, normal_form(text)][text] += 1
    result = {}
    for acronym in sorted(votes):
        ranked = sorted(votes[acronym].items(), key=lambda item: (-item[1], item[0]))
        normal, count = ranked[0]
        clear = 100 * count >= _MIN_SHARE_PERCENT * sum(votes[acronym].values())
        forms = sorted(variants[acronym, normal].items(), key=lambda item: (-item[1], item[0]))
        result[acronym] = AcronymVote(
            acronym, tuple(text for text, _ in forms) if clear else (), documents[acronym], not clear
        )
    return result
