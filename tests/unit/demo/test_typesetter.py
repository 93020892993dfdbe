"""Markup and layout of the demo generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FRONT = "---\nsource: s\ntitle: T\nheader: H {page}\nfooter: F\n"


def _typeset(typeset: Any, folder: Path, text: str, front: str = "") -> Any:
    path = folder / "sample.md"
    path.write_text(f"{FRONT}{front}---\n{text}", encoding="utf-8")
    typesetter = typeset.Typesetter(typeset.parse(path))
    pdf = typesetter.document()
    return pdf, [(row.page, row.kind, row.text) for row in typesetter.placed]


def test_blocks_are_noted_with_their_kind_and_page(typeset: Any, tmp_path: Path) -> None:
    text = "# One\nA paragraph.^1\n- item\n@note 1 Small print.\n===\n| a | b |\n: Table 1\n@ref Book.\n"
    pdf, placed = _typeset(typeset, tmp_path, text)
    assert len(pdf) == 2
    assert placed == [
        (1, "footnote", "1 Small print."),
        (1, "title", "One"),
        (1, "text", "A paragraph."),
        (1, "list", "item"),
        (2, "header", "H 2"),
        (2, "footer", "F"),
        (2, "table", "a"),
        (2, "table", "b"),
        (2, "caption", "Table 1"),
        (2, "reference", "Book."),
    ]


def test_contents_list_headings_with_their_pages(typeset: Any, tmp_path: Path) -> None:
    pdf, placed = _typeset(typeset, tmp_path, "@contents\n@entry Annex .. none\n===\n## Banks\nText.\n")
    assert [row for row in placed if row[1] == "toc"] == [(1, "toc", "Banks"), (1, "toc", "Annex")]
    assert [line.replace(".", "") for line in pdf[0].get_text().splitlines()] == ["Banks  2", "Annex  none"]


def test_text_flows_into_the_next_column(typeset: Any, tmp_path: Path) -> None:
    words = " ".join(["word"] * 130)
    pdf, _ = _typeset(typeset, tmp_path, words, "columns: 2\npage: 420x300\n")
    assert {round(line[0]) for line in pdf[0].get_text("blocks")} == {46, 218}


def test_a_word_breaks_at_its_mark(typeset: Any, tmp_path: Path) -> None:
    pdf, placed = _typeset(typeset, tmp_path, r"aaa inter\-national", "page: 140x300\n")
    assert "inter-\nnational" in pdf[0].get_text()
    assert placed[0] == (1, "text", "aaa international")


@pytest.mark.parametrize("columns", [1, 2])
def test_text_that_does_not_fit_names_the_page(typeset: Any, tmp_path: Path, columns: int) -> None:
    with pytest.raises(typeset.SourceError, match="sample, page 2: text does not fit"):
        _typeset(typeset, tmp_path, "Short.\n===\n" + "long " * 900, f"columns: {columns}\n")


def test_front_matter_must_be_whole(typeset: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.md"
    path.write_text("---\nsource: s\ntitle: T\n---\ntext\n", encoding="utf-8")
    with pytest.raises(typeset.SourceError, match=r"bad\.md: front matter lacks footer, header"):
        typeset.parse(path)
    path.write_text("text\n", encoding="utf-8")
    with pytest.raises(typeset.SourceError, match=r"bad\.md: no front matter"):
        typeset.parse(path)


def test_a_concept_is_bounded_by_words_and_keeps_acronym_case(generator: Any) -> None:
    concept = generator.Concept("Fund", ("renewal fund",), ("ARF",))
    assert concept.occurs_in("the Renewal Fund, now")
    assert concept.occurs_in("(ARF)")
    assert not concept.occurs_in("renewal funds and scarf and arf")
