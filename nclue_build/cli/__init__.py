"""The command line: parse, one library call, render."""

from __future__ import annotations

import os


def main() -> None:
    """Entry point of the ``nclue-build`` command."""
    from nclue_build.core.errors import EXIT_INTERRUPTED

    try:
        from nclue_build.cli.boundary import run_command
        from nclue_build.core.collector import collect_rarely
    except KeyboardInterrupt:  # nothing has begun yet
        os._exit(EXIT_INTERRUPTED)
    collect_rarely()
    code = run_command()
    if code == EXIT_INTERRUPTED:
        # An interrupt that met an extension module being imported makes Python end itself by that signal in the end,
        # whatever exit code it is given. Output is flushed, workers are gone, and readers end with their pipes.
        os._exit(code)
    raise SystemExit(code)
