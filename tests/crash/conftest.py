"""Runs that are killed, in processes of their own, and what must be true of the build afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from nclue_build.core.canonical import sha256_file
from nclue_build.store.atomic import TEMPORARY_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import TreeDigests

_MARK: Final = "NCLUE_CRASH_TEST"
_DIES: Final = """
import os, signal, sys
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"}
ROOT, at, seen = sys.argv.pop(1), int(sys.argv.pop(1)), 0
def hook(event, arguments):
    global seen
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    named = arguments and isinstance(arguments[0], str | bytes | os.PathLike)
    if named and (writes or event in CHANGES) and os.path.abspath(os.fsdecode(arguments[0])).startswith(ROOT):
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    from nclue_build.cli.boundary import run_command
    sys.addaudithook(hook)
    code = run_command(sys.argv[1:])
    print("changes:", seen, file=sys.stderr)
    sys.exit(code)
"""
"""Runs a command line and dies before the change numbered ``at`` that it makes to files below a folder."""


@dataclass
class Crashing:
    """A workspace whose runs get killed.

    Args:
        workspace: It.
        expected: Digests of what an undisturbed run makes, by path.
        tree_digests: How to take them.
    """

    workspace: Path
    expected: dict[str, str]
    tree_digests: TreeDigests

    @property
    def environment(self) -> dict[str, str]:
        """What every process of its runs can be known by."""
        return {**os.environ, _MARK: str(self.workspace)}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "nclue_build", "-w", str(self.workspace), *words]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command in a session of its own."""
        return subprocess.Popen(  # noqa: S603 - our own program
            self.command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env=self.environment,
        )  # fmt: skip

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            self.command(*words), capture_output=True, text=True, check=False, timeout=600, env=self.environment
        )

    def run_dying_at(self, change: int) -> subprocess.CompletedProcess[str]:
        """Run all stages in one process that is killed before its change number ``change`` to the workspace."""
        script = self.workspace.parent / "dies.py"
        script.write_text(_DIES, encoding="utf-8")
        return subprocess.run(  # noqa: S603 - our own program
            [sys.executable, script, f"{self.workspace}{os.sep}", str(change), "-w", self.workspace, "run"],
            capture_output=True, text=True, check=False, timeout=600, env=self.environment,
        )  # fmt: skip

    @staticmethod
    def descendants(pid: int) -> dict[int, str]:
        """Every process below one, with its command line."""
        found: dict[int, str] = {}
        waiting = [pid]
        while waiting:
            parent = waiting.pop()
            try:
                text = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
            except OSError:
                continue
            for child in map(int, text.split()):
                try:
                    found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:
                    continue
                waiting.append(child)
        return found

    def start_over(self) -> None:
        """Forget every run."""
        for name in ("inventory", "benchmarks", ".nclue"):
            shutil.rmtree(self.workspace / name, ignore_errors=True)

    def check_state(self) -> None:
        """Whatever lies there is whole: every file is the one to be, every receipt is about what is there."""
        for name, digest in self.tree_digests(self.workspace).items():
            if not name.endswith(TEMPORARY_SUFFIX):
                assert digest == self.expected.get(name), f"{name} is half written or no output at all"
        for path in (self.workspace / ".nclue" / "receipts").rglob("*.json"):
            receipt = json.loads(path.read_text(encoding="utf-8"))
            for name, digest in receipt["outputs"].items():
                assert sha256_file(self.workspace / name) == digest, f"{path.name} lists {name}, which is not that"

    def check_resumed(self) -> None:
        """The next plain run brings everything about, leaves nothing behind, and nothing is a stranger."""
        done = self.run("run")
        assert done.returncode == 0, done.stdout + done.stderr
        assert self.tree_digests(self.workspace) == self.expected
        leftovers = [path for path in self.workspace.rglob(f".*{TEMPORARY_SUFFIX}") if "pages" not in path.parts]
        assert leftovers == []
        assert not list((self.workspace / ".nclue" / "scratch").rglob("*.*"))
        validated = self.run("validate", "--json")
        assert json.loads(validated.stdout)["findings"] == []


@pytest.fixture
def crashing(fresh: Path, first_run: Path, tree_digests: TreeDigests) -> Iterator[Crashing]:
    """The workspace of ten reports before its first run; no process of its runs may be left when the test ends."""
    made = Crashing(fresh, tree_digests(first_run / "workspace"), tree_digests)
    yield made
    deadline = time.monotonic() + 30
    while (left := running_in(fresh)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def running_in(workspace: Path) -> list[int]:
    """Processes that were started for a workspace, children of children included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"{_MARK}={workspace}".encode() in words:
                found.append(int(entry.name))
    return found
