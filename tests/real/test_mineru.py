"""The MinerU reader on genuine output of 2.6.4, 3.4.4 and 4.0.12."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.corpus.imported import mineru_pages, pdf_pages
from nclue_build.corpus.mineru.detect import read
from nclue_build.corpus.mineru.glued import part_glued
from nclue_build.corpus.supervisor import ReadLimits, Supervisor
from nclue_build.workflow.runner import run_build

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nclue_build.corpus.imported import ImportedPage
    from nclue_build.corpus.lines import RawPage
    from nclue_build.corpus.mineru.pages import MineruDocument

PDFS = {"G": "G_onlydiscarded_origin.pdf", "K": "K_blank3_origin.pdf", "L": "L_DOC2022_origin.pdf"}
PAGE_TRUE = [
    "G_onlydiscarded_middle.json",
    "K_blank3_4.0.12_flash_middle.json",
    "K_blank3_pages2-3_4.0.12_flash_middle.json",
    "L_DOC2022_4.0.12_flash_middle.json",
]


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    return real_data / "mineru"


def load(path: Path) -> MineruDocument:
    return read(json.loads(path.read_bytes()), lambda _: (0, 0))


def words(texts: Iterable[str]) -> list[str]:
    """Words of texts, in both readings of those broken at a line end."""
    return re.findall(r"[^\W_]+", "\n".join(texts).lower())


def read_pdf(path: Path) -> list[RawPage | None]:
    supervisor = Supervisor(ReadLimits(20, 60, 1024))
    try:
        return pdf_pages(supervisor.read(path))
    finally:
        supervisor.close()


def test_every_file_has_its_number_of_pages(folder: Path) -> None:
    listed = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]
    for row in listed:
        if row["kind"] == "model":
            with pytest.raises(DataError, match="model output"):
                load(folder / row["file"])
        else:
            assert load(folder / row["file"]).n_pages == row["n_pages"], row["file"]
    assert len(listed) == 9


@pytest.mark.parametrize("name", PAGE_TRUE)
def test_words_stand_on_the_page_the_pdf_has_them_on(folder: Path, name: str) -> None:
    known = read_pdf(folder / PDFS[name[0]])
    own = []
    for raw in known:
        text = "\n".join(line.text for line in raw.lines) if raw else ""
        own.append({*words([text]), *words([text.replace("-\n", "")])})
    anywhere = set[str]().union(*own)
    made: list[ImportedPage] = mineru_pages(load(folder / name), known)
    assert len(made) == len(known)
    n_words = n_found = n_right = 0
    for page, on_page in zip(made, own, strict=True):
        for word in words(block.text for block in page.blocks):
            n_words += 1
            n_found += word in anywhere
            n_right += word in on_page
    print(f"{name}: {n_words} words, {n_right / n_found:.4f} of those the PDF has are on their page")  # noqa: T201 - figures to report
    assert n_right >= 0.99 * n_found
    assert n_found >= 0.95 * n_words  # the flash tier glues the words of narrow table cells


def test_the_middle_file_has_no_glued_paragraphs_and_the_lists_have(folder: Path) -> None:
    true = load(folder / "H_naacl82_middle_layout.json")
    assert not any(page.flags for page in true.pages.values())
    shares = {}
    for name in ("H_naacl82_content_list.json", "H_naacl82_content_list_v2.json"):
        document = load(folder / name)
        assert all(page.flags == {"glued_paragraphs"} for page in document.pages.values())
        n_words = n_right = 0
        for index, page in document.pages.items():
            texts = [block.text for block in true.pages[index].blocks]
            on_page = {*words(texts), *words(text.replace("-\n", "") for text in texts)}
            on_this = words(block.text for block in page.blocks)
            n_words += len(on_this)
            n_right += sum(word in on_page for word in on_this)
        shares[name] = n_right / n_words
    print(shares)  # noqa: T201 - figures to report
    assert all(0.9 < share < 0.995 for share in shares.values())


def test_the_text_of_the_pages_parts_what_the_lists_have_glued(folder: Path) -> None:
    true = load(folder / "H_naacl82_middle_layout.json")
    known = [[block.text for block in true.pages[index].blocks] for index in sorted(true.pages)]
    own = [{*words(texts), *words(text.replace("-\n", "") for text in texts)} for texts in known]
    for name in ("H_naacl82_content_list.json", "H_naacl82_content_list_v2.json"):
        document = load(folder / name)
        part_glued(document, known)
        on_page = [
            (index, word) for index, page in document.pages.items() for word in words(b.text for b in page.blocks)
        ]
        share = sum(word in own[index] for index, word in on_page) / len(on_page)
        print(f"{name}: {share:.4f}")  # noqa: T201 - figures to report
        assert share >= 0.999


def test_they_are_extracted_beside_their_pdfs(folder: Path, tmp_path: Path) -> None:
    for key, name in PDFS.items():
        shutil.copyfile(folder / name, tmp_path / f"{key}.pdf")
    out = tmp_path / "out"
    for key, name in (("G", PAGE_TRUE[0]), ("K", PAGE_TRUE[1]), ("L", PAGE_TRUE[3])):
        (out / key / "auto").mkdir(parents=True)
        shutil.copyfile(folder / name, out / key / "auto" / f"{key}_middle.json")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "workspace.toml").write_text("schema = 1\n")
    (tmp_path / "configs" / "main.toml").write_text(
        'schema = 1\n[corpus]\npdfs = "."\n[extract]\nreader = "mineru"\nmineru_output = "out"\n'
    )
    report = run_build(tmp_path, "main", last="extract")
    counts: dict[str, Any] = dict(report.stages[0].counts)
    assert (counts["pages"], counts["pages_ok"], counts["pages_empty"]) == (84, 83, 1)
    assert report.stages[0].findings == ()
