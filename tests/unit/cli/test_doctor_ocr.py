"""The doctor on recognising text: an option, so that only a build that asks for it can lack something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Run


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the only Tesseract on ``PATH`` one that has some languages; none at all before it is called."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def make(*codes: str, version: str = "9.1.0") -> None:
        path = tmp_path / "bin" / "tesseract"
        path.parent.mkdir(exist_ok=True)
        listed = "".join(f"{code}\\n" for code in codes)
        path.write_text(
            f'#!/bin/sh\ncase "$1" in\n--version) echo "tesseract {version}" ;;\n'
            f"*) printf 'List of available languages in \"{tmp_path}\" (9):\\n{listed}' ;;\nesac\n"
        )
        path.chmod(0o755)
        monkeypatch.setenv("TESSDATA_PREFIX", f"{version} {listed}")  # it is asked again where this differs

    return make


@pytest.fixture
def checks(fresh: Path, run: Run) -> Callable[..., dict[str, tuple[bool, str, str]]]:
    """What the doctor says of Tesseract and of a build with these lines in its extract table."""

    def examine(*keys: str) -> dict[str, tuple[bool, str, str]]:
        path = fresh / "configs" / "main.toml"
        lines = [line for line in path.read_text().splitlines() if not line.startswith("ocr")]
        (where,) = (number for number, line in enumerate(lines, 1) if line.startswith("[extract]"))
        path.write_text("\n".join([*lines[:where], *keys, *lines[where:]]) + "\n")
        seen = run("-w", fresh, "doctor", "--json")
        found = {row["name"]: row for row in seen.envelope["result"]["checks"]}
        assert seen.code == (0 if all(row["ok"] for row in found.values()) else 1)
        return {
            name: (found[key]["ok"], found[key]["value"], found[key]["advice"])
            for name, key in (("tesseract", "tesseract"), ("build", "build main"))
        }

    return examine


@pytest.mark.usefixtures("tesseract")
def test_only_a_build_that_recognises_text_needs_tesseract(
    checks: Callable[..., dict[str, tuple[bool, str, str]]],
) -> None:
    seen = checks()
    assert seen["tesseract"][0]
    assert seen["tesseract"][1] == "none"
    assert "no program tesseract on PATH" in seen["tesseract"][2]
    assert seen["tesseract"][2].endswith("(for text recognised on scanned pages, [extract] ocr)")
    assert seen["build"][0]
    seen = checks('ocr = "missing"')
    assert seen["tesseract"][0]
    ok, value, advice = seen["build"]
    assert (ok, value) == (False, "cannot recognise text")
    assert "extract.ocr needs Tesseract: no program tesseract on PATH; install it: apt-get install" in advice


def test_what_is_there_is_told_and_what_a_build_lacks(
    tesseract: Callable[..., None], checks: Callable[..., dict[str, tuple[bool, str, str]]]
) -> None:
    tesseract("eng", "fra", "osd")
    seen = checks('ocr = "force"', 'ocr_languages = ["fra", "eng"]')
    assert seen["tesseract"] == (True, "9.1.0, for eng, fra", "")
    assert seen["build"][0]
    ok, value, advice = checks('ocr = "missing"', 'ocr_languages = ["eng", "deu"]')["build"]
    assert (ok, value) == (False, "cannot recognise text")
    assert "no data for deu (it has: eng, fra)" in advice
    assert "tesseract-ocr-deu" in advice


def test_a_tesseract_without_languages_or_too_old_is_told(
    tesseract: Callable[..., None], checks: Callable[..., dict[str, tuple[bool, str, str]]]
) -> None:
    tesseract("osd")
    ok, value, advice = checks()["tesseract"]
    assert (ok, value) == (False, "9.1.0, without any language")
    assert advice.startswith("install the data of a language: tesseract-ocr-eng, or mend TESSDATA_PREFIX")
    tesseract("eng", version="3.05.02")
    ok, value, advice = checks()["tesseract"]
    assert ok  # as good as none, and nothing here asks for one
    assert value == "cannot be used"
    assert "is version 3.05.02, and 4 or newer is needed" in advice
    assert not checks('ocr = "missing"')["build"][0]


def test_a_broken_tesseract_is_not_called_none(
    tesseract: Callable[..., None], checks: Callable[..., dict[str, tuple[bool, str, str]]], tmp_path: Path
) -> None:
    tesseract("eng", version="9.1.1")
    program = tmp_path / "bin" / "tesseract"
    program.write_text("#!/bin/sh\necho 'tesseract: cannot open liblept.so.5' >&2\nexit 127\n")
    ok, value, advice = checks()["tesseract"]
    assert (ok, value) == (True, "cannot be used")
    assert "does not say its version, but 'tesseract: cannot open liblept.so.5'; install it" in advice
