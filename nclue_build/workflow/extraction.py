"""The extraction gate of a build: may its sources be used, judged by what their page files hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.errors import Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.core.progress import NullProgress
from nclue_build.rederive.extraction_check import check_extraction
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.executors import open_mapper

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.progress import Progress
    from nclue_build.rederive.outcome_check import SourceRate
    from nclue_build.store.workspace import Build, Workspace


@dataclass(frozen=True, slots=True)
class ExtractionVerdict:
    """What the extraction gate found.

    Args:
        build: The build.
        min_rate: ``extract.min_extraction_rate``.
        rates: A rate per source.
        findings: Sources below the rate, then whatever differs from what is written.
        ok: Whether nothing differs, and no source is below the rate, a lone one apart.
    """

    build: Build
    min_rate: float
    rates: tuple[SourceRate, ...]
    findings: tuple[Finding, ...]
    ok: bool


def judge_extraction(
    workspace: Workspace | Path | None = None, build: str | None = None, *, progress: Progress | None = None
) -> ExtractionVerdict:
    """Count the pages of a build again and compare the rate of every source with the smallest allowed.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        progress: Listener for progress.

    Returns:
        The verdict; nothing is written.

    Raises:
        UsageError: bad workspace or configuration, or nothing was extracted yet.
        DataError: a file of extraction is missing or has bad rows.
    """
    chosen = find_build(workspace, build)
    listener = progress or NullProgress()
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
        if not any(path.exists() for path in (chosen.documents, chosen.quality)):
            raise UsageError("there is nothing to judge: extract has not run yet. Run 'nclue-build run' first")
        needed = config.extract.min_extraction_rate
        with open_mapper(config.run) as mapper:
            listener.note("gate: counting the pages of every document again")
            different = Findings()
            rates = check_extraction(chosen, config, mapper, different)
    below = [
        Finding(
            "source-below-rate",
            f"source {rate.source}: {rate.pages_passed} of {rate.n_pages} pages could be read ({rate.percent} %), "
            f"less than min_extraction_rate = {needed}"
            + ("" if len(rates) > 1 else "; it stays, because it is the only source"),
        )
        for rate in rates
        if not rate.passed
    ]
    findings = (*below, *map(chosen.workspace.relative_finding, different.kept))
    ok = not different.total and (not below or len(rates) == 1)
    return ExtractionVerdict(chosen, needed, tuple(rates), findings, ok)
