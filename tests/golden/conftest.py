"""The demonstration build, made afresh in a workspace of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


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
