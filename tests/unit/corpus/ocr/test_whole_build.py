"""A benchmark made of documents some of whose pages are scans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import nclue_build
from nclue_build.records.corpus import PageRow
from nclue_build.store.jsonl import read_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.usefixtures("real_tesseract")
def test_scans_take_part_in_a_benchmark_that_is_valid(
    tmp_path: Path, write_pdf: Any, report_pages: list[list[list[str]]], scan: Callable[..., Path]
) -> None:
    for number, lines in enumerate(report_pages):
        source = write_pdf(tmp_path / "source" / f"{number}.pdf", lines)
        scan(source, tmp_path / "reports" / f"report {number}.pdf", 150, keep=(2, 3, 4))
    made = nclue_build.init_workspace(tmp_path / "workspace", pdfs=tmp_path / "reports")
    path = made.build.config_path
    text = path.read_text(encoding="utf-8")
    assert '\nocr = "none" ' in text
    path.write_text(text.replace('\nocr = "none" ', '\nocr = "missing" '), encoding="utf-8")
    assert nclue_build.run_build(tmp_path / "workspace").ok
    build = made.build
    first = [next(iter(read_jsonl(pages, PageRow))) for pages in sorted(build.pages.iterdir())]
    assert [(page.backend, page.status) for page in first] == [("tesseract", "ok")] * len(report_pages)
    report = nclue_build.validate_build(tmp_path / "workspace")
    assert report.findings == ()
