"""A disk that is full or cannot be written: what is said, what stays, and how it goes on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crash.conftest import Crashing

PROGRAM = f"{sys.executable} -m nclue_build -w"


@pytest.fixture(scope="session")
def in_mount_space() -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Runs a shell script in mounts of its own, which are gone with it."""
    base = ["unshare", "--mount", "--map-root-user", "sh", "-euc"]

    def call(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own script
            [*base, script], capture_output=True, text=True, check=False, timeout=600
        )

    if shutil.which("unshare") is None or call("mount -t tmpfs none /mnt").returncode:
        pytest.skip("no mounts of our own here: needs unshare and the right to use it")
    return call


def blocks(*folders: Path) -> int:
    """Kilobytes that files take on a disk with blocks of four."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sum(4 * -(-path.stat().st_size // 4096) for path in files)


@pytest.mark.parametrize("percent", [10, pytest.param(50, marks=pytest.mark.slow), 95])
def test_a_full_disk_is_named_and_made_room_on(
    crashing: Crashing, first_run: Path, in_mount_space: Callable[[str], subprocess.CompletedProcess[str]], percent: int
) -> None:
    """The workspace lies on a disk that holds so much of what a build takes; then the disk grows."""
    made = first_run / "workspace"
    n_given = blocks(crashing.workspace, crashing.workspace.parent / "reports")
    n_made = blocks(made / "inventory", made / "benchmarks", made / ".nclue")
    n_kib = n_given + n_made * percent // 100
    disk = crashing.workspace.parent / "disk"
    disk.mkdir()
    done = in_mount_space(
        f"""
        mount -t tmpfs -o size={n_kib}k none {disk}
        cp -r {crashing.workspace} {crashing.workspace.parent}/reports {disk}/
        code=0
        {PROGRAM} {disk}/workspace -q run >/dev/null || code=$?
        echo "code $code" >&2
        find {disk} -name '*.nclue-tmp' >&2
        mount -o remount,size=1g {disk}
        {PROGRAM} {disk}/workspace run >/dev/null 2>&1
        {PROGRAM} {disk}/workspace -q validate >/dev/null
        cp -r {disk}/workspace/inventory {disk}/workspace/benchmarks {crashing.workspace}/
        """
    )
    assert done.returncode == 0, done.stderr
    found = re.search(
        r"^error: ((?:inventory|benchmarks|\.nclue)/\S+): no space left on device: make room on that disk, then give "
        r"the same command again: what is whole is kept\ncode 2\n\Z",
        done.stderr,
        re.MULTILINE,
    )
    assert found, done.stderr
    assert crashing.tree_digests(crashing.workspace) == crashing.expected


def test_a_disk_that_is_mounted_for_reading(
    crashing: Crashing, first_run: Path, in_mount_space: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    """A finished build is shown and judged there; one that has to run says why it cannot, and touches nothing."""
    finished, fresh = first_run / "workspace", crashing.workspace
    done = in_mount_space(
        f"""
        for place in {finished} {fresh}; do
            mount --bind $place $place
            mount -o remount,ro,bind $place
        done
        for words in run gate validate; do {PROGRAM} {finished} -q $words >/dev/null; done
        code=0
        {PROGRAM} {fresh} -q run >/dev/null || code=$?
        echo "code $code" >&2
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(
        f"error: {fresh} cannot be written, and extract has to run (not run yet): "
        "make it writable, or work in a copy\ncode 2\n"
    )
    assert crashing.tree_digests(finished) == crashing.expected


def test_an_output_folder_that_is_mounted_for_reading_is_named(
    crashing: Crashing, in_mount_space: Callable[[str], subprocess.CompletedProcess[str]]
) -> None:
    folder = crashing.workspace / "benchmarks"
    folder.mkdir()
    done = in_mount_space(
        f"""
        mount --bind {folder} {folder}
        mount -o remount,ro,bind {folder}
        code=0
        {PROGRAM} {crashing.workspace} -q run >/dev/null || code=$?
        echo "code $code" >&2
        """
    )
    assert done.stderr.endswith("error: benchmarks/main: read-only file system\ncode 2\n"), done.stderr
    assert crashing.run("run").returncode == 0
    assert crashing.tree_digests(crashing.workspace) == crashing.expected
