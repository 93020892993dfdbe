"""Workspaces: where the files of a build live.

The repository root is the reference workspace; ``nclue-build init`` makes others. A
workspace is found by an explicit path, then ``NCLUE_WORKSPACE``, then the nearest
parent folder that holds ``configs/workspace.toml``.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nclue_build.core.errors import NclueError, UsageError
from nclue_build.core.ids import id_problem
from nclue_build.records.config import WorkspaceMarker
from nclue_build.store import layout
from nclue_build.store.config_file import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.core.errors import Finding

MARKER = Path("configs") / "workspace.toml"
ENVIRONMENT_VARIABLE = "NCLUE_WORKSPACE"
_TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of a workspace; every path below is absolute."""

    root: Path

    @classmethod
    def find(cls, explicit: Path | None = None) -> Workspace:
        """Find the workspace a command works in.

        Raises:
            UsageError: there is none where one was named, or none above the current folder.
        """
        named = explicit or (Path(value) if (value := os.environ.get(ENVIRONMENT_VARIABLE)) else None)
        if named is not None:
            if not (named / MARKER).is_file():
                command = f"nclue-build init {shlex.quote(str(named))} --pdfs FOLDER"
                raise UsageError(f"{named} is no workspace (no {MARKER}): make one with: {command}")
            return cls(named.resolve())
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if (folder / MARKER).is_file():
                return cls(folder)
        raise UsageError(
            f"no workspace here: no {MARKER} in {here} or above. "
            "Name one with --workspace, or make one with: nclue-build init DIR --pdfs FOLDER"
        )

    @property
    def configs(self) -> Path:
        """Folder of the build configurations."""
        return self.root / "configs"

    @property
    def prompts(self) -> Path:
        """Folder of the prompt files, by stage."""
        return self.root / "prompts"

    @property
    def state(self) -> Path:
        """Folder of the page cache, receipts and locks; never committed."""
        return self.root / ".nclue"

    def relative(self, path: Path) -> str:
        """A path as shown and stored: relative to the workspace, forward slashes."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return Path(os.path.relpath(path, self.root)).as_posix()

    def relative_finding(self, finding: Finding) -> Finding:
        """A finding with its path as shown."""
        if finding.path is None or not Path(finding.path).is_absolute():
            return finding
        return replace(finding, path=self.relative(Path(finding.path)))

    @contextlib.contextmanager
    def relative_paths(self) -> Iterator[None]:
        """Let errors out with the paths in their message, findings and ``filename`` relative to the workspace.

        File primitives know only the path they are given; this one place makes what they say the same wherever the
        workspace lies.
        """
        try:
            yield
        except NclueError as error:
            for finding in error.findings:
                if finding.path is not None and Path(finding.path).is_absolute():
                    error.message = error.message.replace(finding.path, self.relative(Path(finding.path)))
            error.message = error.message.replace(f"{self.root}{os.sep}", "")
            error.findings = tuple(self.relative_finding(finding) for finding in error.findings)
            error.args = (error.message,)
            raise
        except OSError as error:
            if isinstance(error.filename, str) and error.filename.startswith(f"{self.root}{os.sep}"):
                error.filename = self.relative(Path(error.filename))
            raise

    def builds(self) -> list[str]:
        """Names of all builds, sorted."""
        return sorted(
            path.stem
            for path in self.configs.glob("*.toml")
            if path.name != MARKER.name and path.stem != _TEMPLATE and id_problem(path.stem) is None
        )

    def choose_build(self, name: str | None = None) -> Build:
        """The build named, else the only one, else the workspace's default.

        Raises:
            UsageError: no such build, none at all, or several and no default (lists the names).
        """
        names = self.builds()
        if not names:
            raise UsageError(f"{self.configs} holds no build configuration: run 'nclue-build init' again")
        if name is None:
            only = names[0] if len(names) == 1 else None
            name = only or read_toml(self.root / MARKER, WorkspaceMarker).default_build
        if name is None:
            raise UsageError(f"several builds here ({', '.join(names)}): choose one with --build NAME")
        if name not in names:
            raise UsageError(f"no build {name!r} here: there is {', '.join(names)}")
        return Build(self, name)


@dataclass(frozen=True, slots=True)
class Build:
    """The files of one build."""

    workspace: Workspace
    name: str

    @property
    def config_path(self) -> Path:
        """Its TOML."""
        return self.workspace.configs / f"{self.name}.toml"

    @property
    def inventory(self) -> Path:
        """Folder of everything up to the inventory versions."""
        return self.workspace.root / "inventory" / self.name

    @property
    def documents(self) -> Path:
        """The completed corpus rows."""
        return self.inventory / layout.DOCUMENTS

    @property
    def quality(self) -> Path:
        """Per-document and per-source extraction outcomes."""
        return self.inventory / layout.QUALITY

    @property
    def pages(self) -> Path:
        """Folder of page rows, a file a document."""
        return self.inventory / "pages"

    @property
    def benchmark(self) -> Path:
        """Folder of the current benchmark."""
        return self.workspace.root / "benchmarks" / self.name

    @property
    def frozen_outputs(self) -> Path:
        """Folder of the recorded model calls."""
        return self.workspace.root / "frozen_outputs" / self.name

    @property
    def calls_state(self) -> Path:
        """Folder of what is known about calls that have no recorded reply yet; never committed."""
        return self.workspace.state / "calls" / self.name

    @property
    def receipts(self) -> Path:
        """Folder of the stage receipts."""
        return self.workspace.state / "receipts" / self.name

    @property
    def lock(self) -> Path:
        """The lock file: one run per build at a time."""
        return self.workspace.state / "locks" / f"{self.name}.lock"

    def version(self, number: int) -> Path:
        """Folder of inventory version ``P<number>``."""
        return self.inventory / f"P{number}"

    def versions(self) -> list[int]:
        """Numbers of the inventory versions there are, ascending; one that a repair has not finished is none yet."""
        return sorted(
            int(path.name[1:])
            for path in self.inventory.glob("P*")
            if path.name[1:].isdecimal() and path.is_dir() and not (path / layout.UNFINISHED).exists()
        )

    @property
    def composed(self) -> Path:
        """Folder of the benchmark as composed from P0: the current one, or the one kept from before the repairs."""
        return self.older(0) if 1 in self.versions() else self.benchmark

    def older(self, number: int) -> Path:
        """Where a repair keeps the benchmark that followed from version ``P<number>``."""
        return self.benchmark / f"at-P{number}"

    def page_file(self, doc_id: str) -> Path:
        """Page rows of one document."""
        return self.pages / f"{doc_id}.jsonl"

    def relative(self, path: Path) -> str:
        """A path as shown and stored: relative to the workspace, forward slashes."""
        return self.workspace.relative(path)


def find_build(workspace: Workspace | Path | None = None, build: str | None = None) -> Build:
    """The build that a workspace and a build name (either may be left out) mean.

    Raises:
        UsageError: there is no such workspace or build, or no way to choose.
    """
    found = workspace if isinstance(workspace, Workspace) else Workspace.find(workspace)
    return found.choose_build(build)
