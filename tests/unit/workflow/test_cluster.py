"""A build on a dask cluster: processes of its own on the loopback."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import UsageError
from nclue_build.workflow import cluster
from nclue_build.workflow.cluster import DaskMapper, environment
from nclue_build.workflow.executors import LocalMapper, open_mapper

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import TreeDigests

from nclue_build.records.config import RunSection

SCHEDULER = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
WORKER = [
    "-m",
    "distributed.cli.dask_worker",
    "--nthreads",
    "2",
    "--nworkers",
    "2",
    "--host",
    "127.0.0.1",
    "--no-dashboard",
]


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, *words, "--scheduler-file", folder / "scheduler.json"],
            stdout=log, stderr=log, cwd=folder, start_new_session=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler and two worker processes with two threads each."""
    folder = tmp_path_factory.mktemp("cluster")
    started = [start(folder, *SCHEDULER)]
    deadline = time.monotonic() + 120
    while not (folder / "scheduler.json").exists():
        assert time.monotonic() < deadline, (folder / "log").read_text(encoding="utf-8")
        time.sleep(0.1)
    started.append(start(folder, *WORKER))
    yield json.loads((folder / "scheduler.json").read_text(encoding="utf-8"))["address"]
    for process in reversed(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def on_cluster(workspace: Path, address: str) -> None:
    config = workspace / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    text = text.replace('\nexecutor = "local" ', '\nexecutor = "dask" ').replace(
        '\naddress = "" ', f'\naddress = "{address}" '
    )
    assert address in text
    config.write_text(text, encoding="utf-8")


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *words], capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.slow
def test_a_build_on_a_cluster_is_the_same_to_the_byte(built: Path, address: str, tree_digests: TreeDigests) -> None:
    expected = tree_digests(built)
    for name in ("inventory", "benchmarks", ".nclue"):
        shutil.rmtree(built / name)
    on_cluster(built, address)
    done = run("-w", built, "run")
    assert done.returncode == 0, done.stderr
    assert tree_digests(built) == expected
    for words in (["gate"], ["gate", "--extraction"], ["validate"]):
        checked = run("-w", built, *words)
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.slow
def test_a_bad_document_is_one_bad_document_there_too(built: Path, address: str) -> None:
    on_cluster(built, address)
    (built.parent / "reports" / "report 3.pdf").write_bytes(b"no PDF at all")
    done = run("-w", built, "run", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["code"] for row in json.loads(done.stdout)["findings"]] == ["document-failed"]


@pytest.mark.slow
def test_workers_with_other_packages_are_refused(built: Path, address: str) -> None:
    script = (
        "import sys\nfrom nclue_build.workflow import cluster\nfrom nclue_build.cli import main\n"
        "ours = cluster.environment()\n"
        "cluster.declared_packages = lambda: {'pymupdf': ''}\n"
        "cluster.installed_version = lambda name: '9.9' if name == 'pymupdf' else ours[name]\n"
        "sys.exit(main())\n"
    )
    on_cluster(built, address)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", script, "-w", built, "run", "--fresh"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "could give other results: it has pymupdf" in done.stderr
    assert "instead of 9.9. Install the same packages there" in done.stderr


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named(built: Path) -> None:
    on_cluster(built, "tcp://127.0.0.1:9")
    assert run("-w", built, "run").returncode == 0  # up to date: nobody is asked
    done = run("-w", built, "run", "--fresh")
    assert done.returncode == 2
    assert "error: no dask scheduler answers at 'tcp://127.0.0.1:9' ([run] address): start one" in done.stderr


def test_the_configuration_chooses() -> None:
    assert isinstance(open_mapper(RunSection()), LocalMapper)
    assert isinstance(open_mapper(RunSection(executor="dask", address="tcp://127.0.0.1:9")), DaskMapper)
    with pytest.raises(ValueError, match="needs address"):
        RunSection(executor="dask")
    with pytest.raises(ValueError, match="address"):
        RunSection(executor="dask", address="127.0.0.1:9")


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        DaskMapper("tcp://127.0.0.1:9") as mapper,
        pytest.raises(UsageError, match=r"pip install 'nclue-build\[dask\]'"),
    ):
        list(mapper.map(abs, [1]))


def test_the_environment_names_what_decides_results(monkeypatch: pytest.MonkeyPatch) -> None:
    found = environment()
    assert {"python", "nclue-build", "pymupdf", "numpy", "hanta"} <= set(found)
    assert "distributed" not in found
    monkeypatch.setattr(cluster, "installed_version", lambda _: None)
    assert environment()["numpy"] == "none"
