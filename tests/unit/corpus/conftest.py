"""Small PDFs and lines to test the extract stage with."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson
import pytest

from nclue_build.core.progress import NullProgress
from nclue_build.corpus.document import make_document
from nclue_build.corpus.lines import Line, RawPage
from nclue_build.corpus.supervisor import ReadLimits, Supervisor
from nclue_build.store.config_file import load_config
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from nclue_build.records.config import BuildConfig

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its C extension announces deprecations of Python itself
    pymupdf: Any = importlib.import_module("pymupdf")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text on a page of a made-up PDF."""

    x: float
    y: float
    text: str
    size: float = 10
    font: str = "helv"
    rotate: int = 0


@pytest.fixture
def text() -> type[Text]:
    return Text


class MakePdf(Protocol):
    def __call__(self, path: Path, pages: Iterable[Iterable[Text]], **options: Any) -> Path: ...


@pytest.fixture
def make_pdf() -> MakePdf:
    def make(path: Path, pages: Iterable[Iterable[Text]], **options: Any) -> Path:
        document = pymupdf.open()
        rotation = options.pop("rotation", 0)
        for texts in pages:
            page = document.new_page(width=612, height=792)
            for one in texts:
                page.insert_text((one.x, one.y), one.text, fontsize=one.size, fontname=one.font, rotate=one.rotate)
            page.set_rotation(rotation)
        if labels := options.pop("labels", None):
            document.set_page_labels(labels)
        path.parent.mkdir(parents=True, exist_ok=True)
        document.save(str(path), no_new_id=True, **options)
        return path

    return make


@pytest.fixture
def endless_pdf(tmp_path: Path) -> Path:
    """Two pages, of which the first takes years to draw: forms that draw forms that draw forms."""
    depth = 12
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 612 792]>>",
        b"<</Type/Page/Parent 2 0 R/Contents 5 0 R/Resources<</XObject<</F 7 0 R>>>>>>",
        (
            b"<</Type/Page/Parent 2 0 R/Contents 6 0 R"
            b"/Resources<</Font<</H <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
        ),
        b"<</Length 4>>stream\n/F Do\nendstream",
        b"<</Length 38>>stream\nBT /H 12 Tf 72 500 Td (Still here) Tj ET\nendstream",
    ]
    draw = b"/F Do " * 40
    for level in range(depth):
        following = b"/Resources<</XObject<</F %d 0 R>>>>" % (8 + level) if level < depth - 1 else b""
        content = draw if level < depth - 1 else b"0 0 m 1 1 l S"
        objects.append(
            b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]%s/Length %d>>stream\n%s\nendstream"
            % (following, len(content), content)
        )
    body = b"%PDF-1.4\n"
    for number, content in enumerate(objects, 1):
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    path = tmp_path / "endless.pdf"
    path.write_bytes(body + b"trailer<</Root 1 0 R/Size %d>>\n" % (len(objects) + 1))
    return path


@pytest.fixture(scope="session")
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor(ReadLimits(20, 60, 1024))
    yield supervisor
    supervisor.close()


@pytest.fixture
def read_pages(supervisor: Supervisor) -> Callable[[Path], list[dict[str, Any]]]:
    def read(path: Path) -> list[dict[str, Any]]:
        return [orjson.loads(row) for row in make_document(supervisor.read(path), "0").rows]

    return read


class MakeLine(Protocol):
    def __call__(self, text: str, x: int = ..., y: int = ..., **options: int) -> Line: ...


@pytest.fixture
def make_line() -> MakeLine:
    """Lines by position in points; every character is half as wide as the type is high."""

    def make(text: str, x: int = 72, y: int = 100, **options: int) -> Line:
        size = options.get("size", 10) * 100
        box = (x * 100, y * 100, x * 100 + len(text) * size // 2, y * 100 + size)
        return Line(options.get("block", 0), 0, *box, size, options.get("style", 0), text, box)

    return make


@pytest.fixture
def make_page() -> Callable[..., RawPage]:
    def make(lines: list[Line], number: int = 1) -> RawPage:
        return RawPage(number, None, 61200, 79200, 0, pictures=False, flags=[], lines=lines)

    return make


class MakeBuild(Protocol):
    def __call__(self, corpus: str, extract: str = ...) -> StageContext: ...


@pytest.fixture
def make_build(tmp_path: Path) -> MakeBuild:
    """A workspace in ``tmp_path / "w"`` whose build takes its corpus from where ``corpus`` says."""

    def make(corpus: str, extract: str = "") -> StageContext:
        root = tmp_path / "w"
        (root / "configs").mkdir(parents=True, exist_ok=True)
        (root / "configs" / "workspace.toml").write_text("schema = 1\n")
        config = root / "configs" / "main.toml"
        config.write_text(f"schema = 1\n[corpus]\n{corpus}\n[extract]\n{extract}\n")
        build = Build(Workspace(root), "main")
        loaded: BuildConfig = load_config(config)
        return StageContext(build, loaded, LocalMapper(1), NullProgress())

    return make
