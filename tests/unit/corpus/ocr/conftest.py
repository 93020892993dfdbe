"""A made-up Tesseract to go wrong in every way, and scans made of text pages."""

from __future__ import annotations

import importlib
import os
import shutil
import textwrap
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from nclue_build.corpus.ocr.tsv import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    pymupdf: Any = importlib.import_module("pymupdf")

SCRIPT = r"""#!/bin/sh
case "$1" in
--version) echo "tesseract {version}" ;;
--list-langs) printf 'List of available languages in "%s" (9):\n' "{data}"; ls "{data}" | sed 's/.traineddata//' ;;
*)
    echo "$@" >> "{calls}"
    read -r magic; read -r width height; cat > /dev/null
    echo "$width $height" >> "{sizes}"
{body}
    ;;
esac
"""
FOUND = r"""
    head() { printf '%s\t' level page_num block_num par_num line_num word_num left top width height conf; echo text; }
    row() { printf '%s\t' "$1" 1 "$2" 1 1 "$3" "$4" "$5" "$6" "$7" "$8"; echo "$9"; }
    head
    row 1 0 0 0 0 "$width" "$height" -1 ""
    row 5 1 1 100 200 150 40 91.5 Recognised
    row 5 1 2 270 200 80 40 88 words
"""


@dataclass(frozen=True)
class FakeTesseract:
    """Where the program and its language data lie, and what it was asked to recognise."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "tessdata"

    without_words = FOUND.rsplit("    row 5 1 1", 1)[0]
    """What the program does to find no text, in shell."""

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def sizes(self) -> list[tuple[int, int]]:
        rows = (self.folder / "sizes").read_text().splitlines()
        return [(int(width), int(height)) for width, height in map(str.split, rows)]

    def does(self, body: str, version: str = "9.1.0") -> None:
        """Make the program do something with a picture, in shell."""
        path = self.folder / "bin" / "tesseract"
        names = {name: self.folder / name for name in ("calls", "sizes")}
        script = SCRIPT.replace("{body}", textwrap.dedent(body)).replace("{version}", version)
        for name, place in {**names, "data": self.data}.items():
            script = script.replace(f"{{{name}}}", str(place))
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)

    def finds(self, version: str = "9.1.0") -> None:
        """Make it recognise two words on every picture."""
        self.does(FOUND, version)


@pytest.fixture
def fake_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTesseract:
    """A Tesseract first on ``PATH`` that recognises two words on every picture."""
    fake = FakeTesseract(tmp_path / "fake")
    fake.data.mkdir(parents=True)
    for code in ("eng", "fra", "osd"):
        (fake.data / f"{code}.traineddata").write_text(code)
    fake.finds()
    monkeypatch.setenv("PATH", f"{fake.folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return fake


@pytest.fixture(scope="session")
def real_tesseract() -> str:
    """Path of the real program."""
    path = shutil.which("tesseract")
    if path is None:
        reason = "no Tesseract here: apt-get install tesseract-ocr tesseract-ocr-deu tesseract-ocr-fra"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


class MakeTable(Protocol):
    def __call__(
        self, *words: tuple[int, int, int, int, int, int, float, str], size: tuple[int, int] = ...
    ) -> bytes: ...


@pytest.fixture
def make_table() -> MakeTable:
    """Tesseract's table of words: block, line, left, top, width, height, confidence, text."""

    def make(*words: tuple[int, int, int, int, int, int, float, str], size: tuple[int, int] = (1000, 800)) -> bytes:
        rows: list[tuple[Any, ...]] = [tuple(COLUMNS), (1, 1, 0, 0, 0, 0, 0, 0, *size, -1, "")]
        for number, (block, line, left, top, width, height, confidence, text) in enumerate(words, 1):
            rows.append((5, 1, block, 1, line, number, left, top, width, height, confidence, text))
        return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()

    return make


@pytest.fixture
def damage() -> Callable[[Path], None]:
    """Cuts the pictures of a PDF off in the middle."""

    def cut(path: Path) -> None:
        document = pymupdf.open(str(path))
        for number in {image[0] for page in document for image in page.get_images()}:
            data = document.xref_stream(number)
            document.update_stream(number, data[: len(data) // 2])
        document.saveIncr()

    return cut


@pytest.fixture
def scan() -> Callable[..., Path]:
    """Makes a PDF whose pages are pictures of the pages of another, turned where wanted; some stay as they are."""

    def make(source: Path, path: Path, dpi: int = 150, *, keep: tuple[int, ...] = (), turned: int = 0) -> Path:
        document = pymupdf.open()
        with pymupdf.open(source) as read:
            for number, page in enumerate(read, 1):
                if number in keep:
                    document.insert_pdf(read, from_page=number - 1, to_page=number - 1)
                    continue
                picture = page.get_pixmap(matrix=pymupdf.Matrix(dpi / 72, dpi / 72).prerotate(turned))
                new = document.new_page(width=picture.width * 72 / dpi, height=picture.height * 72 / dpi)
                new.insert_image(new.rect, pixmap=picture)
        path.parent.mkdir(parents=True, exist_ok=True)
        document.save(str(path), no_new_id=True, deflate=True)
        return path

    return make
