"""The normal form that decides which surface forms name the same concept.

Conservative on purpose: a wrong merge poisons gold labels, a missed one only splits a condition. Merged are:
case, hyphen, space or nothing between words, British or American spelling, possessive, and a light plural of
the last word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from nclue_build.core.english import plural, singular
from nclue_build.core.text import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

_BRITISH: Final = {
    "programme": "program", "programmes": "programs", "labour": "labor", "centre": "center", "centres": "centers",
    "defence": "defense", "licence": "license", "licences": "licenses", "offence": "offense", "behaviour": "behavior",
    "behaviours": "behaviors", "behavioural": "behavioral", "harbour": "harbor", "harbours": "harbors",
    "neighbour": "neighbor", "neighbours": "neighbors", "neighbourhood": "neighborhood",
    "neighbourhoods": "neighborhoods", "colour": "color", "fibre": "fiber", "fibres": "fibers", "metre": "meter",
    "metres": "meters", "litre": "liter", "litres": "liters", "sulphur": "sulfur", "aluminium": "aluminum",
    "tyre": "tire", "tyres": "tires", "catalogue": "catalog", "catalogues": "catalogs", "dialogue": "dialog",
    "cheque": "check", "grey": "gray", "plough": "plow", "travelling": "traveling", "modelling": "modeling",
    "labelling": "labeling", "counselling": "counseling", "fuelling": "fueling", "enrolment": "enrollment",
    "fulfilment": "fulfillment", "ageing": "aging", "manoeuvre": "maneuver", "judgement": "judgment",
    "paediatric": "pediatric", "anaemia": "anemia", "haemorrhage": "hemorrhage", "oestrogen": "estrogen",
    "foetal": "fetal", "diarrhoea": "diarrhea", "aeroplane": "airplane", "mould": "mold", "vapour": "vapor",
    "favour": "favor", "honour": "honor", "rumour": "rumor", "tumour": "tumor", "tumours": "tumors",
    "vigour": "vigor", "odour": "odor", "odours": "odors", "armour": "armor", "theatre": "theater",
    "theatres": "theaters", "kerb": "curb", "kerbs": "curbs", "storey": "story", "artefact": "artifact",
    "artefacts": "artifacts", "analyse": "analyze", "analysed": "analyzed", "catalyse": "catalyze",
}  # fmt: skip
_ISE: Final = re.compile(r"(?<=[a-z]{3}[a-z])is(ation|ations|ational|ing|ed|er|ers)\Z")
_NOT_ISE: Final = re.compile(
    r"(?:adv|rev|superv|telev|improv|exerc|surpr|prom|compr|prem|enterpr|franch|disgu|exc"
    r"|dev|desp|r|w|ra|pra|no|po|cru|bru|merchand)is(?:ing|ed|er|ers)\Z"
)
_POSSESSIVE: Final = re.compile(r"'s?\Z")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_]{3})-(?=[^\W_])")


@lru_cache(maxsize=1 << 17)
def _word(word: str) -> str:
    word = _POSSESSIVE.sub("", word)
    if word in _BRITISH:
        return _BRITISH[word]
    if _ISE.search(word) and not _NOT_ISE.search(word):
        return _ISE.sub(r"iz\1", word)
    return word


def normal_form(form: str) -> str:
    """The key under which surface forms are merged: folded, American, last word singular, closed up.

    Closing up merges "ground water", "ground-water" and "groundwater". A hyphen after one or two letters
    stays: "re-creation" is no "recreation".
    """
    words = [word for part in fold(form).split(" ") if (word := _word(part))]
    if not words:
        return fold(form)
    pieces = [_word(piece) for word in words for piece in _HYPHEN.split(word)]
    return "".join([*pieces[:-1], singular(pieces[-1])])


_BRITISH_OF: Final = {american: british for british, american in reversed(_BRITISH.items())}
_IZE: Final = re.compile(r"(?<=[a-z]{3}[a-z])iz(ation|ations|ational|ing|ed|er|ers)\Z")


def variants(form: str, compounds: Mapping[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """Other spellings with the same normal form as a folded form, to be looked for on the pages.

    Plural and singular of the last word, British and American spelling, hyphen and space between
    words, open and closed compounds. Every one is checked against :func:`normal_form`, so a variant can never
    leave its cluster.

    Args:
        form: Folded form.
        compounds: Closed word -> hyphenated spellings the corpus uses ("groundwater": "ground-water").
    """
    words = form.split(" ")
    lasts = {words[-1], singular(words[-1]), plural(singular(words[-1]))}
    found = {" ".join([*words[:-1], last]) for last in lasts}
    for text in sorted(found):
        found.add(" ".join(_BRITISH_OF.get(word, _IZE.sub(r"is\1", word)) for word in text.split(" ")))
        found.add(" ".join(_word(word) for word in text.split(" ")))
    for text in sorted(found):
        for word in text.split(" "):
            for spelling in (compounds or {}).get(word, ()):
                found.add(" ".join(spelling if part == word else part for part in text.split(" ")))
    for text in sorted(found):
        if text.count("-") == 1:
            found.add(text.replace("-", " "))
        places = [index for index, char in enumerate(text) if char == " "]
        found.update(text[:place] + "-" + text[place + 1 :] for place in places)
    key = normal_form(form)
    return tuple(sorted(text for text in found if text != form and normal_form(text) == key))
