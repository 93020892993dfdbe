"""A sheet as a page for people: Markdown, an item a section, its places as quotations."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from nclue_build.core.excerpt import MARK
from nclue_build.records.reading import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nclue_build.records.reading import SheetItem

_SPECIAL: Final = re.compile(r"([\\`_<>\[\]#|])")
_FORMS_SHOWN: Final = 8
_QUESTIONS: Final = {
    "condition": "Is this a concept somebody could look for? `good`: yes. `vague`: too general, or only half a name. "
    "`junk`: a fragment, a label, a template's words, no concept.",
    "cluster": "Do all forms name the same concept? `right` or `wrong`.",
    "fact": "Does the page establish the condition? `right`. Else `wrong` (another sense, a part of another name), or "
    "where the form stands when that is no text of the page: `header`, `contents`, `reference`.",
    "query": "Could a person plausibly ask for a document about all of these, and does every gold cover each of them, "
    "as a topic really present, on different pages? `acceptable`. Else `implausible` or `uncovered`.",
}


def render_page(items: Iterable[SheetItem]) -> Iterator[str]:
    """Lines of the page.

    Args:
        items: Of one sheet, in its order.
    """
    listed = list(items)
    first = listed[0]
    yield f"# Reading sheet, seed {first.seed}"
    yield ""
    yield f"Build {first.build_sha256}. Write verdicts into `sheet.jsonl` (`verdict`, `reader`, `note`)."
    for (kind, stratum), group in groupby(listed, key=lambda item: (item.kind, item.stratum)):
        members = list(group)
        yield ""
        yield f"## {kind}, {stratum}: {len(members)} of {members[0].population}"
        yield ""
        yield f"{_QUESTIONS[kind]} ({' | '.join(VERDICTS[kind])})"
        for item in members:
            yield from _section(item)


def _section(item: SheetItem) -> Iterator[str]:
    yield ""
    yield f"### {_escape(item.name)}"
    yield ""
    more = "" if len(item.forms) <= _FORMS_SHOWN else f" and {len(item.forms) - _FORMS_SHOWN} more"
    yield f"`{item.item_id}`: {_escape('; '.join(item.forms[:_FORMS_SHOWN]))}{more}"
    for place in item.places:
        yield ""
        yield f"> {place.doc_id} p. {place.page}, {place.role}: {_escape(place.text or '')}"


def _escape(text: str) -> str:
    """Text as Markdown shows it unchanged; the marks around a concept stay."""
    parts = text.split(MARK)
    return MARK.join(_SPECIAL.sub(r"\\\1", part).replace("*", r"\*") for part in parts)
