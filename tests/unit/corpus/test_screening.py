from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.corpus.screening import screen
from nclue_build.corpus.summary import Summary
from nclue_build.records.config import ExtractSection
from nclue_build.records.corpus import CorpusRow

if TYPE_CHECKING:
    from nclue_build.corpus.screening import Screening


def decided(documents: dict[str, tuple[str, Summary]], **settings: Any) -> Screening:
    rows = [
        CorpusRow(doc_id=doc_id, source=source, file_name="x", sha256=f"{number:064d}")
        for number, (doc_id, (source, _)) in enumerate(sorted(documents.items()))
    ]
    return screen(rows, {doc_id: summary for doc_id, (_, summary) in documents.items()}, ExtractSection(**settings))


def good(n_pages: int = 10, **fields: Any) -> Summary:
    return Summary(n_pages=n_pages, ok=n_pages, passed=n_pages, language="en", n_words=500, **fields)


def bad(n_pages: int = 10) -> Summary:
    problems = [(page, "page_error", "cycle") for page in range(2, n_pages + 1)]
    return Summary(n_pages=n_pages, ok=1, passed=1, failed=n_pages - 1, language="en", problems=problems)


def test_a_source_below_the_rate_goes_with_its_documents() -> None:
    screening = decided({"a": ("s", good()), "b": ("t", bad()), "c": ("t", good())})
    assert [(d.doc_id, d.in_benchmark, d.removed) for d in screening.documents] == [
        ("a", True, None),
        ("b", False, "source_below_rate"),
        ("c", False, "source_below_rate"),
    ]
    assert [(s.source, s.n_pages, s.pages_passed, s.passed) for s in screening.sources] == [
        ("s", 10, 10, True),
        ("t", 20, 11, False),
    ]
    assert screening.documents[1].message == "page 2 and 8 more failed: cycle"


def test_a_lone_source_stays() -> None:
    screening = decided({"a": ("s", bad())})
    assert screening.documents[0].in_benchmark
    assert not screening.sources[0].passed


@pytest.mark.parametrize(("rate", "passed"), [(0.98, True), (0.981, False)])
def test_the_rate_is_compared_exactly(rate: float, passed: bool) -> None:  # noqa: FBT001 - a parameter of the test
    summary = Summary(n_pages=50, ok=49, passed=49, failed=1, language="en")
    assert decided({"a": ("s", summary)}, min_extraction_rate=rate).sources[0].passed is passed


def test_a_listed_number_of_pages_never_decides_about_a_source() -> None:
    rows = [
        CorpusRow(doc_id="a", source="s", file_name="a", n_pages=1_000_000),
        CorpusRow(doc_id="b", source="s", file_name="b"),
        CorpusRow(doc_id="c", source="t", file_name="c"),
    ]
    summaries = {"a": Summary(error="not a PDF"), "b": good(99), "c": good()}
    source = screen(rows, summaries, ExtractSection(min_extraction_rate=0.98)).sources[0]
    assert (source.n_pages, source.pages_passed, source.passed) == (100, 99, True)


def test_an_unreadable_document_says_why() -> None:
    screening = decided(
        {
            "a": ("s", good(100)),
            "b": ("s", Summary(error="encrypted: needs a password")),
            "c": ("s", Summary(n_pages=1, empty=1, flags=["no_text_layer"])),
            "d": ("s", Summary(n_pages=1, empty=1, flags=["no_text_layer", "ocr"])),
        }
    )
    assert [(d.status, d.removed, d.message) for d in screening.documents[1:]] == [
        ("failed", "unreadable", "encrypted: needs a password"),
        ("failed", "unreadable", "no text layer: needs OCR"),
        ("failed", "unreadable", "no text layer: no text was recognised on any page"),
    ]


def test_the_copy_in_a_failing_source_does_not_take_the_good_one_along() -> None:
    same: dict[str, Any] = {"text_sha256": "f" * 64, "n_text_chars": 9}
    screening = decided({"a": ("bad", good(**same)), "b": ("bad", bad(50)), "c": ("good", good(**same))})
    assert [d.removed for d in screening.documents] == ["source_below_rate", "source_below_rate", None]
    assert screening.groups == ()


def test_duplicates_are_removed_or_kept() -> None:
    same: dict[str, Any] = {"text_sha256": "f" * 64, "n_text_chars": 9}
    documents = {"a": ("s", good(**same)), "b": ("s", good(**same))}
    assert [d.removed for d in decided(documents).documents] == [None, "duplicate"]
    assert [d.removed for d in decided(documents, duplicates="keep").documents] == [None, None]


@pytest.mark.parametrize(
    ("summary", "flags"),
    [
        (good(), ()),
        (Summary(n_pages=1, ok=1, passed=1, language="de"), ("non_english",)),
        (Summary(n_pages=1, ok=1, passed=1), ("language_unknown",)),
        (good(placeholder_pages=5), ("placeholder_text",)),
        (good(placeholder_pages=4), ()),
    ],
)
def test_only_english_documents_with_text_of_their_own_can_be_golds(summary: Summary, flags: tuple[str, ...]) -> None:
    (document,) = decided({"a": ("s", summary)}).documents
    assert document.flags == flags
    assert document.gold_eligible is not bool(flags)
    assert document.in_benchmark
