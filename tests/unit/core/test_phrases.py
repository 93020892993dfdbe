from __future__ import annotations

import pytest

from nclue_build.core.phrases import counted


@pytest.mark.parametrize(
    ("number", "noun", "said"),
    [(0, "document", "0 documents"), (1, "query", "1 query"), (2, "query", "2 queries"), (3, "key", "3 keys")],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, said: str) -> None:
    assert counted(number, noun) == said
