"""What every test may use."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.records.corpus import Block, PageRow, Role

# A busy machine is no fault of what is tested; where CI is set, Hypothesis itself draws the same examples every time.
settings.register_profile("busy machine", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")
REPOSITORY = Path(__file__).parent.parent
CONCEPTS = (
    "Coral Reef Monitoring",
    "Harbor Dredging",
    "Tidal Energy",
    "Seagrass Restoration",
    "Ballast Water Treatment",
    "Marine Debris",
    "Kelp Forests",
    "Oyster Hatcheries",
    "Storm Surge Barriers",
    "Beach Nourishment",
)  # fmt: skip


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout the tests run in."""
    return REPOSITORY


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real corpora: NCLUE_REAL_DATA, else the default folder; the test is skipped where there is none."""
    named = os.environ.get("NCLUE_REAL_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set NCLUE_REAL_DATA to a folder of corpora")
    return folder


@pytest.fixture(scope="session")
def load_script() -> Callable[[Path], Any]:
    """Loads a script that belongs to no package from its file."""

    def load(path: Path) -> Any:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # dataclasses look their module up, and scripts import their neighbours
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def install_apart() -> Callable[[Path, str], Path]:
    """Installs a package that is too large for our own environment into one of its own, and returns its interpreter."""

    def install(home: Path, requirement: str) -> Path:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)  # noqa: S603 - our own interpreter
        python = home / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", requirement], check=True)  # noqa: S603
        return python

    return install


@pytest.fixture(autouse=True)
def _no_workspace_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NCLUE_WORKSPACE", raising=False)


@pytest.fixture(scope="session")
def make_page_row() -> Callable[..., PageRow]:
    """Page rows of a made-up document: ``(role, text)`` pairs or blocks, and any field by name."""
    from nclue_build.records.corpus import Block, PageRow  # noqa: PLC0415 - tests of lazy imports load this, too

    def make(*blocks: Block | tuple[Role, str], **fields: Any) -> PageRow:
        made = tuple(one if isinstance(one, Block) else Block(role=one[0], text=one[1]) for one in blocks)
        known: dict[str, Any] = {
            "doc_id": "d", "page": 1, "width": 61200, "height": 79200, "backend": "made", "backend_version": "1",
            "status": "ok", "text_sha256": "0" * 64,
        }  # fmt: skip
        return PageRow(blocks=made, **known | fields)

    return make


class WritePdf(Protocol):
    def __call__(self, path: Path, pages: Sequence[Sequence[str]]) -> Path: ...


@pytest.fixture(scope="session")
def write_pdf() -> WritePdf:
    """Writes a PDF of plain Helvetica lines, a list of lines per page."""

    def write(path: Path, pages: Sequence[Sequence[str]]) -> Path:
        numbers = [4 + 2 * index for index in range(len(pages))]
        objects = {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(b"%d 0 R" % n for n in numbers), len(pages)),
            3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        }
        for number, lines in zip(numbers, pages, strict=True):
            shown = b" ".join(b"(%s) Tj T*" % line.encode("latin-1") for line in lines)
            stream = b"BT /F1 11 Tf 14 TL 60 740 Td %s ET" % shown
            objects[number] = (
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
                % (number + 1)
            )
            objects[number + 1] = b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream)
        body = b"%PDF-1.4\n"
        offsets = {}
        for number in sorted(objects):
            offsets[number] = len(body)
            body += b"%d 0 obj%s endobj\n" % (number, objects[number])
        table = b"".join(b"%010d 00000 n \n" % offsets[number] for number in sorted(objects))
        body += b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF\n" % (
            len(objects) + 1, table, len(objects) + 1, len(body),
        )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return path

    return write


@pytest.fixture(scope="session")
def fresh_demo(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the committed configuration and corpus, and nothing else before the run."""
    root = tmp_path_factory.mktemp("golden")
    for name in ("workspace.toml", "demo.toml"):
        (root / "configs").mkdir(exist_ok=True)
        shutil.copy(repository / "configs" / name, root / "configs" / name)
    shutil.copytree(repository / "corpora" / "demo", root / "corpora" / "demo")
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", "-w", str(root), "-b", "demo", "run"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "random"},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.fixture(scope="session")
def report_pages() -> list[list[list[str]]]:
    """The lines of ten reports, by page: each tells of four of the ten concepts, a page each."""
    return [
        [
            [
                concept,
                f"This section of report {number} describes how the coastal agency organised {concept} last year.",
                f"The budget for {concept} grew, and local partners praised {concept} in every district.",
                f"Further work on {concept} is planned for the coming season, weather permitting.",
            ]
            for concept in (CONCEPTS[(number + step) % len(CONCEPTS)] for step in (0, 1, 2, 4))
        ]
        for number in range(len(CONCEPTS))
    ]


@pytest.fixture(scope="session")
def first_run(
    tmp_path_factory: pytest.TempPathFactory, write_pdf: WritePdf, report_pages: list[list[list[str]]]
) -> Path:
    """A folder with ``reports`` (ten PDFs) and ``workspace``, whose build ``main`` was run once."""
    root = tmp_path_factory.mktemp("first")
    for number, pages in enumerate(report_pages):
        write_pdf(root / "reports" / f"report {number}.pdf", pages)
    import nclue_build  # noqa: PLC0415 - tests of lazy imports load this, too

    made = nclue_build.init_workspace(root / "workspace", pdfs=root / "reports")
    one_worker(made.build.config_path)
    assert nclue_build.run_build(root / "workspace").ok
    return root


def one_worker(config: Path) -> None:
    """Keep a build's work in this process."""
    text = config.read_text(encoding="utf-8")
    assert "\nworkers = 0 " in text
    config.write_text(text.replace("\nworkers = 0 ", "\nworkers = 1 "), encoding="utf-8")


class TreeDigests(Protocol):
    def __call__(self, workspace: Path) -> dict[str, str]: ...


@pytest.fixture(scope="session")
def tree_digests() -> TreeDigests:
    """SHA-256 of every file of the inventories and benchmarks of a workspace, hidden ones included."""

    def digests(workspace: Path) -> dict[str, str]:
        return {
            path.relative_to(workspace).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for folder in ("inventory", "benchmarks")
            for path in sorted((workspace / folder).rglob("*"))
            if path.is_file()
        }

    return digests


@pytest.fixture
def built(tmp_path: Path, first_run: Path) -> Path:
    """A workspace whose build ``main`` is up to date; the PDFs are in ``../reports``."""
    shutil.copytree(first_run, tmp_path, dirs_exist_ok=True)
    return tmp_path / "workspace"


@pytest.fixture
def fresh(built: Path) -> Path:
    """The same workspace before its first run."""
    for name in ("inventory", "benchmarks", ".nclue"):
        shutil.rmtree(built / name)
    return built
