"""The real Tesseract on scans of text that is known."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.corpus.stage import Extract
from nclue_build.records.corpus import PageRow
from nclue_build.store.jsonl import read_jsonl
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = (
    "The office of the director is to report on the",
    "progress that was made with its plans for coastal",
    "flood protection before the end of every year.",
)


@pytest.fixture
def source(tmp_path: Path, text: Any, make_pdf: Any) -> Path:
    content = [
        text(72, 120, "Annual Report", 20),
        *[text(72, 160 + 16 * row, line, 12) for row, line in enumerate(LINES)],
    ]
    path: Path = make_pdf(tmp_path / "source" / "a.pdf", [content])
    return path


def recognised(make_build: Callable[..., Any]) -> PageRow:
    context = make_build('pdfs = "../pdfs"', 'ocr = "missing"')
    with LocalMapper(1) as mapper:
        Extract().run(dataclasses.replace(context, mapper=mapper))
    (path,) = context.build.pages.iterdir()
    (page,) = read_jsonl(path, PageRow)
    return page


@pytest.mark.usefixtures("real_tesseract")
def test_a_scan_reads_like_the_page_it_was_made_of(
    tmp_path: Path, source: Path, scan: Callable[..., Path], make_build: Callable[..., Any], read_pages: Any
) -> None:
    scan(source, tmp_path / "pdfs" / "scan.pdf", 200)
    page = recognised(make_build)
    assert (page.backend, page.status) == ("tesseract", "ok")
    assert [(block.role, block.text) for block in page.blocks] == [
        ("title", "Annual Report"),
        ("text", "\n".join(LINES)),
    ]
    (known,) = read_pages(source)
    for block, expected in zip(page.blocks, known["blocks"], strict=True):
        assert (block.role, block.text) == (expected["role"], expected["text"])
        assert block.bbox is not None
        assert block.bbox[::2] == pytest.approx(expected["bbox"][::2], abs=100)
        assert block.bbox[1::2] == pytest.approx(expected["bbox"][1::2], abs=600)  # MuPDF's reach as far as the face


@pytest.mark.usefixtures("real_tesseract")
def test_columns_of_a_scan_that_lies_askew_are_read_one_by_one(
    tmp_path: Path, text: Any, make_pdf: Any, scan: Callable[..., Path], make_build: Callable[..., Any]
) -> None:
    # At this slope the columns hide their gutter: each stands below the other at its far end.
    columns = ((50, "Flood Protection"), (276, "Budget Outlook"))
    content = [text(x, 90 + 14 * row, LINES[row % 3], 9) for x, _ in columns for row in (*range(3), *range(6, 36))]
    content += [text(x, 158, heading, 15) for x, heading in columns]
    source = make_pdf(tmp_path / "source" / "a.pdf", [content])
    scan(source, tmp_path / "pdfs" / "scan.pdf", 200, turned=3)
    page = recognised(make_build)
    assert "ocr_straightened" in page.flags
    words = " ".join(block.text for block in page.blocks).split()
    column = [" ".join(LINES), "{}", *[" ".join(LINES)] * 10]
    assert words == " ".join(" ".join(column).format(heading) for _, heading in columns).split()
    assert [block.text for block in page.blocks if block.role == "title"] == [heading for _, heading in columns]


@pytest.mark.usefixtures("real_tesseract")
@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_scan_that_lies_on_its_side_is_read_where_it_stands(
    tmp_path: Path, text: Any, make_pdf: Any, scan: Callable[..., Path], make_build: Callable[..., Any], turned: int
) -> None:
    content = [text(72, 160 + 16 * row, line, 12) for row, line in enumerate(LINES * 8)]  # enough to tell what is up
    source = make_pdf(tmp_path / "source" / "a.pdf", [content])
    scan(source, tmp_path / "pdfs" / "scan.pdf", 200, turned=turned)
    page = recognised(make_build)
    assert "rotated" in page.flags
    assert "coastal\nflood protection" in "\n".join(block.text for block in page.blocks)
    (x0, y0, x1, y1) = next(block.bbox for block in page.blocks if block.bbox and "director" in block.text)
    # The first line stands 160 pt from what was the top, 72 from what was the left edge.
    if turned == 180:
        assert (x1, y1) == pytest.approx((61_200 - 7200, 79_200 - 15_000), abs=400)
    elif turned == 90:
        assert (x1, y0) == pytest.approx((79_200 - 15_000, 7200), abs=400)
    else:
        assert (x0, y1) == pytest.approx((15_000, 61_200 - 7200), abs=400)
