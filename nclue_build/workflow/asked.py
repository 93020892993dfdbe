"""What a stage depended on when it listed the calls it waits for: whether it would still ask the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import nclue_build
from nclue_build.core.errors import DataError
from nclue_build.records.receipt import Receipt
from nclue_build.store.jsonl import read_json, write_json
from nclue_build.workflow.plan import changed_since
from nclue_build.workflow.receipts import digest_inputs, plain_settings

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.store.stage import Declaration, Stage
    from nclue_build.store.workspace import Build
    from nclue_build.workflow.receipts import Digests


def save_asked(build: Build, stage: Stage, declared: Declaration, digests: Digests) -> None:
    """Keep what a stage depends on that has just listed the calls it waits for."""
    settings, settings_sha256 = plain_settings(declared.settings)
    receipt = Receipt(
        stage=stage.name,
        stage_version=stage.version,
        package_version=nclue_build.__version__,
        inputs=digest_inputs(build, _without_replies(build, declared).inputs, digests),
        settings=settings,
        settings_sha256=settings_sha256,
        outputs={},
        counts={},
        findings=(),
        shortfalls=(),
    )
    write_json(_path(build, stage), receipt)


def changed_since_asked(build: Build, stage: Stage, declared: Declaration, digests: Digests) -> tuple[str, ...]:
    """Why a stage would no longer ask what it listed, in words; empty where it would.

    Replies that were recorded since are no reason: they answer what was asked.
    """
    try:
        receipt = read_json(_path(build, stage), Receipt)
    except DataError:
        return ("nobody knows what they were listed from",)
    return changed_since(build, stage, _without_replies(build, declared), receipt, digests)


def _path(build: Build, stage: Stage) -> Path:
    return build.calls_state / f"asked-{stage.name}.json"


def _without_replies(build: Build, declared: Declaration) -> Declaration:
    inputs = tuple(path for path in declared.inputs if not path.is_relative_to(build.frozen_outputs))
    return replace(declared, inputs=inputs)
