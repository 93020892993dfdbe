"""Every verb and option explains itself, and docs/cli.md knows them all."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import typer

from nclue_build.cli.app import app
from nclue_build.core import errors

if TYPE_CHECKING:
    from pathlib import Path

VERBS = [
    "init",
    "doctor",
    "validate",
    "schema",
    "fetch",
    "extract",
    "mine",
    "compose",
    "gate",
    "run",
    "score",
    "compare",
    "tables",
    "repair",
    "audit",
    "report",
    "calls",
]
COMMON = {"--workspace", "--build", "--json", "--quiet", "--verbose"}
ROOT = typer.main.get_command(app)


def test_the_verbs() -> None:
    assert list(ROOT.commands) == VERBS  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_and_takes_the_common_options(verb: str) -> None:
    command = ROOT.commands[verb]  # type: ignore[attr-defined]
    assert command.help
    assert "..." not in command.get_short_help_str(60)
    names = {name for parameter in command.params for name in parameter.opts}
    assert names >= COMMON
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", None)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help_page(verb: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", verb, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"Usage: nclue-build {verb} ")
    assert done.stderr == ""


@pytest.mark.parametrize("verb", VERBS)
def test_the_reference_documents_every_verb_and_option(verb: str, repository: Path) -> None:
    text = (repository / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"## {verb}\n" in text
    section = text.split(f"## {verb}\n", 1)[1].split("\n## ", 1)[0]
    command = ROOT.commands[verb]  # type: ignore[attr-defined]
    options = {parameter.opts[0] for parameter in command.params if parameter.opts[0].startswith("--")} - COMMON
    assert [name for name in sorted(options) if f"`{name}" not in section] == []


def test_the_reference_documents_every_exit_code(repository: Path) -> None:
    text = (repository / "docs" / "cli.md").read_text(encoding="utf-8")
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    reachable = codes - {errors.EXIT_RELEASE}  # no verb makes a release
    assert {code for code in reachable if f"| {code} | " not in text} == set()


def test_the_launcher_runs_from_anywhere(repository: Path, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, repository / "cli.py", "--version"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith("nclue-build ")


CALLS = ROOT.commands["calls"].commands  # type: ignore[attr-defined]


def test_the_verbs_of_calls() -> None:
    assert list(CALLS) == ["status", "estimate", "export", "import", "verify", "why", "agree", "prune", "probe", "seal"]


@pytest.mark.parametrize("verb", CALLS)
def test_every_verb_of_calls_explains_itself_and_is_documented(verb: str, repository: Path) -> None:
    command = CALLS[verb]
    assert command.help
    assert "..." not in command.get_short_help_str(60)
    assert {name for parameter in command.params for name in parameter.opts} >= COMMON
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", None)] == []
    text = (repository / "docs" / "cli.md").read_text(encoding="utf-8").split("## calls\n", 1)[1]
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `calls {verb}")]
    options = {parameter.opts[0] for parameter in command.params if parameter.opts[0].startswith("--")} - COMMON
    assert [name for name in sorted(options) if name not in line] == []
