from __future__ import annotations

import subprocess
import sys

import pytest

from nclue_build.core.english import function_words, plural, singular


@pytest.mark.parametrize("word", ["analysis", "species", "mass", "status", "texas", "gas", "us", "child's"])
def test_singular_leaves_doubtful_words_alone(word: str) -> None:
    assert singular(word) == word


@pytest.mark.parametrize(
    ("many", "one"),
    [("policies", "policy"), ("ties", "tie"), ("children", "child"), ("boxes", "box"), ("indices", "index")],
)
def test_singular_and_plural_are_each_other_s_inverse(many: str, one: str) -> None:
    assert singular(many) == one
    assert plural(one) == many or one == "tie"


def test_function_words_come_by_kind() -> None:
    assert function_words("articles") == {"a", "an", "the"}
    assert {"under", "of"} <= function_words("prepositions") < function_words()
    assert function_words() == function_words(
        "articles", "prepositions", "conjunctions", "pronouns", "auxiliaries", "others"
    )


def test_the_lists_are_read_when_first_asked_for() -> None:
    code = (
        "import sys, nclue_build.core.english as e; assert 'tomllib' in sys.modules; print(e._data.cache_info().misses)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "0"  # noqa: S603 - ourselves
