"""Pages in and out of a build, a JSON file each, and out as Markdown."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from nclue_build.core.phrases import counted
from nclue_build.corpus.output_files import PAGE_JSON
from nclue_build.corpus.stage import Extract
from nclue_build.store.workspace import Workspace, find_build
from nclue_build.workflow.registry import STAGE_NAMES, load_stage

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import Declaration, Stage, StageContext, StageResult
    from nclue_build.store.workspace import Build


class _ExtractPageJson(Extract):
    """Extracts from a folder of JSON files instead of what the configuration names."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        return super().declare(build, self._changed(config))

    def run(self, context: StageContext) -> StageResult:
        return super().run(replace(context, config=self._changed(context.config)))

    def _changed(self, config: BuildConfig) -> BuildConfig:
        extract = config.extract.model_copy(update={"reader": PAGE_JSON, "page_json": self._folder, "ocr": "none"})
        return config.model_copy(update={"extract": extract})


def stages_reading(workspace: Path | None, page_json: Path) -> tuple[Stage, ...]:
    """The stages of a build whose pages come from a folder of JSON files, whatever its configuration says.

    The configuration has the last word all the same: a later run without this reads what it names.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        page_json: The folder with ``<doc_id>/<page>.json``.

    Raises:
        UsageError: there is no such workspace.
    """
    root = Workspace.find(workspace).root
    extract: Stage = _ExtractPageJson(os.path.relpath(page_json.resolve(), root))
    return (extract, *(load_stage(name) for name in STAGE_NAMES if name != extract.name))


def export_pages(
    workspace: Path | None, build: str | None, *, page_json: Path | None = None, markdown: Path | None = None
) -> dict[str, str]:
    """Write the pages of a build for other programs or for people.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As there.
        page_json: Where to write ``<doc_id>/<page>.json``.
        markdown: Where to write ``<doc_id>.md``.

    Returns:
        What was written, by folder as it was given.

    Raises:
        UsageError: a file of somebody else is in the way, or there is no such build.
        DataError: the pages are not there, or damaged.
    """
    from nclue_build.corpus.export import write_markdown, write_page_json  # noqa: PLC0415 - only where it is asked for

    chosen = find_build(workspace, build)
    written: dict[str, str] = {}
    if page_json is not None:
        written[f"{page_json}/"] = f"{counted(write_page_json(chosen, page_json), 'page')} as JSON"
    if markdown is not None:
        n_documents = write_markdown(chosen, markdown)
        also = f"{before}, and " if (before := written.get(f"{markdown}/")) else ""
        written[f"{markdown}/"] = f"{also}{counted(n_documents, 'document')} as Markdown"
    return written
