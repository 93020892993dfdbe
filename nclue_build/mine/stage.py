"""The mining stage: pages -> P0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.calls.places import keyed_settings, recorded_inputs
from nclue_build.core.text import TEXT_VERSION
from nclue_build.inventory.documents import count_benchmark_documents
from nclue_build.store.layout import AGREEMENT, CALLS, CLUSTERS, REJECTED, SURFACE_FORMS
from nclue_build.store.prompts import CLUSTER_PROMPT, PAGE_FACTS_PROMPT, PARTITION_PROMPT
from nclue_build.store.stage import Declaration

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.canonical import Json
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


class Mine:
    """Finds conditions and every page that establishes them."""

    name = "mine"
    version = 10

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Depends on the pages and the quality table; writes what it saw, and P0."""
        settings: dict[str, Json] = {
            "allowed_roles": tuple(config.extract.allowed_roles),
            "judge": config.judge.kind,
            "text_version": TEXT_VERSION,
        }
        settings |= config.in_force("mine", count_benchmark_documents(build.quality))
        names: tuple[str, ...] = (SURFACE_FORMS, CLUSTERS, REJECTED)
        calls: tuple[Path, ...] = ()
        prompts: tuple[str, ...] = (CLUSTER_PROMPT, PARTITION_PROMPT) if config.judge.kind == "model" else ()
        prompts += (PAGE_FACTS_PROMPT,) if config.mine.miner == "llm" else ()
        if prompts:
            names += (CALLS, AGREEMENT)
            calls = recorded_inputs(build, config.calls, prompts)
            settings["calls"] = keyed_settings(config.calls)
        outputs = (*(build.inventory / name for name in names), build.version(0))
        return Declaration((build.documents, build.quality, build.pages, *calls), settings, outputs)

    def run(self, context: StageContext) -> StageResult:
        """Mine the corpus.

        Raises:
            OutcomeError: no document has readable text, or no condition is left.
        """
        from nclue_build.mine.run import run  # noqa: PLC0415 - declaring is cheap, running is not

        return run(context)
