from __future__ import annotations

from typing import Any

import orjson
import pytest

from nclue_build.corpus.nontext import TrueRoles, is_code, is_contents, is_placeholder
from nclue_build.corpus.summary import DocumentSums, MadeBlock

LOREM = (
    "Etiam commodo feugiat nisl pulvinar pellentesque. Etiam auctor sodales ligula, non varius nibh pulvinar semper. "
    "Suspendisse nec lectus non ipsum convallis congue hendrerit vitae sapien."
)


@pytest.mark.parametrize(
    "text",
    [
        r"1113 \let\@secnumfont\@empty",
        "1745 \u27e8/amsbook\u27e9",
        '# cat /usr/local/bin/term <<EOF\n#!/bin/sh\ngnome-terminal -e "mutt \\$@"\nEOF',
        "read_config(Id, Module) -> {ok, Data} | {error, Reason}",
        "x <- c(1, 2); y <- data$count",
        "{ rank = same; 1988; }",
    ],
)
def test_code_is_told_by_its_signs(text: str) -> None:
    assert is_code(text)
    assert TrueRoles(text, latin=False).of("text", text) == TrueRoles(text, latin=True).of("list", text) == "code"
    assert TrueRoles(text, latin=False).of("title", text) == "title"
    assert TrueRoles(text, latin=True).of("header", text) == "header"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "Revenue rose from $3.2 million to $4.1 million, and then to $5 million.",
        "Name: ____________ Date: ______ Signature: ______________",
        "==============================",
        "See https://www.example.gov/a_report_of_2022.pdf for the details of this programme and its budget.",
        "Set the option \\texttt before the title, and the page number will stand on the right of every page again.",
        "The effect was small (r = .35, p < .01), and it did not return in the year after the programme had ended.",
    ],
)
def test_sums_blanks_rules_and_sentences_are_no_code(text: str) -> None:
    assert TrueRoles(text, latin=False).of("text", text) == ("code" if text == "{}" else "text")


def test_placeholder_text_is_told_by_its_words() -> None:
    assert is_placeholder(LOREM)
    assert is_placeholder(LOREM.upper())
    assert TrueRoles(LOREM, latin=True).of("text", LOREM) == TrueRoles(LOREM, latin=True).of("title", LOREM) == "other"
    assert TrueRoles(LOREM, latin=True).of("footer", LOREM) == "footer"
    assert not is_placeholder("lorem ipsum dolor " * 20)  # three words alone are no text
    assert not is_placeholder(f"{'The report quotes it as a sample of what printers set. ' * 20} {LOREM}")
    assert not is_placeholder(
        "The court held, nunc pro tunc, that res judicata and amicus briefs do not apply here at all."
    )


def test_lines_of_contents_outside_their_page_are_told_by_their_leaders() -> None:
    text = "10.11 The Abstract Page . . . . 24\n10.12 The Acknowledgments Page 25\n10.13 The Dedication Page . . . 26"
    assert is_contents(text)
    assert TrueRoles(text, latin=False).of("text", text) == "toc"
    assert TrueRoles(text, latin=False).of("caption", text) == "caption"
    assert not is_contents("It went on ... 3 times, then stopped . . . and nobody knew why.")
    assert not is_contents("10.11 The Abstract Page . . . . 24")


def test_only_the_roles_of_a_page_change(make_page: Any) -> None:
    prose = "A report on harbour dredging. " * 20
    made = [MadeBlock("text", None, text, None) for text in (LOREM, r"\def\a#1{\b#1}", prose)]
    page = make_page([])
    row = orjson.loads(DocumentSums(1, "pymupdf", "1").add_page(page, made, []))
    assert [(block["role"], block["text"]) for block in row["blocks"]] == [
        ("other", LOREM),
        ("code", r"\def\a#1{\b#1}"),
        ("text", prose),
    ]


def test_a_page_of_placeholder_text_alone_is_shown_as_text(make_page: Any) -> None:
    made = [MadeBlock("text", None, LOREM, None)] * 4
    row = orjson.loads(DocumentSums(1, "pymupdf", "1").add_page(make_page([]), made, []))
    assert [block["role"] for block in row["blocks"]] == ["text"] * 4
    assert row["flags"]
