from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.corpus import contents, references
from nclue_build.corpus.headings import may_have_heading

if TYPE_CHECKING:
    import re

CONTENTS = ["contents", "inhaltsverzeichnis", "sommaire", "table des mati\u00e8res"] + [
    f"{kind} of {listed}" for kind in ("list", "table", "index") for listed in contents._LISTABLE
]
LISTS = [
    "references", "references cited", "reference documents", "reference list", "reference section",
    "notes and references", "selected bibliography", "bibliographies", "bibliographic references",
    "bibliographical references", "work cited", "works consulted", "literature", "literature cited", "literatur",
    "literaturverzeichnis", "sources cited", "sources consulted", "further reading", "suggested readings",
    "recommended reading",
]  # fmt: skip
OTHERS = ["index", "notes", "sources", "citations", "related products", "related publications", "related gao reports"]


@pytest.mark.parametrize(
    ("pattern", "stems", "headings"),
    [
        (contents._CONTENTS, contents._CONTENTS_STEMS, CONTENTS),
        (references._LIST_HEADING, references._STEMS, LISTS),
        (references._NOTES_HEADING, references._STEMS, ["endnotes", "end notes"]),
        (references._OTHER_HEADING, references._STEMS, OTHERS),
    ],
    ids=["contents", "list", "notes", "other"],
)
def test_no_heading_is_overlooked(pattern: re.Pattern[str], stems: tuple[bytes, ...], headings: list[str]) -> None:
    alike = {"i": "\u0131\u0130", "s": "\u017f", "k": "\u212a"}
    for heading in headings:
        written = [heading, heading.title(), heading.upper(), heading.replace(" ", "\u00a0")]
        written += [heading.replace(plain, letter) for plain, letters in alike.items() for letter in letters]
        for line in written:
            assert pattern.fullmatch(line), line
            assert may_have_heading(["The text of a page.", line], stems), line


@pytest.mark.parametrize("spaced", sorted(references._SPACED | {"contents", "tableofcontents"}))
def test_spaced_headings_are_not_overlooked(spaced: str) -> None:
    stems = references._STEMS if spaced in references._SPACED else contents._CONTENTS_STEMS
    assert may_have_heading(["\u2003".join(spaced.upper())], stems)
    assert not may_have_heading(["The text of a page."], stems)
