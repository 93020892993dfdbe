"""Running command lines in this process."""

from __future__ import annotations

import json
import shutil
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import nclue_build
from nclue_build.cli.boundary import run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        assert list(value) == ["schema", "ok", "result", "findings"]
        assert value["schema"] == 1
        return value


class Run(Protocol):
    def __call__(self, *words: str | Path) -> Outcome: ...


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run a command line; returns its exit code, stdout and stderr."""
    terminate = signal.getsignal(signal.SIGTERM)

    def call(*words: str | Path) -> Outcome:
        code = run_command([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGTERM, terminate)


class WritePdf(Protocol):
    def __call__(self, path: Path, pages: list[list[str]]) -> Path: ...


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
    made = nclue_build.init_workspace(root / "workspace", pdfs=root / "reports")
    one_worker(made.build.config_path)
    assert nclue_build.run_build(root / "workspace").ok
    return root


def one_worker(config: Path) -> None:
    """Keep a build's work in this process."""
    text = config.read_text(encoding="utf-8")
    assert "\nworkers = 0 " in text
    config.write_text(text.replace("\nworkers = 0 ", "\nworkers = 1 "), encoding="utf-8")


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
