"""The stages of a build, in order; each is imported only when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.store.stage import Stage

_CLASSES: Final = {
    "extract": ("nclue_build.corpus.stage", "Extract"),
    "mine": ("nclue_build.mine.stage", "Mine"),
    "compose": ("nclue_build.compose.stage", "Compose"),
    "gate": ("nclue_build.rederive.stage", "Gate"),
}
STAGE_NAMES: Final = tuple(_CLASSES)
"""Names of the stages in the order they run."""
P0_STAGES: Final = ("extract", "mine")
"""Stages whose rerun would replace inventory version P0."""


def load_stages() -> tuple[Stage, ...]:
    """Import the stage classes and make one of each, in the order they run."""
    stages: list[Stage] = []
    for module, name in _CLASSES.values():
        make: Callable[[], Stage] = getattr(import_module(module), name)
        stages.append(make())
    return tuple(stages)
