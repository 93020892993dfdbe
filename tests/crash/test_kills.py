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

STAGES = ("extract", "mine", "compose", "gate")


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


@pytest.mark.slow
def test_killed_before_every_single_change_to_a_file(crashing: Crashing) -> None:
    whole = crashing.run_dying_at(1_000_000)
    assert whole.returncode == 0, whole.stderr
    n_changes = int(whole.stderr.rpartition("changes: ")[2])
    assert n_changes > 100
    for change in range(1, n_changes + 1):
        crashing.start_over()
        assert crashing.run_dying_at(change).returncode == -signal.SIGKILL, change
        crashing.check_state()
        done = crashing.run("run")
        assert done.returncode == 0, f"change {change}: {done.stderr}"
        assert crashing.tree_digests(crashing.workspace) == crashing.expected, f"change {change}"
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


@pytest.mark.parametrize(
    ("victim", "code", "words"),
    [
        ("multiprocessing.spawn", 70, "error: a worker process died: killed from outside, out of memory"),
        ("nclue_build.corpus.child", 0, "extract: "),
    ],
    ids=["a-worker-ends-the-run-with-a-word", "a-reader-costs-nothing"],
)
def test_a_process_of_a_run_that_is_killed(crashing: Crashing, victim: str, code: int, words: str) -> None:
    with_workers(crashing, 2)
    with crashing.start("run") as process:
        wait_for(process, "extract")
        assert kill_one(crashing, process, victim)
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(120) == code, said
    assert words in said
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


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_random_moments(crashing: Crashing, stage: str) -> None:
    """Per stage: the whole group, the parent alone, a worker, a reader, each at three moments."""
    with_workers(crashing, 2)
    draw = random.Random(f"crash {stage}")  # noqa: S311 - the same moments every time
    for victim in ("group", "parent", "multiprocessing.spawn", "nclue_build.corpus.child") * 3:
        if victim.endswith("child") and stage != "extract":
            continue  # nobody reads PDFs there
        crashing.start_over()
        with crashing.start("run") as process:
            wait_for(process, stage)
            time.sleep(draw.random() * 0.6)
            if victim == "group":
                os.killpg(process.pid, signal.SIGKILL)
            elif victim == "parent":
                process.kill()
            else:
                kill_one(crashing, process, victim)
            assert process.stderr is not None
            said = process.stderr.read()
            code = process.wait(120)
        assert code in {-signal.SIGKILL, 0, 70}, said
        crashing.check_state()
        done = crashing.run("run")
        assert done.returncode == 0, done.stderr
        assert crashing.tree_digests(crashing.workspace) == crashing.expected, (stage, victim)
    crashing.check_resumed()


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
