from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.compose.redundancy import content_keys, key_matrix, stem, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.inventory import Condition


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("climate change", "climate change adaptation"),
        ("regulation", "regulatory process"),
        ("policies", "policy"),
        ("cost-effective", "cost"),
        ("GDP", "gross domestic product"),
        ("US", "us"),
        ("the who", "who"),
        ("Department of Labor", "Labor's share"),
    ],
)
def test_forms_that_say_the_same(first: str, second: str, make_condition: Callable[..., Condition]) -> None:
    matrix = key_matrix(content_keys([make_condition("a", first), make_condition("b", second)]))
    assert (matrix @ matrix.T).toarray()[0, 1] > 0


@pytest.mark.parametrize(
    ("first", "second"),
    [("climate change", "supply chain"), ("Department of Labor", "Office of Education"), ("gas", "glass")],
)
def test_forms_that_do_not(first: str, second: str, make_condition: Callable[..., Condition]) -> None:
    matrix = key_matrix(content_keys([make_condition("a", first), make_condition("b", second)]))
    assert (matrix @ matrix.T).toarray()[0, 1] == 0


def test_every_alias_counts(make_condition: Callable[..., Condition]) -> None:
    keys = content_keys([make_condition("a", "asylum", "refugee protection"), make_condition("b", "refugees")])
    assert keys[0] & keys[1]


def test_no_conditions() -> None:
    assert key_matrix([]).shape == (0, 1)


def test_words_and_stems() -> None:
    assert words("The Board\u2019s cost-effective U.S. plan") == ("the", "board", "cost", "effective", "u", "s", "plan")
    assert [stem(word) for word in ("gas", "class", "ties", "policies")] == ["gas", "class", "tie", "policy"]
