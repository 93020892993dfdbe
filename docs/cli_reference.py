"""Writes ``cli-reference.md`` beside this file, the help of every verb: ``python docs/cli_reference.py``.

A test compares the page with what this makes, so no option changes without it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import typer

from nclue_build.cli.app import app

PAGE: Final = Path(__file__).with_name("cli-reference.md")
HEAD: Final = """\
# Command-line reference

Made by `docs/cli_reference.py`; [cli.md](cli.md) explains the conventions, the exit codes and the JSON envelope.
"""


def _help(*verb: str) -> str:
    """The help page of a verb as a terminal without colours shows it."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", *verb, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
    )
    text = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
    return f"## {' '.join(('nclue-build', *verb))}\n\n```\n{text}\n```\n"


def reference() -> str:
    """The whole page."""
    root: Any = typer.main.get_command(app)
    verbs = [(name, *inner) for name, verb in root.commands.items() for inner in ((), *_commands(verb))]
    return "\n".join([HEAD, _help(), *(_help(*verb) for verb in verbs)])


def _commands(verb: Any) -> list[tuple[str]]:
    """The commands of a verb that is a group of them."""
    return [(name,) for name in getattr(verb, "commands", {})]


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
