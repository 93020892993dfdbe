"""The extract stage with a made-up Tesseract: which pages it is given, what it may do, and what is kept."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import OutcomeError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.corpus.stage import Extract
from nclue_build.records.corpus import QUALITY_ROW, DocumentQuality, PageRow
from nclue_build.store.jsonl import read_jsonl, read_numbered
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.store.stage import StageContext

TEXT = "The office of the director is to report on the progress that was made with its plans for this year."


def run(context: StageContext, workers: int = 1) -> Any:
    with LocalMapper(workers) as mapper:
        return Extract().run(dataclasses.replace(context, mapper=mapper))


def pages(context: StageContext) -> list[PageRow]:
    (path,) = sorted(context.build.pages.iterdir())
    return list(read_jsonl(path, PageRow))


def quality(context: StageContext) -> DocumentQuality:
    rows = [row for _, row in read_numbered(context.build.quality, QUALITY_ROW)]
    return next(row for row in rows if isinstance(row, DocumentQuality))


@pytest.fixture
def mixed(tmp_path: Path, text: Any, make_pdf: Any, scan: Callable[..., Path]) -> Path:
    """Text, a scan, text, a blank page, a scan."""
    content = [[text(72, 100 + 14 * row, f"{page} {row}: {TEXT}") for row in range(3)] for page in range(5)]
    content[3] = []
    source = make_pdf(tmp_path / "source" / "a.pdf", content)
    return scan(source, tmp_path / "pdfs" / "mixed.pdf", 72, keep=(1, 3, 4))


@pytest.fixture
def short(
    tmp_path: Path, text: Any, make_pdf: Any, scan: Callable[..., Path], make_build: Callable[..., StageContext]
) -> Callable[..., StageContext]:
    """Makes a build of one document: text, and a scan."""
    source = make_pdf(tmp_path / "source" / "short.pdf", [[text(72, 100, TEXT)], [text(72, 100, TEXT)]])
    scan(source, tmp_path / "short" / "short.pdf", 72, keep=(1,))

    def make(keys: str = 'ocr = "missing"') -> StageContext:
        return make_build('pdfs = "../short"', keys)

    return make


@pytest.fixture
def build(mixed: Path, make_build: Callable[..., StageContext]) -> Callable[..., StageContext]:
    def make(keys: str = 'ocr = "missing"') -> StageContext:
        return make_build(f'pdfs = "../{mixed.parent.name}"', keys)

    return make


def test_pages_without_a_text_layer_are_recognised_and_no_other(
    build: Callable[..., StageContext], fake_tesseract: Any
) -> None:
    context = build()
    result = run(context)
    rows = pages(context)
    assert [(page.backend, page.status) for page in rows] == [
        ("pymupdf", "ok"), ("tesseract", "ok"), ("pymupdf", "ok"), ("pymupdf", "empty"), ("tesseract", "ok"),
    ]  # fmt: skip
    for page in (rows[1], rows[4]):
        assert page.backend_version == "9.1.0"
        assert page.flags == ("ocr", "ocr_language_eng")
        assert [block.text for block in page.blocks] == ["Recognised words"]
        assert (page.width, page.height) == (61200, 79200)
        # 100, 200 of a picture at 300 dpi
        assert page.blocks[0].bbox is not None
        assert page.blocks[0].bbox[0] == pytest.approx(2400, abs=30)
        assert page.blocks[0].bbox[3] == pytest.approx(5760, abs=150)
    assert fake_tesseract.calls == ["stdin stdout -l eng --dpi 300 --psm 1 -c tessedit_create_tsv=1"] * 2
    assert fake_tesseract.sizes == [(2550, 3300)] * 2
    assert quality(context).flags == ("ocr",)
    assert result.counts["pages_ok"] == 4
    assert result.findings == ()


def test_nothing_is_asked_of_tesseract_by_default(build: Callable[..., StageContext], fake_tesseract: Any) -> None:
    context = build("")
    run(context)
    assert fake_tesseract.calls == []
    assert [page.backend for page in pages(context)] == ["pymupdf"] * 5


def test_with_force_all_but_blank_pages_are_recognised(build: Callable[..., StageContext], fake_tesseract: Any) -> None:
    context = build('ocr = "force"')
    run(context)
    assert [page.backend for page in pages(context)] == ["tesseract"] * 3 + ["pymupdf", "tesseract"]
    assert len(fake_tesseract.calls) == 4


def test_results_do_not_depend_on_workers_and_nothing_is_recognised_twice(
    build: Callable[..., StageContext], fake_tesseract: Any
) -> None:
    context = build()
    run(context, workers=2)
    first = pages(context)
    for path in (context.build.workspace.state / "pages").rglob("*.jsonl"):
        path.unlink()  # as when a run ended while pages were recognised
    run(context)
    assert pages(context) == first
    assert len(fake_tesseract.calls) == 2
    for path in (context.build.workspace.state / "ocr").rglob("2.json"):
        path.write_bytes(path.read_bytes()[:-1])
    for path in (context.build.workspace.state / "pages").rglob("*.jsonl"):
        path.unlink()
    run(context)
    assert pages(context) == first
    assert len(fake_tesseract.calls) == 3  # a damaged file is as good as none


@pytest.mark.parametrize(
    "change", ['ocr_languages = ["fra"]', 'ocr_languages = ["eng", "fra"]', "ocr_dpi = 200", "ocr_max_megapixels = 2"]
)
def test_other_settings_are_other_results(short: Callable[..., StageContext], fake_tesseract: Any, change: str) -> None:
    run(short())
    context = short(f'ocr = "missing"\n{change}')
    run(context)
    assert len(fake_tesseract.calls) == 2
    run(context)
    assert len(fake_tesseract.calls) == 2


def test_other_language_data_or_another_version_are_other_results(
    short: Callable[..., StageContext], fake_tesseract: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = short()
    run(context)
    (fake_tesseract.data / "eng.traineddata").write_text("better")
    run(context)
    assert len(fake_tesseract.calls) == 2
    fake_tesseract.finds(version="9.2.0")
    monkeypatch.setenv("TESSDATA_PREFIX", "changed")  # a program is asked again where anything it depends on differs
    run(context)
    assert [page.backend_version for page in pages(context)][1] == "9.2.0"
    assert len(fake_tesseract.calls) == 3


def test_a_page_that_takes_too_long_fails_and_whatever_it_started_is_gone(
    build: Callable[..., StageContext], fake_tesseract: Any
) -> None:
    context = build('ocr = "missing"\nocr_page_timeout_s = 10')
    fake_tesseract.does(f"sleep 600 & echo $! >> {fake_tesseract.folder}/pids; wait")
    began = time.monotonic()
    result = run(context, workers=2)
    assert time.monotonic() - began < 60
    rows = pages(context)
    assert [(page.status, page.flags) for page in (rows[1], rows[4])] == [("failed", ("ocr_timeout",))] * 2
    assert quality(context).pages_failed == 2
    assert quality(context).message == "page 2 and 1 more failed: took longer than extract.ocr_page_timeout_s = 10 s"
    assert [finding.code for finding in result.findings] == ["page-failed"] * 2
    pids = (fake_tesseract.folder / "pids").read_text().split()
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in pids)
    fake_tesseract.finds()  # a timeout is never kept
    run(context)
    assert [page.status for page in pages(context)] == ["ok", "ok", "ok", "empty", "ok"]


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("body", "flag", "reason"),
    [
        ("echo 'Segmentation fault'", "ocr_failed", "Tesseract's answer cannot be read: does not start with"),
        ("true", "ocr_failed", "Tesseract's answer cannot be read: does not start with"),
        ("head -c 5000 /dev/urandom", "ocr_failed", "Tesseract's answer cannot be read"),
        ("kill -SEGV $$", "ocr_failed", "Tesseract crashed (SIGSEGV)"),
        (
            "echo 'Error during processing.' >&2; exit 1",
            "ocr_failed",
            "Tesseract failed (exit 1): Error during processing.",
        ),
        ("echo 'what(): std::bad_alloc' >&2; kill -ABRT $$", "out_of_memory", "memory limit reached by Tesseract"),
        ("exec yes", "ocr_failed", "Tesseract "),
    ],
)
def test_whatever_tesseract_does_wrong_fails_its_page_alone(
    short: Callable[..., StageContext], fake_tesseract: Any, body: str, flag: str, reason: str
) -> None:
    context = short('ocr = "missing"\nocr_page_timeout_s = 30')
    fake_tesseract.does(body)
    result = run(context)
    rows = pages(context)
    assert [(page.status, page.flags) for page in rows] == [("ok", ()), ("failed", (flag,))]
    assert quality(context).pages_failed == 1
    assert [finding.code for finding in result.findings] == ["page-failed"]
    assert reason in result.findings[0].message
    assert len(fake_tesseract.calls) == 1


def test_no_failure_is_kept(short: Callable[..., StageContext], fake_tesseract: Any) -> None:
    context = short()
    fake_tesseract.does("exit 1")
    run(context)
    fake_tesseract.finds()
    run(context)
    assert [page.status for page in pages(context)] == ["ok", "ok"]
    assert len(fake_tesseract.calls) == 2


def test_a_picture_of_nothing_stays_a_page_without_text(
    short: Callable[..., StageContext], fake_tesseract: Any
) -> None:
    context = short()
    fake_tesseract.does(fake_tesseract.without_words)
    run(context)
    page = pages(context)[1]
    assert (page.status, page.backend) == ("empty", "tesseract")
    assert page.flags == ("no_text_layer", "ocr", "ocr_language_eng", "ocr_no_text")
    assert quality(context).flags == ("no_text_layer", "ocr")


def test_a_picture_that_cannot_be_decoded_is_no_picture_without_text(
    tmp_path: Path, short: Callable[..., StageContext], fake_tesseract: Any, damage: Callable[[Path], None]
) -> None:
    context = short()
    damage(tmp_path / "short" / "short.pdf")
    run(context)
    page = pages(context)[1]
    assert (page.status, page.flags) == ("ok", ("ocr", "ocr_language_eng", "render_damaged"))
    context = short('ocr = "missing"\nocr_dpi = 200')
    fake_tesseract.does(fake_tesseract.without_words)
    result = run(context)
    assert (pages(context)[1].status, pages(context)[1].flags) == ("failed", ("ocr_failed",))
    assert result.findings[0].message.endswith("what it shows is damaged: padding truncated image (ocr_failed)")


def test_text_that_is_not_recognised_is_no_blank_page(short: Callable[..., StageContext], fake_tesseract: Any) -> None:
    context = short('ocr = "force"')
    fake_tesseract.does(fake_tesseract.without_words)
    with pytest.raises(OutcomeError, match="no text was recognised, although the page has a text layer"):
        run(context)
    assert [page.status for page in pages(context)] == ["failed", "empty"]


def test_a_text_layer_without_meaning_is_recognised(
    tmp_path: Path, make_build: Callable[..., StageContext], write_pdf: Any, fake_tesseract: Any
) -> None:
    path = write_pdf(tmp_path / "pdfs" / "a.pdf", [["xxxxxxxxxxxx " * 5] * 3, [TEXT] * 3])
    font = b"/Subtype/Type1/BaseFont/Helvetica>>"
    broken = b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[120/g1]>>>>"
    # Both pages have the font; the letter x alone loses its meaning.
    path.write_bytes(path.read_bytes().replace(font, broken))
    plain = make_build('pdfs = "../pdfs"')
    run(plain)
    assert [page.status for page in pages(plain)] == ["failed", "ok"]
    context = make_build('pdfs = "../pdfs"', 'ocr = "missing"')
    run(context)
    assert [(page.status, page.backend) for page in pages(context)] == [("ok", "tesseract"), ("ok", "pymupdf")]
    assert len(fake_tesseract.calls) == 1


def test_a_larger_page_gets_fewer_pixels_and_a_hopeless_one_none(
    build: Callable[..., StageContext], fake_tesseract: Any, tmp_path: Path, make_build: Callable[..., StageContext]
) -> None:
    context = build('ocr = "missing"\nocr_max_megapixels = 1')
    run(context)
    assert all(950_000 < width * height <= 1_000_000 for width, height in fake_tesseract.sizes)
    assert pages(context)[1].flags == ("ocr", "ocr_language_eng", "render_reduced")
    folder = tmp_path / "strips"
    folder.mkdir()
    stream = b"q 4 0 0 14400 0 0 cm 0 0 1 1 re f Q"
    (folder / "strip.pdf").write_bytes(
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 4 14400]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Length %d>>stream\n%s\nendstream endobj\ntrailer<</Root 1 0 R>>\n" % (len(stream), stream)
    )
    context = make_build(f'pdfs = "../{folder.name}"', 'ocr = "missing"')
    with pytest.raises(OutcomeError, match="shows no letter"):
        run(context)


def test_a_missing_program_or_language_is_said_before_anything_is_read(
    build: Callable[..., StageContext], fake_tesseract: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = build('ocr = "missing"\nocr_languages = ["deu"]')
    with pytest.raises(UsageError, match="no data for deu"):
        Extract().declare(context.build, context.config)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="no program tesseract"):
        Extract().declare(context.build, context.config)
    with pytest.raises(UsageError, match="no program tesseract"):
        run(context)
    assert fake_tesseract.calls == []
    assert not context.build.inventory.exists()


def test_only_the_pages_of_pdfs_themselves_are_recognised(build: Callable[..., StageContext]) -> None:
    with pytest.raises(UsageError, match=r'extract\.ocr = "missing" needs extract\.reader = "pymupdf"'):
        build('reader = "mineru"\nmineru_output = "x"\nocr = "missing"')


@pytest.mark.parametrize("code", ["", "eng+fra", "../eng", "-l", "e g"])
def test_a_language_that_is_no_code_is_refused(build: Callable[..., StageContext], code: str) -> None:
    with pytest.raises(UsageError, match="ocr_languages"):
        build(f'ocr = "missing"\nocr_languages = ["{code}"]')


def test_what_is_recognised_is_said_page_by_page(build: Callable[..., StageContext], fake_tesseract: Any) -> None:
    said: list[Any] = []

    class Listener(NullProgress):
        def start(self, task: str, total: int | None, unit: str) -> None:
            said.append((task, total, unit))

        def advance(self, amount: int = 1) -> None:
            said.append(amount)

    context = dataclasses.replace(build(), progress=Listener())
    run(context)
    assert said[said.index(("recognising text", 2, "pages")) :] == [("recognising text", 2, "pages"), 1, 1]
    assert len(fake_tesseract.calls) == 2
