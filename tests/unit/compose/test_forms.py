from __future__ import annotations

import pytest

from nclue_build.compose.forms import clean_name, form_problems, parse, render
from nclue_build.records.benchmark import Forms, QueryCondition


def conditions(*raw_names: str) -> tuple[QueryCondition, ...]:
    return tuple(
        QueryCondition(condition_id=f"c{index}", name=clean_name(name), raw_name=name, aliases=(name,))
        for index, name in enumerate(raw_names)
    )


def test_the_forms_of_three_conditions() -> None:
    assert render(conditions("Executive Summary", "COVID-19", "Sanctions")) == Forms(
        raw="Executive Summary, COVID-19, and Sanctions",
        clean_v2='"Executive Summary"; "COVID-19"; "Sanctions"',
        natural='Find the document that discusses "Executive Summary", "COVID-19", and "Sanctions".',
    )


def test_the_forms_of_two_conditions() -> None:
    assert render(conditions("oil and gas", "tariffs")) == Forms(
        raw="oil and gas and tariffs",
        clean_v2='"oil and gas"; "tariffs"',
        natural='Find the document that discusses "oil and gas" and "tariffs".',
    )


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  Supply   chains: ", "Supply chains"),
        ('the "Green Book"', "the Green Book"),
        ("\u201cGreen Book\u201d", "Green Book"),
        ("risks; hazards", "risks, hazards"),
        ("water (potable", "water potable"),
        ("water (potable)", "water (potable)"),
        ("- grants \u2013", "grants"),
        ("C++ code", "C++ code"),
        ('";"', "','"),
        ("U.S. exports", "U.S. exports"),
    ],
)
def test_names_are_cleaned(raw: str, clean: str) -> None:
    assert clean_name(raw) == clean
    assert clean_name(clean) == clean


def test_forms_parse_back_whatever_the_names_hold() -> None:
    rows = conditions('a "b"; c', "d and e", "f, g; h")
    forms = render(rows)
    assert parse(forms.clean_v2) == parse(forms.natural) == tuple(row.name for row in rows)
    assert form_problems(rows, forms) == []


def test_problems_are_found() -> None:
    rows = conditions("alpha", "beta")
    good = render(rows)
    assert form_problems(rows, good.model_copy(update={"raw": "alpha and bet"})) == [
        ("raw", "'beta' is not in the form")
    ]
    found = form_problems(rows, good.model_copy(update={"clean_v2": '"beta"; "alpha"'}))
    assert found == [
        ("clean_v2", "does not parse back into its concepts"),
        ("clean_v2", "does not split at '; ' into its concepts"),
    ]
