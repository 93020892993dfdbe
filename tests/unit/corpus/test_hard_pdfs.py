"""PDFs that are broken, hostile or odd in ways of their own: each is told in one line, and the run ends."""

from __future__ import annotations

import dataclasses
import importlib
import os
import pickle
import random
import warnings
import zlib
from typing import TYPE_CHECKING, Any, Final

import pytest

from nclue_build.core.errors import OutcomeError
from nclue_build.core.text import matching_text, occurs, readings
from nclue_build.corpus.stage import Extract
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality
from nclue_build.store.jsonl import read_jsonl, read_numbered
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.supervisor import Supervisor
    from nclue_build.store.stage import StageContext, StageResult

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    pymupdf: Any = importlib.import_module("pymupdf")

N_BROKEN: Final = 50
ENGLISH: Final = "The office of the director is to report on the progress that was made with its plans for this year."


def raw_pdf(*objects: bytes) -> bytes:
    """A PDF without cross-reference table, of which the first object is the catalogue."""
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, content) for number, content in enumerate(objects, 1))
    return b"%%PDF-1.4\n%btrailer<</Root 1 0 R/Size %d>>\n" % (body, len(objects) + 1)


def stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%b\nendstream" % (len(content), content)


CATALOG: Final = b"<</Type/Catalog/Pages 2 0 R>>"
HELVETICA: Final = b"<</Font<</H<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
CONTENT: Final = stream(b"BT /H 12 Tf 72 500 Td (Still here) Tj ET")


def one_page(box: bytes = b"0 0 612 792", resources: bytes = HELVETICA, content: bytes = CONTENT) -> bytes:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[%b]/Resources%b/Contents 4 0 R>>" % (box, resources)
    return raw_pdf(CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, content)


def run(context: StageContext) -> tuple[StageResult | None, dict[str, DocumentQuality]]:
    """Extract; returns the result (None where nothing could be read), and the outcome by file name."""
    result = None
    with LocalMapper(1) as mapper:
        try:
            result = Extract().run(dataclasses.replace(context, mapper=mapper))
        except OutcomeError as error:
            assert error.findings[0].code == "nothing-to-deliver"  # noqa: PT017 - one of two ways to end
    rows = [row for _, row in read_numbered(context.build.quality, QUALITY_ROW)]
    quality = {row.doc_id: row for row in rows if isinstance(row, DocumentQuality)}
    names = {row.doc_id: str(row.file_name) for row in read_jsonl(context.build.documents, CorpusRow)}
    return result, {names[doc_id]: row for doc_id, row in quality.items()}


def test_odd_files_in_a_folder_cost_themselves_alone(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]
) -> None:
    folder = tmp_path / "pdfs"
    make_pdf(folder / "good.pdf", [[text(72, 100, ENGLISH)]])
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "folder.pdf").mkdir()
    (folder / "page.pdf").write_bytes(b"<!doctype html><title>Not found</title>")
    (folder / "blank.pdf").write_bytes(one_page(content=stream(b" ")))
    (folder / "many.pdf").write_bytes(
        raw_pdf(CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 100000>>", b"<</Type/Page/Parent 2 0 R>>")
    )
    (folder / "gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    result, quality = run(make_build('pdfs = "../pdfs"'))
    assert result is not None
    assert set(quality) == {"good.pdf", "empty.pdf", "page.pdf", "blank.pdf", "many.pdf"}
    assert {name: row.removed for name, row in quality.items()} == {
        "good.pdf": None,
        "empty.pdf": "unreadable",
        "page.pdf": "unreadable",
        "blank.pdf": "no_text",
        "many.pdf": quality["many.pdf"].removed,
    }
    assert quality["many.pdf"].removed
    assert quality["many.pdf"].message
    assert quality["blank.pdf"].status == "ok"
    assert quality["blank.pdf"].message == "every page is blank"


def flate(content: bytes) -> bytes:
    return b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(content), content)


PAINTS: Final = stream(b"q /Fm0 Do Q")


def with_table(data: bytes) -> bytes:
    """A PDF with the cross-reference table that it lacks: MuPDF need not mend it."""
    places = [data.index(b"%d 0 obj" % number) for number in range(1, data.count(b" 0 obj") + 1)]
    body, trailer = data.split(b"trailer")
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(places) + 1, rows)
    return b"%b%btrailer%bstartxref\n%d\n%%%%EOF\n" % (body, table, trailer, len(body))


def encrypted(handler: bytes, version: int) -> bytes:
    keys = b"<</Filter/%b/V %d/R 3/Length 128/P -4/O(%b)/U(%b)>>" % (handler, version, b"x" * 32, b"x" * 32)
    return with_table(one_page().replace(b"trailer<<", b"trailer<</ID[(a)(a)]/Encrypt%b" % keys))


PICTURE = pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 9, 9))
PICTURE.clear_with(200)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a PDF: the file is empty"),
        (b"<!DOCTYPE html><html><body><h1>Not found</h1></body></html>", "not a PDF, but a file of another kind"),
        (PICTURE.tobytes("png"), "not a PDF, but a file of another kind"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "not a PDF"),
        (b"plain text\n" * 99, "not a PDF, or damaged beyond repair"),
        (b"PK\x03\x04" + b"zip" * 99, "not a PDF, or damaged beyond repair"),
        (encrypted(b"Adobe.PubSec", 2), "encrypted in a way that cannot be read: unknown encryption handler"),
        (encrypted(b"Standard", 9), "encrypted in a way that cannot be read: unknown encryption version"),
    ],
    ids=["empty", "html", "png", "svg", "text", "zip", "handler", "version"],
)
def test_what_cannot_be_opened_says_why(tmp_path: Path, supervisor: Supervisor, data: bytes, message: str) -> None:
    path = tmp_path / "memory.pdf"  # its name is no lack of memory
    path.write_bytes(data)
    read = supervisor.read(path)
    assert str(read.error).startswith(message)
    assert not read.hit_limit


def test_a_kid_that_is_no_page_is_no_blank_one(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]]
) -> None:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%b/Contents 4 0 R>>" % HELVETICA
    tree = b"<</Type/Pages/Kids[3 0 R 5 0 R]/Count 2>>"
    path = tmp_path / "a.pdf"
    path.write_bytes(with_table(raw_pdf(CATALOG, tree, page, CONTENT, b"(no page)")))
    assert [row["status"] for row in read_pages(path)] == ["ok", "failed"]


def test_a_form_that_only_its_own_program_shows_is_told(tmp_path: Path, supervisor: Supervisor) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(with_table(one_page().replace(b"/Catalog", b"/Catalog/NeedsRendering true")))
    assert supervisor.read(path).flags == ["dynamic_form"]


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (one_page(content=stream(b" ")), "ok", "every page is blank"),
        (one_page(content=flate(zlib.compress(b""))), "ok", "every page is blank"),
        (one_page(content=flate(zlib.compress(b" q Q "))), "ok", "every page is blank"),
        (one_page(content=stream(b" ")).replace(b"/Contents 4 0 R", b""), "ok", "every page is blank"),
        (one_page(content=stream(b" ")).replace(b"4 0 R", b"[4 0 R]"), "ok", "every page is blank"),
        (one_page().replace(b"4 0 R", b"9 0 R"), "failed", "its content is missing"),
        (one_page().replace(b"4 0 R", b"[4 0 R 9 0 R]"), "ok", None),  # what there is can be read
        (one_page().replace(b"4 0 R", b"[9 0 R]"), "failed", "its content is missing"),
        (one_page(content=b"[9 0 R]"), "failed", "its content is missing"),
        (one_page(content=flate(b"garbage, not deflated at all")), "failed", "its content cannot be decoded"),
        (one_page(content=PAINTS), "failed", "what it shows is missing"),
        (one_page().replace(b"/Contents 4 0 R", b"/Contents 7"), "failed", "its content is missing"),
        (one_page().replace(b"/Contents 4 0 R", b"/Contents(x)"), "failed", "its content is missing"),
    ],
)
def test_a_page_is_blank_only_if_its_content_is(
    tmp_path: Path, make_build: Callable[..., StageContext], data: bytes, status: str, message: str | None
) -> None:
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "a.pdf").write_bytes(data)
    _, quality = run(make_build('pdfs = "../pdfs"'))
    row = quality["a.pdf"]
    assert row.status == status
    assert message == row.message if message is None else message in str(row.message)
    assert (row.pages_failed, row.removed) == ((1, "unreadable") if status == "failed" else (0, row.removed))


def test_a_picture_that_is_left_out_makes_no_blank_page(
    tmp_path: Path, make_build: Callable[..., StageContext]
) -> None:
    document = pymupdf.open()
    page = document.new_page()
    number = page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, (0, 0, 99, 99), 0))
    document.xref_set_key(number, "Filter", "/JPXDecode")  # whose own header is not there
    (tmp_path / "pdfs").mkdir()
    document.save(str(tmp_path / "pdfs" / "a.pdf"))
    _, quality = run(make_build('pdfs = "../pdfs"'))
    assert (quality["a.pdf"].status, quality["a.pdf"].flags) == ("failed", ())  # not repaired
    assert "what it shows is missing or cannot be decoded" in str(quality["a.pdf"].message)


def test_what_a_cut_leaves_is_never_taken_for_whole(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext]
) -> None:
    """At every cut, each page has the text it had, or has failed."""
    folder = tmp_path / "pdfs"
    whole = make_pdf(folder / "whole.pdf", [[text(72, 100, f"{page}: {ENGLISH}")] for page in range(6)]).read_bytes()
    for percent in range(5, 100, 5):
        (folder / f"cut{percent:02d}.pdf").write_bytes(whole[: len(whole) * percent // 100])
    _, quality = run(make_build('pdfs = "../pdfs"'))
    assert len(quality) == 20
    for name, row in quality.items():
        assert not row.pages_empty, name
        assert row.pages_ok == 6 or row.status != "ok", name


def test_a_pdf_that_must_not_be_read_is_a_failed_document(
    tmp_path: Path, text: Any, make_pdf: Any, make_build: Callable[..., StageContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "pdfs"
    make_pdf(folder / "good.pdf", [[text(72, 100, ENGLISH)]])
    locked = make_pdf(folder / "locked.pdf", [[text(72, 100, ENGLISH)]])
    locked.chmod(0)
    if os.geteuid() == 0:  # who may read everything cannot be locked out

        def refuse(path: Path) -> str:
            raise PermissionError(13, "Permission denied", str(path))

        digest = importlib.import_module("nclue_build.corpus.run").sha256_file
        refused = lambda path: refuse(path) if path == locked else digest(path)  # noqa: E731 - one line
        monkeypatch.setattr("nclue_build.corpus.run.sha256_file", refused)
    _, quality = run(make_build('pdfs = "../pdfs"'))
    assert quality["good.pdf"].status == "ok"
    assert (quality["locked.pdf"].status, quality["locked.pdf"].message) == (
        "failed",
        "cannot be read: permission denied",
    )


@pytest.mark.parametrize("box", [b"0 0 9999999 9999999", b"0 0 1e30 1e30", b"0 0 0 0", b"9 9 1 1", b"a b c d"])
def test_a_page_of_any_size_is_read_or_told(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]], box: bytes
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(one_page(box))
    (row,) = read_pages(path)
    assert row["status"] in {"ok", "empty", "failed"}
    assert row["blocks"] or row["status"] != "ok"


def test_a_circular_outline_is_nothing_to_stop_at(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]]
) -> None:
    path = tmp_path / "a.pdf"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%b/Contents 4 0 R>>" % HELVETICA
    path.write_bytes(
        raw_pdf(
            b"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page,
            CONTENT,
            b"<</First 6 0 R/Last 6 0 R/Count 1>>",
            b"<</Title(Again)/Parent 5 0 R/First 6 0 R/Next 6 0 R/Prev 6 0 R>>",
        )
    )
    assert [row["blocks"][0]["text"] for row in read_pages(path)] == ["Still here"]


def test_a_font_without_unicode_is_told_and_never_made_up(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]]
) -> None:
    font = (
        b"<</Font<</H<</Type/Font/Subtype/Type0/BaseFont/Odd/Encoding/Identity-H/DescendantFonts[<</Type/Font"
        b"/Subtype/CIDFontType2/BaseFont/Odd/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
        b"/FontDescriptor<</Type/FontDescriptor/FontName/Odd/Flags 4/FontBBox[0 0 9 9]/ItalicAngle 0/Ascent 9"
        b"/Descent 0/CapHeight 9/StemV 1>>>>]>>>>>>"
    )
    path = tmp_path / "a.pdf"
    path.write_bytes(one_page(resources=font, content=stream(b"BT /H 12 Tf 72 500 Td <0101010201030104> Tj ET")))
    (row,) = read_pages(path)
    assert row["status"] == "failed"
    assert "unusable_text" in row["flags"]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize(
    ("written", "searched"),
    [
        ("govern\u00ad\nment policy", "government policy"),
        ("cost-\neffective measures", "cost-effective measures"),
        ("the o\ufb03ce of \ufb01nance", "the office of finance"),
        ("a\u200bnnual report", "annual report"),
    ],
)
def test_what_a_person_reads_is_found(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]], written: str, searched: str, rotation: int
) -> None:
    lines = written.split("\n")
    letters = sorted(set("".join(lines)))
    mapped = b"".join(b"<%02X> <%04X>\n" % (0x30 + code, ord(letter)) for code, letter in enumerate(letters))
    shown = [bytes(0x30 + letters.index(letter) for letter in line).hex().encode() for line in lines]
    content = b"BT /H 12 Tf 14 TL 72 500 Td " + b" ".join(b"<%b> Tj T*" % codes for codes in shown) + b" ET"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Rotate %d/Resources<</Font<</H 5 0 R>>>>/Contents 4 0 R>>"
    path = tmp_path / "a.pdf"
    path.write_bytes(
        raw_pdf(
            CATALOG,
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page % rotation,
            stream(content),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            stream(
                b"begincmap\n1 begincodespacerange\n<00> <FF>\nendcodespacerange\n"
                b"%d beginbfchar\n%bendbfchar\nendcmap" % (len(letters), mapped)
            ),
        )
    )
    (row,) = read_pages(path)
    found = [reading for block in row["blocks"] for reading in readings(block["text"])]
    assert any(occurs(matching_text(searched), reading) for reading in found), row["blocks"]


def test_attachments_are_noted_and_no_pages(tmp_path: Path, supervisor: Supervisor) -> None:
    document = pymupdf.open()
    page = document.new_page()
    document.embfile_add("data.csv", b"1,2\n")
    document.save(str(tmp_path / "embedded.pdf"))
    document = pymupdf.open()
    page = document.new_page()
    page.add_file_annot((72, 72), b"1,2\n", "data.csv")
    document.save(str(tmp_path / "pinned.pdf"))
    for name in ("embedded.pdf", "pinned.pdf"):
        read = supervisor.read(tmp_path / name)
        assert (read.n_pages, read.flags) == (1, ["attachments"])


@pytest.mark.parametrize("kind", ["cut", "flipped", "updated and cut"])
def test_whatever_breaks_a_pdf_the_run_ends_with_a_row_for_it(
    tmp_path: Path, repository: Path, make_build: Callable[..., StageContext], kind: str
) -> None:
    whole = min((repository / "corpora" / "demo").rglob("*.pdf"), key=lambda path: path.name)
    data = whole.read_bytes()
    if kind == "updated and cut":
        document = pymupdf.open(str(whole))
        document.set_metadata({"title": "Changed"})
        document[0].insert_text((72, 72), "Changed")
        updated = tmp_path / "updated.pdf"
        updated.write_bytes(data)
        document = pymupdf.open(str(updated))
        document[0].insert_text((72, 72), "Changed")
        document.saveIncr()
        data = updated.read_bytes()
    chance = random.Random(kind)  # noqa: S311 - the same breaks every time
    folder = tmp_path / "pdfs"
    folder.mkdir()
    for number in range(N_BROKEN):
        broken = bytearray(data)
        if kind == "flipped":
            for _ in range(chance.randint(1, 40)):
                broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        else:
            del broken[chance.randrange(len(broken)) :]
        (folder / f"{number:02}.pdf").write_bytes(broken)
    _, quality = run(make_build('pdfs = "../pdfs"', 'duplicates = "keep"'))
    assert len(quality) == N_BROKEN
    for name, row in quality.items():
        assert row.status == "ok" or row.message, name
        assert row.message is None or "\n" not in row.message
        assert row.n_pages == row.pages_ok + row.pages_empty + row.pages_failed


def test_a_listed_pdf_that_must_not_be_read_is_told_once_and_keeps_its_size(
    tmp_path: Path, make_build: Callable[..., StageContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(one_page())
    listing = '{{"doc_id": "{0}", "source": "s", "file_name": "{0}.pdf", "sha256": "{1}"}}\n'
    digest = importlib.import_module("nclue_build.corpus.run").sha256_file
    known = digest(tmp_path / "a.pdf")
    (tmp_path / "corpus.jsonl").write_text(listing.format("a", known) + listing.format("b", "0" * 64))

    def locked(path: Path) -> str:
        if path.name == "b.pdf":
            raise PermissionError(13, "Permission denied", str(path))
        return str(digest(path))

    monkeypatch.setattr("nclue_build.corpus.run.sha256_file", locked)
    result, quality = run(make_build('file = "../corpus.jsonl"'))
    assert result is not None
    assert [finding.code for finding in result.findings] == ["document-failed"]
    assert quality["b.pdf"].message == "cannot be read: permission denied"


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ("\ue000", "failed"),
        ("\U000f0041", "failed"),
        ("\ufffe", "failed"),
        ("\u200b", "failed"),
        ("\u00ad", "failed"),
        ("?", "failed"),
        ("_", "ok"),  # a form to be filled in
        ("A", "ok"),
    ],
)
def test_text_without_a_letter_or_a_figure_is_of_no_use(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]], shown: str, status: str
) -> None:
    unit = shown.encode("utf-16-be").hex().encode()
    mapping = (
        b"begincmap 1 begincodespacerange <00><FF> endcodespacerange 1 beginbfchar <41><%b> endbfchar endcmap" % unit
    )
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</H 5 0 R>>>>/Contents 4 0 R>>"
    path = tmp_path / "a.pdf"
    path.write_bytes(
        raw_pdf(
            CATALOG,
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page,
            stream(b"BT /H 12 Tf 72 500 Td (%b) Tj ET" % (b"A" * 40)),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            stream(mapping),
        )
    )
    (row,) = read_pages(path)
    assert (row["status"], "unusable_text" in row["flags"]) == (status, status == "failed")


@pytest.mark.parametrize(
    ("opener", "reason"), [(b"[", "nested too deeply to be read"), (b"q ", "too many nested graphics states")]
)
def test_content_that_is_nested_without_end_is_told(
    tmp_path: Path, supervisor: Supervisor, opener: bytes, reason: str
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(one_page(content=flate(zlib.compress(opener * 1_000_000))))
    (page,) = supervisor.read(path).payloads
    assert getattr(page, "reason", None) == reason


def test_a_page_of_too_many_lines_is_told_at_once(
    tmp_path: Path, read_pages: Callable[[Path], list[dict[str, Any]]]
) -> None:
    path = tmp_path / "a.pdf"
    lines = b"BT /H 1 Tf 0.01 TL 72 700 Td " + b"(word) Tj T* " * 50_001 + b"ET"
    path.write_bytes(one_page(content=flate(zlib.compress(lines))))
    (row,) = read_pages(path)
    assert (row["status"], row["flags"]) == ("failed", ["page_error"])


def test_an_error_nobody_expected_says_which_document_it_is_about(
    tmp_path: Path, make_build: Callable[..., StageContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pdfs").mkdir()
    (tmp_path / "pdfs" / "a.pdf").write_bytes(one_page())

    def fail(*_: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("nclue_build.corpus.run.write_document", fail)
    with pytest.raises(KeyError) as caught:
        run(make_build('pdfs = "../pdfs"'))
    (note,) = pickle.loads(pickle.dumps(caught.value)).__notes__  # noqa: S301 - as it comes from a worker
    assert note.startswith("document a_")
    assert note.endswith("pdfs/a.pdf)")
