"""A finished build in a place that cannot be written is still shown, planned, judged and checked."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE = 1


@pytest.fixture
def read_only(built: Path) -> Iterator[Path]:
    """The finished build, nothing of it writable."""
    everything = (built.parent, *built.parent.rglob("*"))
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield built
    for path in everything:
        path.chmod(0o755)


def _obey_permissions() -> None:
    # Root may write anywhere, unless it gives that up before it starts the program.
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *words], capture_output=True, text=True, check=False,
        preexec_fn=_obey_permissions,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="root gives up its rights by prctl")
def test_a_build_in_a_read_only_place(read_only: Path) -> None:
    shown = run("-w", read_only, "run", "--show", "1")
    assert shown.returncode == 0, shown.stderr
    assert "passed: the re-derivation agrees" in shown.stdout
    assert "witness p. " in shown.stdout
    judged = run("-w", read_only, "gate")
    assert judged.returncode == 0, judged.stderr
    assert "passed" in judged.stdout
    assert "warning: gate.json is not written: nothing can be written here" in judged.stderr
    for words in (["run", "--dry-run"], ["validate"]):
        done = run("-w", read_only, *words)
        assert done.returncode == 0, done.stderr
    fresh = run("-w", read_only, "run", "--fresh")
    assert fresh.returncode == 2
    assert "cannot be written, and extract has to run (recomputed on request)" in fresh.stderr
