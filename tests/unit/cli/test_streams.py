"""Streams that are closed, full, broken or ASCII: an exit code and at most one line, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nclue_build.cli.boundary import run_command

PROGRAM = f"{sys.executable} -m nclue_build"
FULL = Path("/dev/full")


def shell(script: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - a script of this test
        ["/bin/bash", "-c", f"set -o pipefail; {script}"],
        cwd=cwd,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_a_closed_stdout_changes_nothing(tmp_path: Path) -> None:
    ran = shell(f"{PROGRAM} schema >&-", tmp_path)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
def test_a_full_stdout_is_one_line(tmp_path: Path) -> None:
    ran = shell(f"{PROGRAM} schema >/dev/full", tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.decode() == "error: cannot write the answer: No space left on device\n"


@pytest.mark.parametrize("words", ["--help", "schema", "schema queries"])
def test_a_broken_pipe_is_quiet(tmp_path: Path, words: str) -> None:
    ran = shell(f"({PROGRAM} {words}; echo $? >code) | true", tmp_path)
    assert (tmp_path / "code").read_text().strip() in {"141", "0"}
    assert ran.stderr == b""


def test_an_ascii_terminal_shows_everything_escaped(tmp_path: Path) -> None:
    (tmp_path / "r\u00e9p").mkdir()
    ran = shell(f"{PROGRAM} init w --pdfs r\u00e9p", tmp_path, PYTHONIOENCODING="ascii")
    assert ran.returncode == 2
    assert b"Traceback" not in ran.stderr
    assert b"r\\xe9p" in ran.stderr
    ran = shell(f"{PROGRAM} --json init w --pdfs r\u00e9p", tmp_path, PYTHONIOENCODING="ascii")
    assert "r\u00e9p" in json.loads(ran.stdout)["findings"][0]["message"]


def test_the_command_line_works_outside_the_main_thread() -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(run_command(["schema"])))
    thread.start()
    thread.join()
    assert codes == [0]
