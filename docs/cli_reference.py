"""Writes ``cli-reference.md`` beside this file, the help of every verb: ``python docs/cli_reference.py``.

A test compares the page with what this makes, so no option changes without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import typer
from typer.testing import CliRunner

from nclue_build.cli.app import app

WIDTH: Final = 98
"""What is left of a terminal of 100 columns."""
PAGE: Final = Path(__file__).with_name("cli-reference.md")
HEAD: Final = """\
# Command-line reference

Made by `docs/cli_reference.py`; [cli.md](cli.md) explains the conventions, the exit codes and the JSON envelope.
"""


def _help(*verb: str) -> str:
    """The help page of a verb as a terminal without colours shows it."""
    shown = CliRunner().invoke(app, [*verb, "--help"], prog_name="nclue-build", terminal_width=WIDTH)
    text = "\n".join(line.rstrip() for line in shown.stdout.strip().splitlines())
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
