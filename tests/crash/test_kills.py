"""A run that is killed at any moment leaves old files or new ones, and the next run finishes what it began."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from subprocess import Popen

    from tests.crash.conftest import Crashing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see processes")


def with_workers(crashing: Crashing, workers: int) -> None:
    config = crashing.workspace / "configs" / "main.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("\nworkers = 1 ", f"\nworkers = {workers} "), encoding="utf-8")


def wait_for(process: Popen[str], stage: str) -> None:
    """Wait until a run says that it begins a stage."""
    assert process.stderr is not None
    for line in process.stderr:
        if re.match(rf"{stage}: (?!done)", line):
            return
    pytest.fail(f"ended before {stage} began")


def test_killed_again_and_again_it_gets_there(crashing: Crashing) -> None:
    draw = random.Random(11)  # noqa: S311 - the same moments every time
    n_killed = 0
    # A stage begins anew each time: it has to be let further to end at all.
    while (done := crashing.run_dying_at(25 + 15 * n_killed + draw.randrange(15))).returncode == -signal.SIGKILL:
        n_killed += 1
        assert n_killed < 30, "no run gets any further than the one before it"
        crashing.check_state()
    assert done.returncode == 0, done.stderr
    assert n_killed >= 3
    crashing.check_resumed()


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ((signal.SIGINT,), 130),
        pytest.param((signal.SIGTERM,), 143, marks=pytest.mark.slow),
        pytest.param((signal.SIGINT, signal.SIGINT), 130, marks=pytest.mark.slow),
    ],
    ids=["ctrl-c", "terminated", "ctrl-c-twice"],
)
def test_a_run_that_is_told_to_stop_stops_and_is_resumed(
    crashing: Crashing, signals: tuple[signal.Signals, ...], code: int
) -> None:
    with_workers(crashing, 2)
    with crashing.start("run") as process:
        wait_for(process, "mine")
        for number in signals:
            os.killpg(process.pid, number)  # as a terminal does: all of them get it
            time.sleep(0.05)
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) == code, said
    assert "Traceback" not in said
    crashing.check_state()
    crashing.check_resumed()


def test_a_worker_that_is_killed_ends_the_run_with_a_word(crashing: Crashing) -> None:
    with_workers(crashing, 2)
    with crashing.start("run") as process:
        wait_for(process, "extract")
        kill_one(crashing, process, "multiprocessing.spawn")
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(60) == 70, said
    assert "error: a worker process died: killed from outside, out of memory" in said
    crashing.check_state()
    crashing.check_resumed()


def test_a_reader_that_is_killed_costs_nothing(crashing: Crashing) -> None:
    with_workers(crashing, 2)
    with crashing.start("run") as process:
        wait_for(process, "extract")
        kill_one(crashing, process, "nclue_build.corpus.child")
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(120) == 0, said
    crashing.check_state()
    crashing.check_resumed()


def kill_one(crashing: Crashing, process: Popen[str], words: str) -> bool:
    """Kill the first descendant whose command line has these words; False when the run ends before there is one."""
    while process.poll() is None:
        for pid, command in crashing.descendants(process.pid).items():
            if words in command:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                return True
        time.sleep(0.01)
    return False


def test_a_second_run_is_refused_while_the_first_goes_on(crashing: Crashing) -> None:
    with crashing.start("run") as first:
        wait_for(first, "extract")
        os.killpg(first.pid, signal.SIGSTOP)
        refused = crashing.run("run")
        shown = crashing.run("run", "--dry-run")
        os.killpg(first.pid, signal.SIGCONT)
        assert refused.returncode == 2
        assert refused.stderr == (
            f"error: build 'main' is already being run by process {first.pid}: wait until it ends, or stop it "
            "(a stopped run is resumed by the next one)\n"
        )
        assert shown.returncode == 0
        assert first.stderr is not None
        first.stderr.read()
        assert first.wait(120) == 0
    crashing.check_resumed()
