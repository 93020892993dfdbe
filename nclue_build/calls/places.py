"""Where the recorded calls of a build lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nclue_build.core.canonical import Json
    from nclue_build.records.config import CallsSection
    from nclue_build.store.workspace import Build

_GENERATION: Final = re.compile(r"gen-[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class CallPlaces:
    """The files of one generation of recorded calls.

    Args:
        build: The build they belong to.
        generation: From 1; each later one lies in a folder of its own beside the first.
    """

    build: Build
    generation: int

    @property
    def sealed(self) -> Path:
        """Folder of the sealed records, ``<prompt_id>/<first two hex digits of the key>.jsonl``."""
        root = self.build.frozen_outputs
        return root if self.generation == 1 else root / f"gen-{self.generation}"

    def prompt(self, prompt_id: str) -> Path:
        """Folder of the sealed records of one prompt."""
        return self.sealed / prompt_id

    def shard(self, prompt_id: str, key: str) -> Path:
        """The file a record belongs to."""
        return self.prompt(prompt_id) / f"{key[:2]}.jsonl"

    def shards(self, prompt_id: str | None = None) -> Iterator[Path]:
        """Sealed files there are, of one prompt or of all, sorted."""
        if prompt_id is not None:
            yield from sorted(self.prompt(prompt_id).glob("*.jsonl"))
            return
        for folder in sorted(self.sealed.glob("*")):
            if folder.is_dir() and not _GENERATION.match(folder.name):
                yield from sorted(folder.glob("*.jsonl"))

    @property
    def inbox(self) -> Path:
        """Folder of the segments that processes append to while recording; never committed."""
        return self.build.workspace.state / "inbox" / self.build.name / f"gen-{self.generation}"

    def segments(self) -> list[Path]:
        """Segments there are, sorted."""
        return sorted(self.inbox.glob("*.jsonl"))


def generations(build: Build) -> list[int]:
    """Generations that have sealed records, ascending."""
    found = {int(path.name[4:]) for path in build.frozen_outputs.glob("gen-*") if _GENERATION.match(path.name)}
    if any(CallPlaces(build, 1).shards()):
        found.add(1)
    return sorted(found)


def recorded_inputs(build: Build, config: CallsSection, prompts: Iterable[str]) -> tuple[Path, ...]:
    """What a stage that asks depends on: its prompt files, and the sealed records of their calls.

    Args:
        build: The build.
        config: Its ``[calls]`` table.
        prompts: Prompt files, relative to the folder of prompts; the name of each is the id of its prompt.
    """
    places = CallPlaces(build, config.generation)
    names = tuple(prompts)
    return (
        *(build.workspace.prompts / name for name in names),
        *(places.prompt(name.rpartition("/")[2].removesuffix(".md")) for name in names),
    )


def keyed_settings(config: CallsSection) -> dict[str, Json]:
    """The settings that decide which recorded reply answers a call."""
    return {
        "profile": config.profile,
        "model": config.model,
        "thinking": config.thinking,
        "sampling": {name: config.sampling[name] for name in sorted(config.sampling)},
        "generation": config.generation,
    }
