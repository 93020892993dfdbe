"""The command line: parse, one library call, render."""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``nclue-build`` command."""
    from nclue_build.cli.boundary import run_command

    raise SystemExit(run_command())
