"""The ``gate`` stage: re-derive a whole build through the slow path and compare it with what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.store import layout
from nclue_build.store.stage import Declaration

if TYPE_CHECKING:
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


_LATER_FILES = (*layout.VERSION_FILES, layout.DECISIONS, layout.PAIR_DECISIONS, layout.PAIR_OVERRIDES)


class Gate:
    """Recompute P0, every judgment and every file of a benchmark, and list what differs."""

    name = "gate"
    version = 5

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Everything the inventory and the benchmark consist of."""
        benchmark = build.benchmark
        return Declaration(
            inputs=(
                build.documents,
                build.quality,
                build.inventory / layout.DUPLICATES,
                build.pages,
                *(build.version(0) / name for name in layout.VERSION_FILES),
                *(benchmark / name for name in (layout.QUERIES, layout.QRELS, layout.META, *layout.TREC_FILES)),
                benchmark / layout.BEIR,
                build.inventory / layout.CALLS,
                build.composed / layout.CALLS,
                *(build.version(number) / name for number in build.versions() if number for name in _LATER_FILES),
                *((build.composed / layout.QUERIES,) if build.composed != benchmark else ()),
            ),
            settings={
                "allowed_roles": list(config.extract.allowed_roles),
                "min_extraction_rate": str(config.extract.min_extraction_rate),
                "duplicates": config.extract.duplicates,
                "judge": config.judge.kind,
            },
            outputs=(benchmark / layout.GATE_REPORT,),
        )

    def run(self, context: StageContext) -> StageResult:
        """Re-derive, compare, and write ``gate.json``.

        Returns:
            The findings kept in full and what was counted.

        Raises:
            DataError: an input that everything else is compared with is missing or has bad rows.
        """
        from nclue_build.rederive.run import run  # noqa: PLC0415 - declaring is cheap, running is not

        return run(context)
