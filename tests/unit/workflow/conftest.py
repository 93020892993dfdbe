"""A small workspace and stages that stand in for the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import pytest

from nclue_build.core.errors import Finding, OutcomeError
from nclue_build.store.atomic import write_text
from nclue_build.store.stage import Declaration, StageResult
from nclue_build.store.workspace import Build, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import StageContext


@dataclass
class CopyStage:
    """Reads one file and writes it twice: as a file, and into a folder."""

    name: str
    source: str
    version: int = 1
    findings: tuple[Finding, ...] = ()
    shortfalls: tuple[str, ...] = ()
    fails: bool = False
    interrupted: bool = False
    suffix: str = ""
    runs: list[str] = field(default_factory=list)
    writable: list[bool] = field(default_factory=list)

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        root = build.workspace.root
        return Declaration(
            (root / self.source,),
            {"seed": config.compose.seed, "share": str(config.compose.share_n3)},
            (root / f"{self.name}.txt", root / f"{self.name}_parts"),
        )

    def run(self, context: StageContext) -> StageResult:
        self.runs.append(self.name)
        self.writable.append(context.writable)
        if self.interrupted:
            raise KeyboardInterrupt
        root = context.build.workspace.root
        source = root / self.source
        text = (source / "part.txt" if source.is_dir() else source).read_text(encoding="utf-8") + self.suffix
        write_text(root / f"{self.name}_parts" / "part.txt", text)
        if self.fails:
            raise OutcomeError(f"{self.name} has nothing to deliver")
        write_text(root / f"{self.name}.txt", text)
        return StageResult({"characters": len(text)}, self.findings, self.shortfalls)


class MakeStages(Protocol):
    def __call__(self) -> tuple[CopyStage, CopyStage, CopyStage, CopyStage]: ...


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A build ``main`` in an empty workspace, its input being ``input.txt``."""
    root = tmp_path / "workspace"
    write_text(root / "configs" / "workspace.toml", "schema = 1\n")
    write_text(root / "configs" / "main.toml", 'schema = 1\n[corpus]\npdfs = "."\n[run]\nworkers = 1\n')
    write_text(root / "input.txt", "one\n")
    return Build(Workspace(root.resolve()), "main")


@pytest.fixture
def make_stages() -> MakeStages:
    """Four stages in a chain: input.txt -> extract -> mine -> compose -> gate."""

    def make() -> tuple[CopyStage, CopyStage, CopyStage, CopyStage]:
        return (
            CopyStage("extract", "input.txt"),
            CopyStage("mine", "extract.txt"),
            CopyStage("compose", "mine.txt"),
            CopyStage("gate", "compose.txt"),
        )

    return make


@pytest.fixture
def stages(make_stages: MakeStages) -> tuple[CopyStage, CopyStage, CopyStage, CopyStage]:
    return make_stages()
