from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import UsageError
from nclue_build.workflow.lock import build_lock, running_process

if TYPE_CHECKING:
    from nclue_build.store.workspace import Build

HOLD = """
import sys, time
from pathlib import Path
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.lock import build_lock
with build_lock(Build(Workspace(Path(sys.argv[1])), "main")):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_refused_and_told_who_runs(build: Build) -> None:
    with build_lock(build):
        with pytest.raises(UsageError, match=f"'main' is already being run by process {os.getpid()}: wait"):
            build_lock(build).__enter__()
        other = build.__class__(build.workspace, "other")
        with build_lock(other):
            pass
    with build_lock(build):
        pass


def test_who_runs_can_be_asked(build: Build) -> None:
    assert running_process(build) is None
    with build_lock(build):
        assert running_process(build) == str(os.getpid())
    assert running_process(build) is None


def test_a_killed_run_leaves_no_lock(build: Build) -> None:
    holder = subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", HOLD, str(build.workspace.root)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match=f"by process {holder.pid}"):
            build_lock(build).__enter__()
        holder.kill()
    with build_lock(build):
        pass
