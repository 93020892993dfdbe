"""The real MinerU 4.x, run by us without models, on PDFs of our own and on a report of an agency."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from nclue_build.core.text import matching_text
from nclue_build.corpus.imported import pdf_pages
from nclue_build.corpus.supervisor import ReadLimits, Supervisor
from nclue_build.records.corpus import PageRow
from nclue_build.store.jsonl import read_jsonl
from nclue_build.workflow.runner import run_build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

OURS = ("after-the-water-rehousing", "brine-delta-wells-study", "calder-home-retrofit-evaluation")


@pytest.fixture(scope="module")
def program(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, install_apart: Callable[[Path, str], Path]
) -> Path:
    """In an environment of its own, which takes minutes to make and two thirds of a gigabyte."""
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = project["optional-dependencies"]["mineru"]
    return install_apart(tmp_path_factory.mktemp("mineru") / "venv", requirement).with_name("mineru-kit")


def words(texts: Iterable[str]) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", matching_text("\n".join(texts).replace("\u00ad", "-")).casefold()))


def letters(texts: Iterable[str]) -> str:
    return "".join(re.findall(r"[^\W_]", matching_text("\n".join(texts)).casefold()))


class Shares(NamedTuple):
    """Of the PDF's text layer, what stands on its own page of the rows.

    Args:
        words: Share of the words.
        letters: Share of the letters that stand in lines found whole, wherever their spaces are: MinerU's flash tier
            writes words as one that the PDF sets apart without a space ("willlead").
    """

    words: float
    letters: float


def shares_on_their_pages(pdf: Path, pages: list[PageRow]) -> Shares:
    supervisor = Supervisor(ReadLimits(60, 300, 1024))
    try:
        known = pdf_pages(supervisor.read(pdf))
    finally:
        supervisor.close()
    assert len(known) == len(pages)
    n_words = n_words_found = n_letters = n_letters_found = 0
    for layer, page in zip(known, pages, strict=True):
        assert layer is not None
        lines = [line.text for line in layer.lines]
        texts = [block.text for block in page.blocks]
        expected, on_page = words(lines), letters(texts)
        n_words += expected.total()
        n_words_found += (expected & words(texts)).total()
        for line in lines:
            n_letters += len(letters([line]))
            n_letters_found += len(letters([line])) if letters([line]) in on_page else 0
    return Shares(n_words_found / n_words, n_letters_found / n_letters)


@pytest.mark.slow
def test_mineru_4_puts_words_on_their_pages(repository: Path, real_data: Path, program: Path, tmp_path: Path) -> None:
    for name in OURS:
        target = tmp_path / "pdfs" / "ours" / f"{name}.pdf"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / "corpora" / "demo" / "pdf" / f"{name}.pdf", target)
    (report,) = (real_data / "usgov").rglob("us-federal-agency-reports--NARA2022--*.pdf")
    (tmp_path / "pdfs" / "theirs").mkdir()
    shutil.copy(report, tmp_path / "pdfs" / "theirs")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "workspace.toml").write_text("schema = 1\n")
    (tmp_path / "configs" / "main.toml").write_text(
        'schema = 1\n[corpus]\npdfs = "pdfs"\n[extract]\nreader = "mineru"\n[mineru]\nrun = true\n'
        f'tier = "flash"\nmethod = "txt"\nprogram = "{program}"\n'
    )
    report_of_run = run_build(tmp_path, last="extract", fetch=False)
    assert report_of_run.findings == ()
    shares = {}
    for pdf in sorted((tmp_path / "pdfs").rglob("*.pdf")):
        (file,) = (tmp_path / "inventory" / "main" / "pages").glob(f"{pdf.stem}*.jsonl")
        pages = list(read_jsonl(file, PageRow))
        assert {page.backend for page in pages} == {"mineru"}
        shares[pdf.stem] = shares_on_their_pages(pdf, pages)
        print(pdf.stem, shares[pdf.stem])  # noqa: T201 - figures to report
    assert min(one.letters for one in shares.values()) >= 0.99, shares
    assert min(one.words for one in shares.values()) >= 0.98, shares
    again = run_build(tmp_path, last="extract", fetch=False)
    assert not again.stages[0].ran
