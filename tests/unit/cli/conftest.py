"""Running command lines in this process."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from nclue_build.cli.boundary import run_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        assert list(value) == ["schema", "ok", "result", "findings"]
        assert value["schema"] == 1
        return value


class Run(Protocol):
    def __call__(self, *words: str | Path) -> Outcome: ...


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run a command line; returns its exit code, stdout and stderr."""
    terminate = signal.getsignal(signal.SIGTERM)

    def call(*words: str | Path) -> Outcome:
        code = run_command([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield call
    signal.signal(signal.SIGTERM, terminate)
