"""Recognising text on hard PDFs: what a person sees on a page is found on it, and bombs stay within their limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from nclue_build.core.text import fold, matching_text, occurs, readings
from nclue_build.records.corpus import QUALITY_ROW, DocumentQuality, PageRow
from nclue_build.store.jsonl import read_jsonl, read_numbered

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("nasty ocr")  # every page is recognised once for all tests

MAX_MEMORY_MB: Final = 1024
MEASURED: Final = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
sys.exit(code)
"""


@dataclass
class Recognised:
    """One run of the command line; documents are named by the number their file starts with."""

    peak_mb: int
    envelope: dict[str, Any]
    quality: dict[str, DocumentQuality]
    pages: dict[str, list[PageRow]]


def recognise(real_data: Path, root: Path, keys: tuple[str, ...], languages: str) -> Recognised:
    if shutil.which("tesseract") is None:
        reason = "no Tesseract here: apt-get install tesseract-ocr tesseract-ocr-deu tesseract-ocr-fra"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    (root / "configs").mkdir(parents=True)
    (root / "pdfs").mkdir()
    for path in (real_data / "nasty" / "pdf").iterdir():
        if path.name.startswith(keys):
            (root / "pdfs" / path.name).write_bytes(path.read_bytes())
    (root / "configs" / "workspace.toml").write_text("schema = 1\n")
    (root / "configs" / "main.toml").write_text(
        f'schema = 1\n[corpus]\npdfs = "pdfs"\n[extract]\nduplicates = "keep"\nocr = "missing"\n'
        f"ocr_languages = {languages}\nocr_page_timeout_s = 600\n"
    )
    command = [sys.executable, "-m", "nclue_build", "-w", str(root), "--json"]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", MEASURED, *command, "extract"], capture_output=True, text=True, timeout=1200, check=False
    )
    *errors, peak_mb = done.stderr.strip().splitlines()
    assert done.returncode == 0, done.stdout + "\n".join(errors)
    gated = subprocess.run([*command, "gate", "--extraction"], capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own program
    assert gated.returncode == 0, gated.stdout
    inventory = root / "inventory" / "main"
    rows = [row for _, row in read_numbered(inventory / "documents_quality.jsonl", QUALITY_ROW)]
    return Recognised(
        peak_mb=int(peak_mb),
        envelope=json.loads(done.stdout),
        quality={row.doc_id[:2]: row for row in rows if isinstance(row, DocumentQuality)},
        pages={path.name[:2]: list(read_jsonl(path, PageRow)) for path in (inventory / "pages").iterdir()},
    )


@pytest.fixture(scope="module")
def small(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Recognised:
    return recognise(real_data, tmp_path_factory.mktemp("small"), ("22", "23", "24", "50"), '["eng"]')


@pytest.fixture(scope="module")
def french(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Recognised:
    return recognise(real_data, tmp_path_factory.mktemp("french"), ("22",), '["fra"]')


@pytest.fixture(scope="module")
def large(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Recognised:
    return recognise(real_data, tmp_path_factory.mktemp("large"), ("20", "21", "49"), '["eng"]')


def is_on(page: PageRow, phrase: str) -> bool:
    """Whether a phrase is found on a page."""
    form = fold(matching_text(phrase))
    return any(occurs(form, fold(reading)) for block in page.blocks for reading in readings(block.text))


def test_a_text_layer_is_used_and_a_blank_page_left_alone(small: Recognised) -> None:
    (layer,), (blank,) = small.pages["23"], small.pages["24"]
    assert (layer.backend, layer.status, layer.flags) == ("pymupdf", "ok", ())
    assert is_on(layer, "No vote")
    assert (blank.backend, blank.status, blank.flags) == ("pymupdf", "empty", ())
    assert small.quality["24"].removed == "no_text"


def test_the_wrong_language_is_recorded_and_does_no_harm(small: Recognised) -> None:
    (page,) = small.pages["22"]
    assert (page.backend, page.status) == ("tesseract", "ok")
    assert {"ocr", "ocr_language_eng"} <= set(page.flags)
    assert is_on(page, "Portez ce vieux whisky au juge")


def test_the_right_language_reads_the_words(french: Recognised) -> None:
    (page,) = french.pages["22"]
    assert {"ocr", "ocr_language_fra", "non_english"} <= set(page.flags)
    for phrase in (
        "fume sur son \u00eele int\u00e9rieure",
        "l'alc\u00f4ve",
        "o\u00f9 les b\u00fbches se consument dans l'\u00e2tre",
        "capharna\u00fcm",
    ):
        assert is_on(page, phrase)
    assert french.quality["22"].language == "fr"
    assert not french.quality["22"].gold_eligible


def test_a_picture_of_a_gigapixel_is_read_within_its_limits(small: Recognised) -> None:
    (page,) = small.pages["50"]
    assert "render_reduced" in page.flags
    assert is_on(page, "This is a very big image with a tiny amount of text")
    assert small.peak_mb < MAX_MEMORY_MB


@pytest.mark.slow
def test_only_pages_without_text_are_recognised(large: Recognised) -> None:
    assert [page.backend for page in large.pages["21"]] == ["tesseract"] * 3 + ["pymupdf"] + ["tesseract"] * 2
    assert [page.status for page in large.pages["21"]] == ["ok"] * 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "page", "phrase"),
    [
        ("20", 1, "32 Track MIDI Sequence Recorder"),
        ("20", 1, "Non-destructive recording"),
        ("20", 1, "Exclusive real-time ERASE function makes editing FAST"),
        ("20", 1, "simply press RECORD and PLAY, then play your MIDI keyboard"),  # in a column of a page askew
        ("20", 1, "select a different track and start recording"),
        ("21", 1, "going-over in the morning"),
        ("21", 1, "her silver snuff-box that was stole"),
        ("21", 1, "any good to me without hooks"),
        ("21", 1, "MISS WATSON'S LECTURE"),
        ("21", 5, "revelations were conceded to England"),  # broken after reve-, on a page that lies askew
        ("21", 6, "a king with a large jaw"),
        ("21", 6, "his tongue torn out with pincers"),
        ("21", 6, "tumbrils of the Revolution"),
        ("21", 6, "events had lately come to the English Crown"),
        ("49", 1, "state-of-the-art composition and performance tool"),
        ("49", 1, "Optional SMPTE time code synchronization"),
        ("49", 1, "18720 Oxnard Street, Tarzana"),
    ],
)
def test_what_a_person_sees_is_found_on_its_page(large: Recognised, key: str, page: int, phrase: str) -> None:
    assert is_on(large.pages[key][page - 1], phrase)


@pytest.mark.slow
def test_a_page_of_500_inches_is_read_within_its_limits(large: Recognised) -> None:
    (page,) = large.pages["49"]
    assert "render_reduced" in page.flags
    assert (page.width, page.height) == (1_800_000, 3_600_000)
    assert large.peak_mb < MAX_MEMORY_MB
