from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import UsageError
from nclue_build.corpus.ocr.program import NoTesseractError, find_tesseract, installing, required_tesseract

if TYPE_CHECKING:
    from pathlib import Path


def test_a_program_says_what_it_is(fake_tesseract: Any) -> None:
    found = required_tesseract(("eng", "fra"))
    assert (found.version, found.languages, found.data) == ("9.1.0", ("eng", "fra"), fake_tesseract.data)
    assert found.digests(("fra", "eng")) == [sha256_bytes(code) for code in (b"fra", b"eng", b"osd")]


def test_a_missing_program_is_said_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"extract\.ocr needs Tesseract: no program tesseract on PATH; .*apt-get install"
    ):
        required_tesseract(("eng",))


def test_a_missing_language_is_said_with_its_package(fake_tesseract: Any) -> None:
    assert fake_tesseract.data.is_dir()
    with pytest.raises(UsageError, match="no data for deu, chi_sim") as caught:
        required_tesseract(("eng", "deu", "chi_sim"))
    assert "apt-get install tesseract-ocr tesseract-ocr-deu tesseract-ocr-chi-sim" in caught.value.message
    assert "brew install tesseract tesseract-lang" in caught.value.message


def test_what_is_to_be_installed_for_english_alone() -> None:
    assert installing(("eng",)).endswith(
        "apt-get install tesseract-ocr (Debian, Ubuntu), brew install tesseract (macOS)"
    )


@pytest.mark.parametrize(
    ("version", "why"),
    [("3.05.02", "is version 3.05.02, and 4 or newer is needed"), ("what?", "does not say its version")],
)
def test_programs_too_old_or_too_strange_are_refused(fake_tesseract: Any, version: str, why: str) -> None:
    fake_tesseract.does("", version=version)
    with pytest.raises(NoTesseractError, match=why):
        find_tesseract()


def test_version_4_says_where_its_data_lies_only_when_it_misses_some(fake_tesseract: Any) -> None:
    path = fake_tesseract.folder / "bin" / "tesseract"
    path.write_text(
        '#!/bin/sh\ncase "$1" in\n--version) echo "tesseract 4.1.1" ;;\n'
        "--list-langs) printf 'List of available languages (2):\\neng\\nosd\\n' ;;\n"
        f"*) echo 'Error opening data file {fake_tesseract.data}/nclue_none.traineddata' >&2; exit 1 ;;\nesac\n"
    )
    found = find_tesseract()
    assert (found.version, found.languages, found.data) == ("4.1.1", ("eng",), fake_tesseract.data)


def test_the_real_program_is_understood(real_tesseract: str) -> None:
    found = find_tesseract()
    assert found.path == real_tesseract
    assert "eng" in found.languages
    assert len(found.digests(("eng",))) == 1 + found.tells_orientation
