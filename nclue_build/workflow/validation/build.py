"""Validating a whole build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from nclue_build.core.errors import NclueError
from nclue_build.core.progress import NullProgress
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import find_build
from nclue_build.workflow.executors import open_mapper
from nclue_build.workflow.lock import running_process
from nclue_build.workflow.outdated import outdated_benchmark
from nclue_build.workflow.plan import altered_outputs, changed_since
from nclue_build.workflow.receipts import Digests, load_receipt, plain_settings, receipt_path
from nclue_build.workflow.registry import STAGE_NAMES, load_stage
from nclue_build.workflow.validation.benchmark import check_benchmark
from nclue_build.workflow.validation.calls import check_calls
from nclue_build.workflow.validation.corpus import KnownDocuments, check_corpus, check_extracted
from nclue_build.workflow.validation.inventory import KnownInventory, check_version
from nclue_build.workflow.validation.mined import check_mined
from nclue_build.workflow.validation.reading import Reading
from nclue_build.workflow.validation.strangers import check_strangers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nclue_build.core.canonical import Json
    from nclue_build.core.errors import Finding
    from nclue_build.core.progress import Progress
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.receipt import Receipt
    from nclue_build.store.stage import Declaration
    from nclue_build.store.workspace import Build, Workspace


_AGAIN: Final = "remove it, and the next run makes the stage again"


@dataclass(frozen=True, slots=True)
class Validation:
    """What validation found.

    Args:
        build: The build.
        findings: The first findings, in the order of the build's files.
        n_findings: All of them.
        counts: Files and rows read.
        not_run: Stages without receipt: whatever files they have were checked all the same.
    """

    build: Build
    findings: tuple[Finding, ...]
    n_findings: int
    counts: Mapping[str, int]
    not_run: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.n_findings


def validate_build(
    workspace: Workspace | Path | None = None, build: str | None = None, *, progress: Progress | None = None
) -> Validation:
    """Check inputs, schema, ids, digests and receipts of a build without recomputing it.

    Where ``gate`` asks whether the files say the truth, this asks whether they can be
    trusted to be read: it is quick, needs no rerun, and also covers what came before the inventory.

    Args:
        workspace: As for :func:`nclue_build.run_build`.
        build: As for :func:`nclue_build.run_build`.
        progress: Listener for progress.

    Returns:
        The findings; an empty build has none.

    Raises:
        UsageError: no such workspace or build, or a configuration that cannot be read.
    """
    chosen = find_build(workspace, build)
    with chosen.workspace.relative_paths():
        config = load_config(chosen.config_path)
    listener = progress or NullProgress()
    reading = Reading(chosen)
    if (process := running_process(chosen)) is not None:
        listener.warn(f"process {process} is running this build right now: what is found may be half done")
    if (outdated := outdated_benchmark(chosen, Digests())) is not None:
        reading.extend([outdated])
    documents, inventory = KnownDocuments(), KnownInventory()
    with open_mapper(config.run) as mapper:
        listener.start("validate: corpus", None, "files")
        check_corpus(reading, config, mapper)
        # documents.jsonl alone may come from fetching.
        if chosen.quality.exists() or chosen.pages.exists() or _has_run(chosen, "extract"):
            listener.start("validate: pages", None, "documents")
            documents = check_extracted(reading, mapper)
    listener.start("validate: inventory and benchmark", None, "files")
    if chosen.version(0).exists() or _has_run(chosen, "mine"):
        for number in chosen.versions() or [0]:
            inventory = check_version(reading, number, documents)
            if number == 0:
                check_mined(reading, inventory.conditions, config.judge.kind)
    if chosen.benchmark.exists() or _has_run(chosen, "compose"):
        check_benchmark(reading, documents, inventory, config)
    check_strangers(reading)
    check_calls(reading, config)
    not_run = _check_receipts(reading, config)
    return Validation(chosen, tuple(reading.found.kept), reading.found.total, dict(reading.counts), not_run)


def _has_run(build: Build, stage: str) -> bool:
    return load_receipt(build, stage) is not None


def _check_receipts(reading: Reading, config: BuildConfig) -> tuple[str, ...]:
    """Compare every receipt with what is there; returns the stages that have none."""
    build, digests = reading.build, Digests()
    missing = {finding.path for finding in reading.found.kept if finding.code == "file-missing"}
    not_run: list[str] = []
    for name in STAGE_NAMES:
        receipt = load_receipt(build, name)
        if receipt is None:
            not_run.append(name)
            if receipt_path(build, name).exists():
                reading.add("bad-receipt", f"cannot be read: {_AGAIN}", receipt_path(build, name), id=name)
            continue
        for path, what in altered_outputs(build, receipt, digests):
            if path not in missing:
                code = "output-missing" if what == "is missing" else "output-altered"
                reading.found.add(code, f"{what} since {name} wrote it", path=path)
        stage = load_stage(name)
        try:
            declared = stage.declare(build, config)
            reasons = changed_since(build, stage, declared, receipt, digests)
        except NclueError:
            continue  # the inputs themselves are at fault, which the check of the corpus has said
        for problem in _receipt_problems(build, receipt, name, declared):
            reading.add("bad-receipt", f"{problem}: {_AGAIN}", receipt_path(build, name), id=name)
        if reasons:
            reading.add("stale-stage", f"{name}: {'; '.join(reasons)}", id=name)
    return tuple(not_run)


def _receipt_problems(build: Build, receipt: Receipt, stage: str, declared: Declaration) -> Iterator[str]:
    """Where a receipt contradicts itself, or leaves out a file that its stage writes."""
    if receipt.stage != stage:
        yield f"is of the stage {receipt.stage!r}"
    if plain_settings(cast("dict[str, Json]", receipt.settings))[1] != receipt.settings_sha256:
        yield "settings_sha256 is not the digest of its settings"
    for path in declared.outputs:
        name = build.relative(path)
        if path.is_file() and name not in receipt.outputs:
            yield f"does not list {name}, which {stage} writes"
