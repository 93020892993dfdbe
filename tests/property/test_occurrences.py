"""LAW: P(d, c) = pages where at least one alias of c occurs; the oracle is one regular expression per alias."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from nclue_build.core.text import fold, matching_text, readings
from nclue_build.mine.occurrences import DocumentOccurrences, Matcher, Pattern
from nclue_build.records.corpus import Block, PageRow

ROLES = frozenset({"text", "title"})
PIECES = st.sampled_from(
    ["climate", "Climate change", "change", "adaptation", "WHO", "who", "stra\u00dfe", "\ufb02ood", "\u0130zmir",
     "risk-", "risk", "-", "\n", " ", "-\n", "\u00ad\n", ".", "'s", "_", "2020",
     "co2", "\u00e9tat", "e\u0301tat", "\u00b9"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)
FORMS = [
    "climate",
    "climate change",
    "change adaptation",
    "flood risk",
    "risk",
    "co2",
    "\u00e9tat",
    "riskclimate",
    "risk-climate",
]
PATTERNS = [Pattern(form, "folded", index % 5) for index, form in enumerate(FORMS)] + [
    Pattern("WHO", "exact", 5),
    Pattern("stra\u00dfe", "exact", 6),
]


def pages_of(texts: list[list[tuple[str, str]]]) -> list[PageRow]:
    return [
        PageRow(
            doc_id="d",
            page=number,
            width=1,
            height=1,
            backend="test",
            backend_version="1",
            status="ok",
            text_sha256="0" * 64,
            blocks=tuple(
                Block(role="title" if role == "title" else "header" if role == "header" else "text", text=text)
                for role, text in blocks
            ),
        )
        for number, blocks in enumerate(texts, start=1)
    ]


DOCUMENTS = st.lists(
    st.lists(st.tuples(st.sampled_from(["text", "title", "header"]), TEXTS), max_size=3), max_size=3
).map(pages_of)


def expected(pages: list[PageRow], patterns: list[Pattern]) -> list[list[int]]:
    rows = []
    for owner in sorted({pattern.owner for pattern in patterns}):
        own = [pattern for pattern in patterns if pattern.owner == owner]
        for page in pages:
            mentions, heading = 0, False
            for block in page.blocks:
                if block.role not in ROLES:
                    continue
                best = 0
                for reading in readings(block.text):
                    starts = set()
                    for pattern in own:
                        folded = pattern.match == "folded"
                        form, text = (fold(pattern.form), fold(reading)) if folded else (pattern.form, reading)
                        starts |= {m.start() for m in re.finditer(rf"(?<!\w)(?={re.escape(form)}(?!\w))", text)}
                    best = max(best, len(starts))
                mentions += best
                heading |= bool(best) and block.role == "title"
            if mentions:
                rows.append([owner, page.page, mentions, int(heading)])
    return rows


def scan(pages: list[PageRow], patterns: list[Pattern]) -> DocumentOccurrences:
    return Matcher(patterns).scan(pages, ROLES)


@given(DOCUMENTS)
def test_evidence_equals_one_regular_expression_per_alias(pages: list[PageRow]) -> None:
    assert scan(pages, PATTERNS).evidence.tolist() == expected(pages, PATTERNS)


@given(DOCUMENTS, st.permutations(PATTERNS))
def test_evidence_does_not_depend_on_alias_order(pages: list[PageRow], patterns: list[Pattern]) -> None:
    assert scan(pages, patterns).evidence.tolist() == scan(pages, PATTERNS).evidence.tolist()


@given(DOCUMENTS)
def test_evidence_does_not_depend_on_chunking(pages: list[PageRow]) -> None:
    whole = scan(pages, PATTERNS).evidence.tolist()
    parts = [row for page in pages for row in scan([page], PATTERNS).evidence.tolist()]
    assert sorted(parts) == whole


@given(TEXTS)
def test_matching_text_is_idempotent_and_the_first_reading(text: str) -> None:
    once = matching_text(text)
    assert matching_text(once) == once
    assert readings(text)[0] == once


@given(st.text())
def test_fold_keeps_the_length(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


def test_a_word_broken_at_a_line_end_is_found_in_both_readings() -> None:
    pages = pages_of([[("text", "a risk-\nclimate study")]])
    assert scan(pages, [Pattern("riskclimate", "folded", 0)]).evidence.tolist() == [[0, 1, 1, 0]]
    assert scan(pages, [Pattern("risk-climate", "folded", 0)]).evidence.tolist() == [[0, 1, 1, 0]]


def test_headers_never_count() -> None:
    pages = pages_of([[("header", "climate")]])
    assert scan(pages, [Pattern("climate", "folded", 0)]).evidence.tolist() == []
