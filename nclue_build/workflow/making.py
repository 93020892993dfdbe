"""Outputs of MinerU for a build: made under its lock before pages are read, where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.store.stage import StageContext
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.lock import build_lock

if TYPE_CHECKING:
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.workspace import Build


def missing_outputs(build: Build, config: BuildConfig, progress: Progress) -> list[str]:
    """Ids of the documents that MinerU would have to read before pages are; none where it is not to be run.

    Raises:
        UsageError: there is no corpus.
        DataError: bad rows or missing files.
    """
    if not config.mineru.run:
        return []
    from nclue_build.corpus.making.run import wanted_outputs  # noqa: PLC0415 - only where it is asked for

    with LocalMapper(config.run.workers) as mapper:
        return [one.doc_id for one in wanted_outputs(StageContext(build, config, mapper, progress))]


def make_missing_outputs(build: Build, config: BuildConfig, progress: Progress) -> None:
    """Have MinerU read the documents it has not read yet.

    Raises:
        UsageError: MinerU is not installed, or another run is going on.
        DataError: bad rows or missing files.
    """
    if not missing_outputs(build, config, progress):
        return
    from nclue_build.corpus.making.run import make_outputs  # noqa: PLC0415 - only where it is asked for

    with build_lock(build), LocalMapper(config.run.workers) as mapper:
        make_outputs(StageContext(build, config, mapper, progress))


def running_mineru(config: BuildConfig) -> BuildConfig:
    """A configuration that has MinerU run, whatever it says itself.

    Raises:
        UsageError: pages are not read from what MinerU wrote.
    """
    if config.extract.reader != "mineru":
        raise UsageError(
            f'--run-mineru needs extract.reader = "mineru" in the configuration, not "{config.extract.reader}"'
        )
    return config.model_copy(update={"mineru": config.mineru.model_copy(update={"run": True})})
