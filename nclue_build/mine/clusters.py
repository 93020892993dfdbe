"""Alias clusters: forms with one normal form, and acronyms with their long form."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.text import fold
from nclue_build.mine.normal import normal_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.mine.acronyms import AcronymVote


@dataclass(frozen=True, slots=True)
class FormCluster:
    """Forms that name one concept, before judging.

    Args:
        key: Normal form, unique.
        forms: Indices of the candidate forms in it, ascending.
        long_forms: Folded long forms that acronym definitions add.
        acronyms: Acronyms linked to it, as written.
        links: Why the parts belong together, in words.
    """

    key: str
    forms: tuple[int, ...]
    long_forms: tuple[str, ...]
    acronyms: tuple[str, ...]
    links: tuple[str, ...]


def build_clusters(
    strings: Sequence[str], candidates: Iterable[int], acronyms: Mapping[str, AcronymVote], capitals: Iterable[int]
) -> list[FormCluster]:
    """Group candidate forms.

    Args:
        strings: Folded string of every form.
        candidates: Indices of the forms that take part.
        acronyms: Corpus-wide vote.
        capitals: Indices of the forms that stand in capitals (nearly) wherever they occur; only
            these can be the acronym (so that "aids" is never merged with "AIDS").

    Returns:
        Clusters sorted by key; every candidate is in exactly one.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for form in candidates:
        groups[normal_form(strings[form])].append(form)
    shouting = {strings[form] for form in capitals}
    by_long: dict[str, list[AcronymVote]] = defaultdict(list)
    for vote in acronyms.values():
        if vote.long_forms:
            by_long[normal_form(vote.long_forms[0])].append(vote)
    claimed: dict[str, str] = {}
    for key in sorted(by_long):
        for vote in by_long[key]:
            short = normal_form(vote.acronym)
            written = fold(vote.acronym)
            if short not in groups or written in shouting or written + "s" in shouting:
                claimed.setdefault(short, key)
    # An acronym's own group joins its long form's cluster, even where the long form is no candidate itself.
    keys = sorted({claimed.get(key, key) for key in groups})
    clusters = []
    for key in keys:
        votes = [vote for vote in by_long.get(key, ()) if claimed.get(normal_form(vote.acronym)) == key]
        shorts = sorted({normal_form(vote.acronym) for vote in votes})
        members = sorted({*groups.get(key, ()), *(form for short in shorts for form in groups.get(short, ()))})
        long_forms = sorted({text for vote in votes for text in vote.long_forms})
        clusters.append(
            FormCluster(
                key=key,
                forms=tuple(members),
                long_forms=tuple(long_forms),
                acronyms=tuple(sorted(vote.acronym for vote in votes)),
                links=tuple(f"{vote.acronym} = {vote.long_forms[0]} ({vote.documents} documents)" for vote in votes),
            )
        )
    return clusters
