"""The reader process itself, on small PDFs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import orjson
import pytest

from nclue_build.core.text import readings
from nclue_build.records.corpus import CachedPage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.supervisor import Supervisor

ReadPages: TypeAlias = "Callable[[Path], list[dict[str, Any]]]"


def blocks(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(block["role"], block["text"]) for block in page["blocks"]]


def test_pages_are_valid_records(tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages) -> None:
    path = make_pdf(tmp_path / "a.pdf", [[text(72, 200, "Hello there")], []])
    rows = read_pages(path)
    pages = [CachedPage.model_validate_json(orjson.dumps(row)) for row in rows]
    assert [(page.page, page.status, page.width, page.height) for page in pages] == [
        (1, "ok", 61200, 79200),
        (2, "empty", 61200, 79200),
    ]
    assert pages[0].blocks[0].text == "Hello there"


def test_a_raised_figure_is_set_apart_from_the_word_before_it(
    tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages
) -> None:
    # 120.7 pt is the width of the words in 12 pt Helvetica.
    pieces = [text(72, 200, "approved by Congress", 12), text(192.7, 196, "3", 7), text(200.7, 200, "and others", 12)]
    (page,) = read_pages(make_pdf(tmp_path / "a.pdf", [pieces]))
    assert blocks(page) == [("text", "approved by Congress 3 and others")]


def test_lines_keep_their_ends_so_that_broken_words_have_two_readings(
    tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages
) -> None:
    pieces = [text(72, 200, "the cost of govern-"), text(72, 212, "ment programs")]
    (page,) = read_pages(make_pdf(tmp_path / "a.pdf", [pieces]))
    assert readings(blocks(page)[0][1]) == ("the cost of government programs", "the cost of govern-ment programs")


def test_labels_are_those_printed(tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages) -> None:
    labels = [{"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 2, "style": "D", "firstpagenum": 1}]
    rows = read_pages(make_pdf(tmp_path / "a.pdf", [[text(72, 200, "x")]] * 4, labels=labels))
    assert [row["page_label"] for row in rows] == ["i", "ii", "1", "2"]


def test_sideways_text_is_flagged_and_read_in_its_own_direction(
    tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages
) -> None:
    pieces = [text(200 + 12 * row, 500, f"sideways line {row}", rotate=90) for row in range(3)]
    (page,) = read_pages(make_pdf(tmp_path / "a.pdf", [pieces]))
    assert page["flags"] == ["rotated"]
    assert "\n".join(content for _, content in blocks(page)) == "sideways line 0\nsideways line 1\nsideways line 2"


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_rotated_page_is_read_and_measured_as_it_is_shown(
    tmp_path: Path, text: Any, make_pdf: Any, read_pages: ReadPages, rotation: int
) -> None:
    # Where a point of the shown page is on the page before its rotation.
    before = {90: lambda x, y: (y, 792 - x), 180: lambda x, y: (612 - x, 792 - y), 270: lambda x, y: (612 - y, x)}
    line = "a line of a column of text that goes on"
    pages = []
    for number in (1, 2, 3):
        shown = [(400, 20, "Running head", 10), (400, 590, f"Page {number}", 10)]
        for x, name in ((40, "left"), (330, "right")):
            shown += [(x, 150 + 12 * row, f"{name} {row} {line}", 10) for row in range(4)]
        pages.append([text(*before[rotation](x, y), content, size, rotate=rotation) for x, y, content, size in shown])
    rows = read_pages(make_pdf(tmp_path / "a.pdf", pages, rotation=rotation))
    roles = [[block["role"] for block in row["blocks"]] for row in rows]
    assert roles[1][:3] == ["header", "text", "text"]
    first_words = [block["text"].split()[0] for block in rows[1]["blocks"]]
    assert first_words[:3] == ["Running", "left", "right"]
    left, right = (block["bbox"] for block in rows[1]["blocks"][1:3])
    assert left[0] == pytest.approx(4000, abs=10)
    assert right[0] == pytest.approx(33000, abs=10)
    assert left[1] == right[1] == pytest.approx(14000, abs=200)
    assert rows[1]["width"] > right[2]


def test_an_encrypted_pdf_says_so(tmp_path: Path, text: Any, make_pdf: Any, supervisor: Supervisor) -> None:
    path = make_pdf(tmp_path / "a.pdf", [[text(72, 200, "secret")]], encryption=4, user_pw="x", owner_pw="y")
    assert supervisor.read(path).error == "encrypted: needs a password (extract.passwords_file)"


@pytest.mark.parametrize("content", [b"no PDF at all", b"%PDF-1.7\n", b"\x00" * 100])
def test_what_is_no_pdf_is_reported_without_its_folder(tmp_path: Path, supervisor: Supervisor, content: bytes) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(content)
    read = supervisor.read(path)
    assert read.error
    assert str(tmp_path) not in read.error
    assert "\n" not in read.error


def test_nothing_of_the_reader_reaches_the_terminal(
    tmp_path: Path, supervisor: Supervisor, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\ntrailer<</Root 1 0 R>>\n")
    supervisor.read(path)
    assert capfd.readouterr() == ("", "")
