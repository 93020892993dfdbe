"""The options every verb takes, before or after its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Session:
    """What the common options said."""

    workspace: Path | None = None
    build: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def merge(self, workspace: Path | None, build: str | None, *, json: bool, quiet: bool, verbose: bool) -> None:
        """Take in the options of one place; the place that is parsed later (after the verb) wins."""
        self.workspace = workspace or self.workspace
        self.build = build or self.build
        self.json = json or self.json
        self.quiet = quiet or self.quiet
        self.verbose = verbose or self.verbose
