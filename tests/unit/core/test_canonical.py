from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.canonical import canonical_json, sha256_bytes, sha256_file, sha256_json

if TYPE_CHECKING:
    from pathlib import Path

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcé", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_the_canonical_text() -> None:
    assert canonical_json({"b": [1, True, None], "a": "é\n"}) == b'{"a":"\xc3\xa9\\n","b":[1,true,null]}'


@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=4))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    turned = dict(reversed(value.items()))
    assert canonical_json(value) == canonical_json(turned)  # type: ignore[arg-type]


def test_tuples_are_lists() -> None:
    assert sha256_json((1, "a")) == sha256_json([1, "a"]) == hashlib.sha256(b'[1,"a"]').hexdigest()


@pytest.mark.parametrize("value", [1.5, [1.0], {"a": {"b": float("nan")}}, (0.1,)])
def test_floats_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="pass it as a string"):
        canonical_json(value)  # type: ignore[arg-type]


def test_lone_surrogates_are_refused_not_replaced() -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical_json("a\ud800")


def test_file_digests(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc" * 100_000)
    assert sha256_file(path) == sha256_bytes(b"abc" * 100_000)
