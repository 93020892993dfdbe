"""The same bytes whatever the hash seed, the number of workers, and the order in which a folder lists its files."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import TreeDigests


@pytest.mark.parametrize(("seed", "workers"), [pytest.param("0", 2, marks=pytest.mark.slow), ("1", 1), ("random", 4)])
def test_outputs_are_the_same_to_the_byte(built: Path, tree_digests: TreeDigests, seed: str, workers: int) -> None:
    expected = tree_digests(built)
    assert len(expected) > 30
    for name in ("inventory", "benchmarks", ".nclue"):
        shutil.rmtree(built / name)
    reports = built.parent / "reports"
    moved = sorted(reports.iterdir(), key=lambda path: hashlib.sha256((seed + path.name).encode()).digest())
    for path in moved:  # written anew in another order: the folder lists them in another order on most file systems
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    config = built / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8").replace("\nworkers = 1 ", f"\nworkers = {workers} ")
    config.write_text(text, encoding="utf-8")
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", "-q", "-w", built, "run"],
        check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert tree_digests(built) == expected


def test_no_output_holds_a_path_of_this_machine(built: Path) -> None:
    here = str(built.parent).encode()
    outputs = [path for name in ("inventory", "benchmarks", ".nclue") for path in (built / name).rglob("*")]
    assert [path.name for path in outputs if path.is_file() and here in path.read_bytes()] == []
