from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, InternalError
from nclue_build.store.trec import read_trec_qrels
from nclue_build.workflow.executors import LocalMapper, available_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

# Workers import their function by name, and tests are no importable package: these come from the standard library
# and the package itself.
ITEMS = list(range(-20, 20))


@pytest.mark.parametrize("n_workers", [1, 2])
def test_results_come_in_the_order_of_the_items(n_workers: int) -> None:
    with LocalMapper(n_workers) as mapper:
        assert mapper.n_workers == n_workers
        assert list(mapper.map(abs, ITEMS)) == [abs(item) for item in ITEMS]
        assert list(mapper.map(str, ITEMS)) == [str(item) for item in ITEMS]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_few_items_are_in_flight(n_workers: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for item in ITEMS:
            taken += 1
            yield item

    with LocalMapper(n_workers) as mapper:
        results = mapper.map(abs, items())
        next(results)
        assert taken <= 2 * n_workers


def test_no_process_starts_before_the_first_item() -> None:
    with LocalMapper(2) as mapper:
        assert list(mapper.map(abs, [])) == []
        assert mapper._pool is None


def test_zero_workers_means_every_core() -> None:
    assert LocalMapper(0).n_workers == available_cores() >= 1


@pytest.mark.parametrize("n_workers", [1, 2])
def test_an_exception_of_an_item_comes_through(n_workers: int) -> None:
    with LocalMapper(n_workers) as mapper, pytest.raises(ValueError, match="invalid literal"):
        list(mapper.map(int, ["1", "x"]))


def stop_at(mapper: LocalMapper, last: int) -> None:
    for result in mapper.map(abs, range(1000)):
        if result == last:
            raise RuntimeError("enough")


def test_leaving_in_the_middle_is_quiet(recwarn: pytest.WarningsRecorder) -> None:
    for last in range(5):
        with pytest.raises(RuntimeError, match="enough"), LocalMapper(2) as mapper:
            stop_at(mapper, last)
    with LocalMapper(2) as mapper:
        assert next(mapper.map(abs, range(1000))) == 0
    assert [str(warning.message) for warning in recwarn] == []


def test_our_errors_keep_their_findings_across_processes(tmp_path: Path) -> None:
    bad = tmp_path / "qrels.trec"
    bad.write_text("q1 0 d1\n", encoding="utf-8")
    with LocalMapper(2) as mapper:
        assert len(list(mapper.map(sha256_file, [bad]))) == 1
        with pytest.raises(DataError) as caught:
            list(mapper.map(read_trec_qrels, [bad]))
    (finding,) = caught.value.findings
    assert (finding.code, finding.path, finding.line) == ("bad-qrels-row", str(bad), 1)


def test_a_dead_worker_is_our_error() -> None:
    with LocalMapper(2) as mapper, pytest.raises(InternalError, match=r"a worker process died.*fewer workers"):
        list(mapper.map(os._exit, [1]))


SLEEPER = """
import sys, time
from nclue_build.workflow.executors import LocalMapper
if __name__ == "__main__":
    with LocalMapper(2) as mapper:
        print("ready", flush=True)
        for _ in mapper.map(time.sleep, [600.0] * 8):
            pass
"""


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text(encoding="ascii").split()]


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to see processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER, encoding="utf-8")
    parent = subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        deadline = time.monotonic() + 30
        workers: list[int] = []
        # Two workers, and the tracker that spawning brings along.
        while len(workers) < 3 and time.monotonic() < deadline:
            workers = children(parent.pid)
            time.sleep(0.05)
        time.sleep(0.5)
        assert len(workers) >= 3
        parent.send_signal(number)
        parent.wait(30)
    while any(is_alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in workers if is_alive(pid)] == []
