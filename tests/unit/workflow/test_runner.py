"""What runs, what is skipped, what is refused."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, NoReturn

import pytest

from nclue_build.core.errors import Finding, OutcomeError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.store.atomic import write_text
from nclue_build.workflow import runner
from nclue_build.workflow.lock import build_lock
from nclue_build.workflow.planning import plan_build
from nclue_build.workflow.receipts import load_receipt, receipt_path
from nclue_build.workflow.runner import run_build
from nclue_build.workflow.samples import sample_queries
from nclue_build.workflow.validation.build import validate_build

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nclue_build.store.stage import Stage
    from nclue_build.store.workspace import Build
    from nclue_build.workflow.runner import RunReport
    from tests.unit.workflow.conftest import CopyStage


def ran(report: RunReport) -> list[str]:
    return [stage.stage for stage in report.stages if stage.ran]


def run(build: Build, stages: Sequence[Stage], **options: object) -> RunReport:
    return run_build(build.workspace, build.name, stages=stages, **options)  # type: ignore[arg-type]


def plan(build: Build, stages: Sequence[Stage]) -> object:
    return plan_build(build.workspace, build.name, stages=stages)


class Listener(NullProgress):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)


ALL = ["extract", "mine", "compose", "gate"]


def test_first_run_runs_everything_second_nothing(build: Build, stages: tuple[Stage, ...]) -> None:
    assert ran(run(build, stages)) == ALL
    again = run(build, stages)
    assert ran(again) == []
    assert [stage.counts for stage in again.stages] == [{"characters": 4}] * 4


def test_an_edited_input_runs_what_depends_on_it(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    write_text(build.workspace.root / "input.txt", "two\n")
    report = run(build, stages)
    assert ran(report) == ALL
    assert report.stages[0].reasons == ("inputs changed: input.txt was edited",)


def test_a_touched_input_runs_nothing(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    write_text(build.workspace.root / "input.txt", "one\n")
    assert ran(run(build, stages)) == []


def test_unchanged_outputs_stop_the_chain(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    stages[0].version = 2
    report = run(build, stages)
    assert ran(report) == ["extract"]
    assert report.stages[0].reasons == ("its rules changed (version 1, now 2)",)


def test_changed_settings_are_named(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    text = build.config_path.read_text(encoding="utf-8")
    write_text(build.config_path, text + "[compose]\nseed = 12\nshare_n3 = 0.5\n")
    report = run(build, stages)
    assert report.stages[0].reasons == ("settings changed: seed: 11 -> 12, share: 0.186 -> 0.5",)


@pytest.mark.parametrize("name", ["mine.txt", "mine_parts/part.txt"])
@pytest.mark.parametrize("edit", ["altered", None])
def test_an_altered_or_missing_output_is_made_again(
    build: Build, stages: tuple[Stage, ...], name: str, edit: str | None
) -> None:
    run(build, stages)
    path = build.workspace.root / name
    if edit is None:
        path.unlink()
    else:
        path.write_text(edit, encoding="utf-8")
    report = run(build, stages)
    assert ran(report) == ["mine"]
    assert report.stages[1].reasons == (f"outputs altered: {name} {'is missing' if edit is None else 'was edited'}",)
    assert path.read_text(encoding="utf-8") == "one\n"


def test_foreign_files_in_an_output_folder_are_nobodys_business(build: Build, stages: tuple[Stage, ...]) -> None:
    parts = build.workspace.root / "mine_parts"
    write_text(parts / "before.txt", "mine")
    run(build, stages)
    write_text(parts / "after.txt", "mine too")
    (parts / "before.txt").unlink()
    assert ran(run(build, stages)) == []
    receipt = load_receipt(build, "mine")
    assert receipt is not None
    assert sorted(receipt.outputs) == ["mine.txt", "mine_parts/part.txt"]


def test_foreign_files_beside_an_input_are_nobodys_business_either(build: Build, stages: tuple[Stage, ...]) -> None:
    stages[1].source = "extract_parts"  # type: ignore[attr-defined]
    run(build, stages)
    write_text(build.workspace.root / "extract_parts" / "notes.txt", "foreign")
    assert ran(run(build, stages)) == []
    write_text(build.workspace.root / "extract_parts" / "part.txt", "edited")
    assert ran(run(build, stages)) == ["extract"]


def test_a_lost_or_broken_receipt_runs_its_stage(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    receipt_path(build, "mine").write_text("{", encoding="utf-8")
    receipt_path(build, "gate").unlink()
    report = run(build, stages)
    assert ran(report) == ["mine", "gate"]
    assert report.stages[1].reasons == ("its receipt cannot be read",)
    assert report.stages[3].reasons == ("its last run did not end, or .nclue was removed",)


def test_fresh_runs_everything_asked_for(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    assert ran(run(build, stages, fresh=True)) == ALL
    assert ran(run(build, stages, fresh=True, first="compose", last="compose")) == ["compose"]


def test_a_cut_runs_its_part_only(build: Build, stages: tuple[Stage, ...]) -> None:
    assert ran(run(build, stages, last="mine")) == ["extract", "mine"]
    assert ran(run(build, stages, first="compose")) == ["compose", "gate"]


def test_an_earlier_stale_stage_is_named(build: Build, stages: tuple[Stage, ...]) -> None:
    with pytest.raises(
        UsageError, match=r"compose needs extract, which is stale \(not run yet\): run 'nclue-build run"
    ):
        run(build, stages, first="compose")
    run(build, stages)
    write_text(build.workspace.root / "extract.txt", "changed")
    with pytest.raises(UsageError, match=r"compose needs extract, which is stale \(outputs altered: extract\.txt"):
        run(build, stages, first="compose")


def test_the_gate_judges_an_edited_build_as_it_lies_there(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    write_text(build.workspace.root / "compose.txt", "edited by hand")
    write_text(build.workspace.root / "extract.txt", "changed")
    heard = Listener()
    assert ran(run(build, stages, first="gate", fresh=True, progress=heard)) == ["gate"]
    assert (build.workspace.root / "gate.txt").read_text(encoding="utf-8") == "edited by hand"
    assert heard.warnings[0].startswith(
        "extract is stale (outputs altered: extract.txt was edited): judging what is there"
    )
    assert [plan.state for plan in plan_build(build.workspace, first="gate", stages=stages)] == ["current"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": "mend"}, "no stage 'mend': there are extract, mine, compose, gate"),
        ({"last": "mend"}, "no stage 'mend'"),
        ({"first": "gate", "last": "mine"}, "'gate' comes after 'mine'"),
    ],
)
def test_bad_cuts(build: Build, stages: tuple[Stage, ...], options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(build, stages, **options)


def test_a_failed_stage_leaves_no_receipt_and_is_resumed(build: Build, stages: tuple[Stage, ...]) -> None:
    stages[1].fails = True  # type: ignore[attr-defined]
    with pytest.raises(OutcomeError, match="nothing to deliver"):
        run(build, stages)
    assert load_receipt(build, "mine") is None
    stages[1].fails = False  # type: ignore[attr-defined]
    assert ran(run(build, stages)) == ["mine", "compose", "gate"]


def test_files_that_a_stage_wrote_again_were_not_edited(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    write_text(build.workspace.root / "input.txt", "two\n")
    reasons = [stage.reasons for stage in run(build, stages).stages]
    assert reasons[0] == ("inputs changed: input.txt was edited",)
    assert reasons[1] == ("inputs changed: extract.txt was recomputed by extract",)
    write_text(build.workspace.root / "compose.txt", "edited")
    assert plan_build(build.workspace, first="gate", stages=stages)[0].reasons == (
        "inputs changed: compose.txt was edited",
    )


def test_an_interrupted_fresh_run_is_finished_by_a_plain_one(build: Build, stages: tuple[CopyStage, ...]) -> None:
    run(build, stages)

    stages[1].interrupted = True
    with pytest.raises(KeyboardInterrupt):
        run(build, stages, fresh=True)
    stages[1].interrupted = False
    assert ran(run(build, stages)) == ["mine", "compose", "gate"]


def test_what_a_failed_stage_leaves_is_named(build: Build, stages: tuple[CopyStage, ...]) -> None:
    run(build, stages)
    write_text(build.workspace.root / "input.txt", "two\n")
    stages[2].fails = True
    heard = Listener()
    with pytest.raises(OutcomeError):
        run(build, stages, progress=heard)
    (warning,) = heard.warnings
    assert warning.startswith(
        "compose failed: what an earlier run made stays (compose.txt), and"
    )  # the other it wrote anew
    heard = Listener()
    with pytest.raises(OutcomeError):  # again, without a receipt that would name its files
        run(build, stages, progress=heard)
    assert heard.warnings[0].startswith("compose failed: what an earlier run made stays (compose.txt), and")
    write_text(build.workspace.root / "input.txt", "one\n")
    stages[2].fails = False
    assert "its last run did not end" in run(build, stages).stages[2].reasons[0]


def test_shortfalls_are_said_once(build: Build, stages: tuple[CopyStage, ...]) -> None:
    stages[0].shortfalls = ("1 document could not be read",)
    heard = Listener()
    assert run(build, stages, progress=heard).stages[0].shortfalls == ("1 document could not be read",)
    assert heard.warnings == []


def test_the_gate_needs_something_to_judge(build: Build, stages: tuple[Stage, ...]) -> None:
    for ask in (run, lambda _, parts, **options: plan_build(build.workspace, stages=parts, **options)):
        with pytest.raises(UsageError, match=r"nothing to judge: compose has not run yet. Run 'nclue-build run' first"):
            ask(build, stages, first="gate", fresh=True)


def test_what_is_up_to_date_needs_no_lock(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    with build_lock(build):
        assert ran(run(build, stages)) == []
        with pytest.raises(UsageError, match="already being run"):
            run(build, stages, fresh=True)


def test_a_build_that_cannot_be_written_is_shown_and_judged(
    build: Build, stages: tuple[CopyStage, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(build, stages)

    def refuse(_: Build) -> NoReturn:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(runner, "build_lock", refuse)
    before = receipt_path(build, "gate").read_bytes()
    assert ran(run(build, stages)) == []
    assert ran(run(build, stages, first="gate", fresh=True)) == ["gate"]
    assert stages[3].writable == [True, False]
    assert receipt_path(build, "gate").read_bytes() == before
    write_text(build.workspace.root / "input.txt", "two\n")
    with pytest.raises(UsageError, match=r"cannot be written, and extract has to run \(inputs changed: input.txt"):
        run(build, stages)


def test_only_the_gate_decides_and_its_verdict_is_remembered(build: Build, stages: tuple[Stage, ...]) -> None:
    stages[0].findings = (Finding("document-failed", "cannot be read", id="d1"),)  # type: ignore[attr-defined]
    stages[0].shortfalls = ("1 document could not be read",)  # type: ignore[attr-defined]
    report = run(build, stages)
    assert report.ok
    assert [finding.code for finding in report.findings] == ["document-failed"]
    stages[3].findings = (Finding("wrong-grade", "2, should be 1", "qrels.jsonl", 3, "q1"),)  # type: ignore[attr-defined]
    assert not run(build, stages, fresh=True).ok
    again = run(build, stages)
    assert ran(again) == []
    assert not again.ok
    assert again.stages[0].shortfalls == ("1 document could not be read",)
    assert again.findings[-1] == Finding("wrong-grade", "2, should be 1", "qrels.jsonl", 3, "q1")


def test_a_plan_says_what_and_why_and_does_nothing(build: Build, stages: tuple[Stage, ...]) -> None:
    plan = plan_build(build.workspace, build.name, stages=stages)
    assert [(row.stage, row.state) for row in plan] == [("extract", "stale"), *((name, "waiting") for name in ALL[1:])]
    assert not build.workspace.state.exists()
    run(build, stages)
    (build.workspace.root / "compose.txt").unlink()
    plan = plan_build(build.workspace, build.name, stages=stages)
    assert [row.state for row in plan] == ["current", "current", "stale", "waiting"]
    assert plan[2].reasons == ("outputs altered: compose.txt is missing",)
    fresh = plan_build(build.workspace, build.name, stages=stages, fresh=True)
    assert {row.state for row in fresh} == {"stale"}


def test_p0_is_replaced_until_it_has_a_child(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    build.version(1).mkdir(parents=True)
    assert ran(run(build, stages)) == []
    write_text(build.workspace.root / "input.txt", "two\n")
    for ask in (run, lambda _build, parts: plan_build(build.workspace, build.name, stages=parts)):
        with pytest.raises(UsageError, match=r"P0 of build 'main' is stale \(extract: .*P1 was made from it. Undo"):
            ask(build, stages)
    assert (build.workspace.root / "extract.txt").read_text(encoding="utf-8") == "one\n"
    write_text(build.workspace.root / "input.txt", "one\n")
    (build.workspace.root / "compose.txt").unlink()
    assert ran(run(build, stages)) == ["compose"]


def test_receipts_hold_no_absolute_path_and_no_time(build: Build, stages: tuple[Stage, ...]) -> None:
    run(build, stages)
    receipt = json.loads(receipt_path(build, "extract").read_text(encoding="utf-8"))
    assert str(build.workspace.root) not in json.dumps(receipt)
    assert set(receipt) == {
        "schema_version", "stage", "stage_version", "package_version", "inputs", "settings", "settings_sha256",
        "outputs", "counts", "findings", "shortfalls",
    }  # fmt: skip


def test_a_workspace_folder_will_do(build: Build, stages: tuple[Stage, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert ran(run_build(build.workspace.root, stages=stages)) == ALL
    below: Path = build.workspace.root / "extract_parts"
    monkeypatch.chdir(below)
    assert ran(run_build(stages=stages)) == []


def test_errors_name_paths_as_seen_from_the_workspace(build: Build, stages: tuple[Stage, ...]) -> None:
    write_text(build.config_path, 'schema = 1\n[corpus]\npdfs = "."\n[run]\nworker = 1\n')
    for act in (run, plan):
        with pytest.raises(UsageError, match=r"^configs/main.toml:5: run.worker: unknown key") as caught:
            act(build, stages)
        assert [finding.path for finding in caught.value.findings] == ["configs/main.toml"]
    with pytest.raises(UsageError, match=r"^configs/main.toml:5: "):
        validate_build(build.workspace)
    with pytest.raises(UsageError, match=r"no queries to show. Run 'nclue-build run' first"):
        sample_queries(build, 1)
