from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.ids import (
    condition_id,
    document_id,
    document_id_problem,
    id_problem,
    page_id,
    query_id,
    slug,
)

DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize("value", ["a", "A.b_c-1", "9", "x" * 200])
def test_safe_ids(value: str) -> None:
    assert id_problem(value) is None


@pytest.mark.parametrize(
    "value", ["", "../x", "a b", "a/b", "a#b", ".a", "-a", "_a", "a\n", "é", "x" * 201, "a\tb", "a\\b", "a:b"]
)
def test_unsafe_ids(value: str) -> None:
    problem = id_problem(value)
    assert problem is not None
    assert "\n" not in problem


def test_a_document_id_is_no_page_id() -> None:
    assert document_id_problem("report_p0007") is not None
    assert document_id_problem("report_p7x") is None
    assert document_id_problem("a b") is not None
    assert page_id("report", 7) == "report_p0007"
    assert page_id("report", 12345) == "report_p12345"


@given(st.text(max_size=120))
def test_made_document_ids_are_safe(stem: str) -> None:
    made = document_id(stem, DIGEST)
    assert document_id_problem(made) is None
    assert made.endswith("_01234567")


@given(st.text(min_size=1, max_size=80))
def test_made_condition_ids_are_safe(name: str) -> None:
    assert id_problem(condition_id(name)) is None


def test_condition_ids_tell_alike_names_apart() -> None:
    assert condition_id("Water Rights") != condition_id("water rights")
    assert condition_id("Water Rights").startswith("water-rights_")
    assert condition_id("水").startswith("unnamed_")
    assert slug("  Ünïcode & more! ") == "ncode-more"


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=2, max_size=4, unique=True), st.randoms())
def test_a_query_id_depends_on_the_set_of_its_conditions(ids: list[str], random: object) -> None:
    shuffled = list(ids)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert query_id(ids) == query_id(shuffled)
    assert id_problem(query_id(ids)) is None
    assert query_id(ids) != query_id([*ids, "e"])
