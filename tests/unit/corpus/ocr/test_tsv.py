from __future__ import annotations

from typing import Any

import pytest

from nclue_build.corpus.ocr.tsv import COLUMNS, TableError, TextLine, Word, parse_table

HEAD = "\t".join(COLUMNS) + "\n"
PAGE = "1\t1\t0\t0\t0\t0\t0\t0\t1000\t800\t-1\t\n"
GOLDEN = (
    HEAD
    + PAGE
    + "2\t1\t1\t0\t0\t0\t627\t121\t186\t189\t-1\t\n"
    + "3\t1\t1\t1\t0\t0\t627\t121\t186\t189\t-1\t\n"
    + "4\t1\t1\t1\t1\t0\t631\t121\t174\t101\t-1\t\n"
    + "5\t1\t1\t1\t1\t1\t631\t121\t54\t73\t93.300613\tThe\n"
    + '5\t1\t1\t1\t1\t2\t700\t126\t97\t96\t91.444855\t"Linn\u2028Sequencer"\n'
    + "4\t1\t1\t1\t2\t0\t627\t194\t386\t116\t-1\t\n"
    + "5\t1\t1\t1\t2\t1\t627\t194\t93\t71\t95\t \n"
    + "2\t1\t2\t0\t0\t0\t10\t20\t30\t40\t-1\t\n"
    + "5\t1\t2\t1\t1\t1\t10\t20\t30\t40\t96\t3\u00bd\u2033\n"
)


def test_words_of_a_table_are_grouped_by_line_and_blank_ones_left_out() -> None:
    assert parse_table(GOLDEN.encode(), 1000, 800) == [
        TextLine(1, (Word(631, 121, 685, 194, 93, "The"), Word(700, 126, 797, 222, 91, '"Linn\u2028Sequencer"'))),
        TextLine(2, (Word(10, 20, 40, 60, 96, "3\u00bd\u2033"),)),
    ]


def test_a_picture_without_text_has_no_line() -> None:
    assert parse_table((HEAD + PAGE).encode(), 1000, 800) == []


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("", "does not start with the names"),
        ("Segmentation fault\n", "does not start with the names"),
        (HEAD, "is not about the picture"),
        (HEAD.strip(), "is cut off"),
        (HEAD + PAGE.replace("800", "801"), "is not about the picture"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t10\t20", "is cut off"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t10\t20\n", "line 3: has 8 columns, not 12"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96\tone\ttwo\n", "line 3: has 13 columns"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\tten\t20\t30\t40\t96\tword\n", "line 3: has text where a number"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t10\t20\t30\t40\tnan\tword\n", "line 3: has a number that cannot be"),
        (HEAD + PAGE + "9\t1\t1\t1\t1\t1\t10\t20\t30\t40\t96\tword\n", "line 3: has a number that cannot be"),
        (HEAD + PAGE + "5\t2\t1\t1\t1\t1\t10\t20\t30\t40\t96\tword\n", "line 3: has a number that cannot be"),
        (HEAD + PAGE + PAGE, "line 3: has a number that cannot be"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t990\t20\t30\t40\t96\tword\n", "line 3: a word that stands outside"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t-1\t20\t30\t40\t96\tword\n", "line 3: a word that stands outside"),
        (HEAD + PAGE + "5\t1\t1\t1\t1\t1\t10\t20\t0\t40\t96\tword\n", "line 3: a word that stands outside"),
    ],
)
def test_what_is_no_table_of_the_picture_is_refused(table: str, why: str) -> None:
    with pytest.raises(TableError, match=why):
        parse_table(table.encode(), 1000, 800)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(TableError, match="UTF-8"):
        parse_table((HEAD + PAGE).encode() + b"\xff\xfe\n", 1000, 800)


def test_any_cut_of_a_table_that_loses_a_row_in_part_is_noticed() -> None:
    data = GOLDEN.encode()
    for end in range(len(data)):
        try:
            lines: Any = parse_table(data[:end], 1000, 800)
        except TableError:
            continue
        assert data[end - 1 : end] == b"\n"  # whole rows are all that can be there
        assert lines == parse_table(data, 1000, 800)[: len(lines)] or len(lines[-1].words) < 2
