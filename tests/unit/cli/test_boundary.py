"""Every error becomes one message and an exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build import cli
from nclue_build.cli.boundary import CODES
from nclue_build.core import errors
from nclue_build.workflow import runner

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Run


EXITS = {
    "UsageError": 2, "DataError": 3, "CallError": 4, "FrozenMiss": 4, "CacheConflict": 4, "CacheCorrupt": 4,
    "TransientCallError": 4, "PermanentCallError": 4,
    "BudgetReached": 4, "ReleaseError": 5, "OutcomeError": 1, "InternalError": 70,
}  # fmt: skip


def raising(error: BaseException) -> Any:
    def run_build(*_: object, **__: object) -> None:
        raise error

    return run_build


def test_every_error_class_has_an_exit_code_and_a_finding_code() -> None:
    classes = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.NclueError)}
    assert {kind.__name__: kind.exit_code for kind in classes - {errors.NclueError}} == EXITS
    assert set(CODES) == classes - {errors.NclueError}


@pytest.mark.parametrize(("name", "code"), EXITS.items())
def test_the_error_map(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    kind: type[errors.NclueError] = getattr(errors, name)
    monkeypatch.setattr(runner, "run_build", raising(kind("x.jsonl: broken: mend it")))
    failed = run("run")
    assert (failed.code, failed.out, failed.err) == (code, "", "error: x.jsonl: broken: mend it\n")
    envelope = run("run", "--json").envelope
    assert envelope["findings"] == [
        {"code": CODES[kind], "path": None, "line": None, "id": None, "message": "x.jsonl: broken: mend it"}
    ]


def test_findings_of_an_error_fill_the_envelope(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = errors.Finding("bad-record", "grade: too big", "qrels.jsonl", 7, "q1")
    monkeypatch.setattr(runner, "run_build", raising(errors.DataError.from_findings([finding])))
    assert run("run").err == "error: qrels.jsonl:7: grade: too big [bad-record]\n"
    outcome = run("run", "--json")
    assert outcome.err == ""
    assert outcome.envelope["findings"] == [
        {"code": "bad-record", "path": "qrels.jsonl", "line": 7, "id": "q1", "message": "grade: too big"}
    ]


def test_a_bug_of_ours_is_70_with_its_trace_only_on_demand(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run_build", raising(KeyError("lost")))
    failed = run("run")
    assert failed.code == 70
    assert failed.err.startswith("error: internal error: KeyError: 'lost'. Please report it")
    assert "Traceback" not in failed.err
    assert "Traceback" in run("run", "-v").err
    assert run("run", "--json").envelope["findings"][0]["code"] == "internal-error"


def test_a_bug_of_ours_says_what_it_was_about(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        with errors.about("document a (pdfs/a.pdf)"):
            raise KeyError("lost")

    monkeypatch.setattr(runner, "run_build", fail)
    failed = run("run")
    assert failed.code == 70
    assert failed.err.startswith("error: internal error: document a (pdfs/a.pdf): KeyError: 'lost'. Please report it")


def test_the_system_says_no(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run_build", raising(OSError(28, "No space left on device", "qrels.jsonl")))
    failed = run("run")
    assert failed.code == 2
    assert failed.err == (
        "error: qrels.jsonl: no space left on device: make room on that disk, then give the same command again: "
        "what is whole is kept\n"
    )
    monkeypatch.setattr(runner, "run_build", raising(OSError(5, "Input/output error", "qrels.jsonl")))
    assert run("run").err == "error: qrels.jsonl: input/output error\n"


def test_ctrl_c_is_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "run_build", raising(KeyboardInterrupt()))
    failed = run("run")
    assert (failed.code, failed.out) == (130, "")
    told = "error: interrupted: what is done is kept. To go on where it stopped: nclue-build"
    assert failed.err == f"{told} run\n"
    assert run("-b", "a b", "run", "--fresh", "-q").err == f"{told} -b 'a b' run -q\n"
    assert run("run", "--json").envelope["findings"][0]["code"] == "interrupted"


@pytest.mark.parametrize("words", [["mend"], ["run", "--colour"], ["run", "--show", "many"], ["init"], ["-w"]])
def test_mistyped_commands_are_2(run: Run, words: list[str]) -> None:
    failed = run(*words)
    assert failed.code == 2
    assert failed.err.startswith("error: ")
    assert "--help' shows what there is" in failed.err
    if words != ["-w"]:
        assert run(*words, "--json").envelope["ok"] is False


def test_no_words_show_the_help(run: Run) -> None:
    assert run().code == 0
    assert run().out == run("--help").out


def test_a_reader_that_leaves_early_hears_no_complaint(repository: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "nclue_build", "schema", "--json"],
        cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == ""
    assert program.returncode == 141


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to see processes")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow, id="interrupted"),
        pytest.param(signal.SIGTERM, 143, id="terminated"),
    ],
)
def test_a_stopped_run_leaves_no_process_and_is_resumed(
    fresh: Path, run: Run, number: signal.Signals, code: int
) -> None:
    config = fresh / "configs" / "main.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("\nworkers = 1 ", "\nworkers = 2 "), encoding="utf-8")
    program = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", "-w", fresh, "run"],
        cwd=Path(cli.__file__).parent.parent.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"NCLUE_TEST_MARK": str(fresh)}, start_new_session=True,
    )  # fmt: skip
    with program:
        assert program.stderr is not None
        for line in program.stderr:
            if "reading" in line:
                break
        time.sleep(1)
        os.killpg(program.pid, number) if number == signal.SIGINT else program.send_signal(number)
        said = program.stderr.read()
    assert program.returncode == code
    assert "Traceback" not in said
    deadline = time.monotonic() + 20
    while marked(str(fresh)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert marked(str(fresh)) == []
    assert run("-w", fresh, "run", "-q").code == 0


def marked(mark: str) -> list[int]:
    """Processes that carry our mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"NCLUE_TEST_MARK={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except (OSError, ValueError):
            continue
    return found
