from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.mine.normal import normal_form, variants

WORDS = st.sampled_from(
    ["health", "centre", "organisation", "policies", "analysis", "labour", "series", "children", "cost-benefit", "gas"]
)
FORMS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cost-Benefit Analysis", "cost benefit analyses"),
        ("health centre", "Health Centers"),
        ("labour organisation", "labor organizations"),
        ("school meals programme", "school meals program"),
        ("child's rights", "child rights"),
        ("ground-water monitoring", "groundwater monitoring"),
        ("healthcare", "health care"),
    ],
)
def test_spelling_variants_share_a_normal_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("regarding", "rewarding"),
        ("climate change", "climate changed"),
        ("water supply", "water supplier"),
        ("news", "new"),
        ("advised", "advized"),
        ("re-creation", "recreation"),
    ],
)
def test_different_concepts_stay_apart(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@given(FORMS)
def test_a_variant_never_leaves_its_cluster(form: str) -> None:
    found = variants(form)
    assert form not in found
    assert all(normal_form(text) == normal_form(form) for text in found)


@given(FORMS)
def test_case_and_hyphens_between_words_do_not_matter(form: str) -> None:
    assert normal_form(form.replace(" ", "-").upper()) == normal_form(form)


def test_variants_hold_plural_spelling_and_hyphen() -> None:
    assert {"health centre", "health centers", "health-center"} <= set(variants("health center"))


def test_compounds_are_looked_for_as_the_corpus_spells_them() -> None:
    assert "ground-water monitoring" in variants("groundwater monitoring", {"groundwater": ("ground-water",)})
    assert "re-creation" not in variants("recreation", {"recreation": ("re-creation",)})
