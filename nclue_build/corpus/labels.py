"""Printed page labels of a PDF: the number tree of its rules, and what they call a page."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pymupdf

from nclue_build.core.text import clean_raw

_mupdf: Any = pymupdf  # it ships no types
_MAX_LABEL: Final = 100
"""No printed label has more characters; a damaged rule can ask for a hundred thousand."""
_MAX_NODES: Final = 10_000
"""Nodes of a number tree that are looked at, and rules of a node: one that refers to itself has no end."""
BAD_DATA: Final = (
    AssertionError,
    AttributeError,
    LookupError,
    OverflowError,
    RuntimeError,
    SystemError,
    TypeError,
    ValueError,
    _mupdf.mupdf.FzErrorBase,
)
"""What MuPDF and the Python around it raise where what hangs on a document is not what they expect."""


class LabelRule(NamedTuple):
    """How pages are numbered from a page on.

    Args:
        first: Index of the first page.
        style: ``D``, ``r``, ``R``, ``a``, ``A``, or nothing where there is a prefix alone.
        prefix: What stands before each number.
        start: Number of the first page.
    """

    first: int
    style: str = ""
    prefix: str = ""
    start: int = 1


def label_rules(document: Any) -> list[LabelRule]:
    """The rules of a document, by first page; none where they cannot be read.

    PyMuPDF's own reader of them takes a prefix as it is written, escapes and all, and asking MuPDF for the label of
    each page would read all rules each time.
    """
    mupdf = _mupdf.mupdf
    try:
        trailer = mupdf.pdf_trailer(_mupdf._as_pdf_document(document))  # noqa: SLF001 - no public way to the objects
        nodes = [mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(trailer, "Root"), "PageLabels")]
        rules: dict[int, LabelRule] = {}
        for _ in range(_MAX_NODES):
            if not nodes:
                break
            node = nodes.pop()
            kids = mupdf.pdf_dict_gets(node, "Kids")
            n_kids = min(mupdf.pdf_array_len(kids), _MAX_NODES - len(nodes))
            nodes += [mupdf.pdf_array_get(kids, index) for index in range(n_kids)]
            numbers = mupdf.pdf_dict_gets(node, "Nums")
            for index in range(0, min(mupdf.pdf_array_len(numbers) - 1, 2 * _MAX_NODES), 2):
                rule = _rule(mupdf.pdf_array_get(numbers, index), mupdf.pdf_array_get(numbers, index + 1))
                rules.setdefault(rule.first, rule)
    except BAD_DATA:  # broken labels are no reason to lose the document
        return []
    return [rules[first] for first in sorted(rules)]


def _rule(first: Any, written: Any) -> LabelRule:
    mupdf = _mupdf.mupdf
    start = mupdf.pdf_dict_gets(written, "St")
    return LabelRule(
        first=mupdf.pdf_to_int(first),
        style=mupdf.pdf_to_name(mupdf.pdf_dict_gets(written, "S")),
        prefix=mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(written, "P")),
        start=mupdf.pdf_to_int(start) if mupdf.pdf_is_int(start) else 1,
    )


def page_label(rules: list[LabelRule], index: int) -> str | None:
    """What a page is called; None where nothing says so, or nothing that makes sense."""
    rule = next((rule for rule in reversed(rules) if rule.first <= index), None)
    if rule is None or len(rule.prefix) > _MAX_LABEL:
        return None
    number = index - rule.first + rule.start - (rule.style in {"a", "A"})
    if rule.style in {"r", "R"} and number > _MAX_LABEL * 1000:  # each thousand is a letter
        return None
    try:
        label = " ".join(clean_raw(_mupdf.utils.construct_label(rule.style, rule.prefix, number))[0].split())
    except BAD_DATA:  # a broken label is no reason to lose the page
        return None
    return label if 0 < len(label) <= _MAX_LABEL else None
