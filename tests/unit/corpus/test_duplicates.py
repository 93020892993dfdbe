from __future__ import annotations

import random

import numpy as np
import pytest

from nclue_build.corpus.duplicates import Candidate, find_duplicates
from nclue_build.corpus.signature import N_PERMUTATIONS, SHINGLE_WORDS, SignatureBuilder
from nclue_build.corpus.words import Words


def signature(words: list[str]) -> bytes:
    builder = SignatureBuilder()
    for start in range(0, len(words), 100):
        builder.add(Words(words[start : start + 100]).hashes)
    return builder.finish()


def words(seed: int, count: int = 1000) -> list[str]:
    source = random.Random(seed)  # noqa: S311 - a fixed shuffle is the point
    return [f"w{source.randrange(5000)}" for _ in range(count)]


def candidate(doc_id: str, text: list[str], sha256: str | None = None) -> Candidate:
    joined = " ".join(text)
    return Candidate(doc_id, sha256 or f"bytes of {doc_id}", joined, len(joined), signature(text))


def resemblance(a: list[str], b: list[str]) -> float:
    def shingles(text: list[str]) -> set[tuple[str, ...]]:
        return {tuple(text[i : i + SHINGLE_WORDS]) for i in range(len(text) - SHINGLE_WORDS + 1)}

    return len(shingles(a) & shingles(b)) / len(shingles(a) | shingles(b))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_signatures_estimate_the_resemblance_of_shingle_sets(share: float) -> None:
    a = words(1, 4000)
    keep = int(len(a) * share)
    b = a[:keep] + words(2, len(a) - keep)
    equal = np.count_nonzero(np.frombuffer(signature(a), "<u4") == np.frombuffer(signature(b), "<u4"))
    assert abs(equal / N_PERMUTATIONS - resemblance(a, b)) < 0.15


def test_a_signature_does_not_depend_on_where_pages_end() -> None:
    text = words(3, 500)
    builder = SignatureBuilder()
    builder.add(Words(text).hashes)
    assert builder.finish() == signature(text)
    assert signature(["too", "few", "words"]) == b""


def test_groups_by_bytes_text_and_likeness() -> None:
    text = words(4)
    near = [*text[:500], "changed", *text[501:]]
    found = find_duplicates(
        [
            candidate("b", text, "same bytes"),
            candidate("a", text, "same bytes"),
            candidate("c", text),
            candidate("d", near),
            candidate("e", words(5)),
        ],
        remove=True,
    )
    assert [(group.kind, group.representative, group.doc_ids, group.removed) for group in found] == [
        ("exact", "a", ("a", "b"), ("b",)),
        ("near", "d", ("a", "d"), ("a",)),
        ("same_text", "a", ("a", "c"), ("c",)),
    ]


def test_keep_groups_but_removes_nothing() -> None:
    text = words(6)
    (group,) = find_duplicates([candidate("a", text), candidate("b", text)], remove=False)
    assert group.doc_ids == ("a", "b")
    assert group.removed == ()


def test_forms_filled_in_differently_are_no_duplicates() -> None:
    template = words(7, 400)
    forms = [candidate(f"form{number}", template + words(100 + number, 250)) for number in range(10)]
    assert find_duplicates(forms, remove=True) == []


def test_near_duplicates_do_not_chain() -> None:
    text = words(8, 1000)
    # Each resembles the next, the first and the last do not resemble each other.
    chain = [text[200 * step : 200 * step + 4000] + words(9, 3000)[: 900 - 200 * step] for step in range(3)]
    found = find_duplicates([candidate(f"d{step}", part) for step, part in enumerate(chain)], remove=True)
    for group in found:
        parts = {f"d{step}": part for step, part in enumerate(chain)}
        for doc_id in group.removed:
            assert resemblance(parts[group.representative], parts[doc_id]) > 0.6


def test_the_order_of_candidates_does_not_matter() -> None:
    pool = [candidate(f"d{number}", [*words(10)[: 900 - number], *words(11)[: 100 + number]]) for number in range(8)]
    expected = find_duplicates(pool, remove=True)
    assert find_duplicates(pool[::-1], remove=True) == expected
    assert expected


def test_documents_without_text_are_never_the_same() -> None:
    empty = [Candidate(f"d{number}", f"bytes{number}", "none", 0, b"") for number in range(3)]
    assert find_duplicates(empty, remove=True) == []
