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
REPAIRED_STAGES: Final = (*P0_STAGES, "compose")
"""Stages whose results a repair rests on."""


def load_stage(name: str) -> Stage:
    """Import the class of a stage and make one."""
    module, class_name = _CLASSES[name]
    make: Callable[[], Stage] = getattr(import_module(module), class_name)
    return make()
