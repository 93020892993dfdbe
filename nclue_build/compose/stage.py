"""The composing stage: P0 -> the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.calls.places import keyed_settings, recorded_inputs
from nclue_build.inventory.documents import count_benchmark_documents
from nclue_build.store.layout import (
    AGREEMENT,
    BEIR,
    CALLS,
    COMPOSITION,
    FORMS_QA,
    META,
    QRELS,
    QUERIES,
    REJECTED,
    TREC_FILES,
    VERSION_FILES,
)
from nclue_build.store.prompts import ITEM_PROMPT, PARAPHRASE_PROMPT
from nclue_build.store.stage import Declaration

if TYPE_CHECKING:
    from nclue_build.core.canonical import Json
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


_OUTPUTS = (QUERIES, QRELS, META, *TREC_FILES, FORMS_QA, COMPOSITION, REJECTED, BEIR)


class Compose:
    """Makes queries out of P0, and every nonzero judgment of them."""

    name = "compose"
    version = 11

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Depends on P0, the documents and their pages (for quotes and texts)."""
        settings: dict[str, Json] = {
            "judge": config.judge.kind,
        }
        settings |= config.in_force("compose", count_benchmark_documents(build.quality))
        inputs = (
            build.documents,
            build.quality,
            build.pages,
            *(build.version(0) / name for name in VERSION_FILES),
        )
        # A repair has kept what was composed beside its own; the texts are only with the newest.
        composed = build.composed
        outputs = tuple(composed / name for name in _OUTPUTS if name != BEIR or composed == build.benchmark)
        prompts: tuple[str, ...] = (ITEM_PROMPT,) if config.judge.kind == "model" else ()
        prompts += (PARAPHRASE_PROMPT,) if config.compose.paraphrases != "none" else ()
        if prompts:
            inputs += recorded_inputs(build, config.calls, prompts)
            settings["calls"] = keyed_settings(config.calls)
            outputs += (composed / CALLS, composed / AGREEMENT)
        return Declaration(inputs, settings, outputs)

    def run(self, context: StageContext) -> StageResult:
        """Compose and write the benchmark.

        Raises:
            OutcomeError: no query is possible; says which constraint binds.
            DataError: an input is missing or not what it should be.
        """
        from nclue_build.compose.run import run  # noqa: PLC0415 - declaring is cheap, running is not

        return run(context)
