"""The renderings of a query, and the proof that every concept stands in them verbatim.

Texts only: ids and qrels never depend on a form (n-Clue supplement, section 2). ``raw`` keeps the names as mined,
so a concept that contains "and" is ambiguous there; ``clean_v2`` and ``natural`` put every cleaned name in
double quotes, and cleaning takes double quotes and semicolons out of names, so both can be parsed back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from nclue_build.records.benchmark import Forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.records.benchmark import QueryCondition

FormName: TypeAlias = Literal["raw", "clean_v2", "natural"]
"""The deterministic forms."""

_DOUBLE_QUOTES = re.compile('["\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02]')
_SPACE = re.compile(r"\s+")
_SEMICOLON = re.compile(r"\s*[;\uff1b]+\s*")
_EDGES = " \t.,:;!?*_|/\\~^=+<>-\u2010\u2011\u2012\u2013\u2014\u2022\u00b7'`\u2018\u2019"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_QUOTED = re.compile(r'"([^"]*)"')


def clean_name(raw_name: str) -> str:
    """Clean a mined name: white space, stray punctuation, double quotes, semicolons, unbalanced brackets.

    Returns:
        The cleaned name; the name with white space folded where nothing else would be left.
    """
    name = _SPACE.sub(" ", _DOUBLE_QUOTES.sub("", raw_name)).strip()
    name = _SEMICOLON.sub(", ", name)
    for left, right in _BRACKETS.items():
        if name.count(left) != name.count(right):
            name = name.replace(left, " ").replace(right, " ")
    name = _SPACE.sub(" ", name).strip(_EDGES)
    return name or _SPACE.sub(" ", raw_name.replace('"', "'").replace(";", ",")).strip()


def list_with_and(parts: Sequence[str]) -> str:
    """Join names: two with "and", more with commas and an "and" before the last."""
    if len(parts) < 3:  # noqa: PLR2004 - the comma comes with the third
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def render(conditions: Sequence[QueryCondition]) -> Forms:
    """Render the deterministic forms of a query; a paraphrase is never invented here."""
    quoted = [f'"{condition.name}"' for condition in conditions]
    return Forms(
        raw=list_with_and([condition.raw_name for condition in conditions]),
        clean_v2="; ".join(quoted),
        natural=f"Find the document that discusses {list_with_and(quoted)}.",
    )


def parse(form: str) -> tuple[str, ...]:
    """The concepts of a ``clean_v2`` or ``natural`` form."""
    return tuple(_QUOTED.findall(form))


def form_problems(conditions: Sequence[QueryCondition], forms: Forms) -> list[tuple[FormName, str]]:
    """Check the forms of one query.

    Returns:
        ``(form, what is wrong)`` for every concept missing verbatim and every form that does not parse back.
    """
    problems: list[tuple[FormName, str]] = []
    names = tuple(condition.name for condition in conditions)
    quoted: tuple[tuple[FormName, str], ...] = (("clean_v2", forms.clean_v2), ("natural", forms.natural))
    expected: tuple[tuple[FormName, str, tuple[str, ...]], ...] = (
        ("raw", forms.raw, tuple(condition.raw_name for condition in conditions)),
        *((label, text, names) for label, text in quoted),
    )
    for label, text, concepts in expected:
        problems.extend((label, f"{concept!r} is not in the form") for concept in concepts if concept not in text)
    problems.extend((label, "does not parse back into its concepts") for label, text in quoted if parse(text) != names)
    if tuple(forms.clean_v2.split("; ")) != tuple(f'"{name}"' for name in names):
        problems.append(("clean_v2", "does not split at '; ' into its concepts"))
    return problems
