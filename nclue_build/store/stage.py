"""The stage protocol: what a stage declares, and what the runner hands it.

A stage folder holds pure modules; ``stage.py``, which says what the stage depends on and imports nothing that is slow
to import, since every command asks it; and ``run.py``, which does the work and is the only module there that reads or
writes files. The runner (``workflow``) decides from digests whether a stage is stale, runs it,
and writes its receipt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nclue_build.core.spending import Spending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeVar

    from nclue_build.core.canonical import Json
    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.workspace import Build

    ItemT = TypeVar("ItemT")
    ResultT = TypeVar("ResultT")


class Mapper(Protocol):
    """Parallel map over independent items; nothing else in a stage knows about executors."""

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time."""

    def map(self, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        """Yield ``function(item)`` for every item *in the order of the items*.

        ``function`` must be importable (module level) and its items and results picklable.
        Bounded: only a few items per worker are in flight. An exception stops the map.
        """


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a stage gets to work with.

    ``writable`` is false only for a stage that judges a build in a place that cannot be written. ``spending`` is shared
    by all stages of a run.
    """

    build: Build
    config: BuildConfig
    mapper: Mapper
    progress: Progress
    writable: bool = True
    spending: Spending = field(default_factory=Spending)


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage says of its run.

    Args:
        counts: Named figures, among them rows in = kept + split + rejected + invalid.
        findings: Problems that did not stop it (the runner shows and counts them).
        shortfalls: Named shortfalls, one line each, never silent.
    """

    counts: Mapping[str, int]
    findings: tuple[Finding, ...] = ()
    shortfalls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything a stage's result depends on, and everything it writes.

    Args:
        inputs: Files read, in any order; a missing one is the stage's own error to explain.
        settings: The slice of the configuration it reads, as canonical JSON values (floats as strings).
        outputs: Files and folders written; a folder stands for every file below it that it writes.
    """

    inputs: tuple[Path, ...]
    settings: dict[str, Json]
    outputs: tuple[Path, ...] = field(default=())


class Stage(Protocol):
    """A step of a build."""

    name: str
    version: int
    """Raised when results change for the same inputs."""

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Say what the stage depends on, cheaply.

        Raises:
            NclueError: an input that must be there is not.
        """

    def run(self, context: StageContext) -> StageResult:
        """Do the work and write the outputs atomically, sorted by id."""
