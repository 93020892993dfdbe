"""Names that stand twice in an object."""

from __future__ import annotations

import json

import pytest

from nclue_build.core.json_names import repeated_name


@pytest.mark.parametrize(
    ("text", "name"),
    [("{}", None), ('{"a":0,"b":1}', None), ('{"a":0,"b":1,"b":2,"a":3}', "a"), ('{"a":0,"\\u0061":1}', "a")],
)
def test_the_first_name_that_comes_again(text: str, name: str | None) -> None:
    assert json.loads(text, object_pairs_hook=repeated_name) == name


def test_many_names_are_looked_at_once_each() -> None:
    compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    pairs = [(Name(number), None) for number in range(1000)]
    assert repeated_name([*pairs, (Name(999), None)]) == "999"
    assert compared < 10 * len(pairs)
