from __future__ import annotations

import pytest

from nclue_build.mine.acronyms import definitions, vote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the Asset Renewal Fund (ARF) pays", [("ARF", "Asset Renewal Fund")]),
        ("Performance and Results Act of 1993 (PRA)", [("PRA", "Performance and Results Act of 1993")]),
        ("the Department of Defense (DoD)", [("DoD", "Department of Defense")]),
        ("Proximal policy optimization (PPO)", [("PPO", "Proximal policy optimization")]),
        ("Women, Infants, and Children (WIC)", [("WIC", "Women, Infants, and Children")]),
        ("cost-benefit analysis (CBA; see below)", [("CBA", "cost-benefit analysis")]),
        ("sustainable drainage systems (SuDS)", [("SuDS", "sustainable drainage systems")]),
        ("strong drainage systems (SuDS)", []),
        ("key performance indicators (KPIs)", [("KPIs", "key performance indicators")]),
    ],
)  # fmt: skip
def test_definitions_are_found_whole(text: str, expected: list[tuple[str, str]]) -> None:
    assert definitions(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "as shown (Table 3)",
        "the report (GAO) says",
        "ended. Fund (ARF)",
        "something else entirely (XYZ)",
        "Energy (E)",
    ],
)
def test_what_is_no_definition_is_left_alone(text: str) -> None:
    assert definitions(text) == []


def test_an_acronym_and_its_plural_vote_together() -> None:
    votes = vote(
        [
            [("FTA", "Federal Transit Administration")],
            [("FTA", "Federal Transit Administration")],
            [("FTAs", "free trade agreements"), ("KPIs", "key performance indicators")],
        ]
    )
    assert votes["FTA"].ambiguous
    assert votes["KPI"].long_forms == ("key performance indicators",)
    assert "FTAs" not in votes


def test_variants_of_one_long_form_vote_together() -> None:
    votes = vote([[("FQHC", "federally qualified health center")], [("FQHC", "Federally Qualified Health Centers")]])
    assert not votes["FQHC"].ambiguous
    assert votes["FQHC"].documents == 2
    assert set(votes["FQHC"].long_forms) == {"federally qualified health center", "federally qualified health centers"}


def test_an_acronym_with_unrelated_long_forms_is_ambiguous() -> None:
    votes = vote([[("CRM", "customer relationship management")], [("CRM", "coastal resource mapping")]])
    assert votes["CRM"].ambiguous
    assert votes["CRM"].long_forms == ()
