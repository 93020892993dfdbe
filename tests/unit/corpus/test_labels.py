"""Printed page labels: read as they are meant, and never a reason to lose a page."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    pymupdf: Any = importlib.import_module("pymupdf")
    labels: Any = importlib.import_module("nclue_build.corpus.labels")


def labelled(tree: str, *more: str, n_pages: int = 4) -> Any:
    document = pymupdf.open()
    for _ in range(n_pages):
        document.new_page()
    numbers = [document.get_new_xref() for _ in more]
    for number, content in zip(numbers, more, strict=True):
        document.update_object(number, content)
    for index, number in enumerate(numbers):
        tree = tree.replace(f"@{index}", f"{number} 0 R")
    document.xref_set_key(document.pdf_catalog(), "PageLabels", tree)
    return document


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("<</Nums[0<</S/r>>2<</S/D>>]>>", ["i", "ii", "1", "2"]),
        ("<</Nums[2<</S/D>>0<</S/r/St 3>>]>>", ["iii", "iv", "1", "2"]),
        (r"<</Nums[0<</P(A\)\(\\-)/S/D>>]>>", ["A)(\\-1", "A)(\\-2", "A)(\\-3", "A)(\\-4"]),
        ("<</Nums[0<</P<FEFF00410070002F>/S/D>>]>>", ["Ap/1", "Ap/2", "Ap/3", "Ap/4"]),
        ("<</Nums[1<</P(Cover)>>2<</S/A>>]>>", [None, "Cover", "A", "B"]),
        ("<</Kids[<</Kids[<</Nums[0<</S/r>>]>>]>><</Nums[2<</S/D>>]>>]>>", ["i", "ii", "1", "2"]),
        ("<</Nums[0<</S/R/St 99999999>>]>>", [None] * 4),
        (f"<</Nums[0<</P({'x' * 2000})/S/D>>]>>", [None] * 4),
        ("<</Nums[0<</S/a/St -40>>]>>", [None] * 4),
        ("<</Nums[0<</S/D/St(x)>>]>>", ["1", "2", "3", "4"]),
        ("<</Nums[0]>>", [None] * 4),
        ("<</Nums 7>>", [None] * 4),
        ("(x)", [None] * 4),
        ("null", [None] * 4),
    ],
)
def test_pages_are_called_what_the_rules_say(tree: str, expected: list[str | None]) -> None:
    rules = labels.label_rules(labelled(tree))
    assert [labels.page_label(rules, index) for index in range(4)] == expected


def test_a_tree_that_contains_itself_has_an_end() -> None:
    document = labelled("<</Kids[@0]>>", "<<>>")
    tree = int(document.xref_get_key(document.pdf_catalog(), "PageLabels")[1].split("[")[1].split()[0])
    document.update_object(tree, f"<</Kids[{tree} 0 R {tree} 0 R]/Nums[0<</S/r>>]>>")
    rules = labels.label_rules(document)
    assert [labels.page_label(rules, index) for index in range(4)] == ["i", "ii", "iii", "iv"]


def test_what_is_no_pdf_has_no_rules() -> None:
    assert labels.label_rules(object()) == []
