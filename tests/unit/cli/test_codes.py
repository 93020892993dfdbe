"""The codes of errors that concern the command itself, and those of receipts that somebody edited."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Run

Receipt = dict[str, Any]


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("usage-error", 2, ("run", "--from", "gate", "--to", "mine")),
        ("usage-error", 2, ("walk",)),
        ("usage-error", 2, ("schema", "nothing")),
    ],
)
def test_a_command_that_cannot_be(fresh: Path, run: Run, code: str, exit_code: int, words: tuple[str, ...]) -> None:
    seen = run("-w", fresh, *words, "--json")
    assert seen.code == exit_code
    assert [finding["code"] for finding in seen.envelope["findings"]] == [code]


@pytest.mark.parametrize(("line", "code"), [("workres = 1", "unknown-key"), ("workers = -1", "bad-value")])
def test_a_configuration_that_cannot_be(fresh: Path, run: Run, line: str, code: str) -> None:
    path = fresh / "configs" / "main.toml"
    path.write_text(f'schema = 1\n[corpus]\npdfs = "../reports"\n[run]\n{line}\n', encoding="utf-8")
    seen = run("-w", fresh, "validate", "--json")
    assert seen.code == 2
    assert [(finding["code"], finding["line"]) for finding in seen.envelope["findings"]] == [(code, 5)]


def test_a_workspace_that_is_not_fit(fresh: Path, run: Run) -> None:
    (fresh / "configs" / "main.toml").write_text("schema = 3\n", encoding="utf-8")
    seen = run("-w", fresh, "doctor", "--json")
    assert (seen.code, [finding["code"] for finding in seen.envelope["findings"]]) == (1, ["not-fit"])


def edit_receipt(built: Path, change: Callable[[Receipt], object]) -> None:
    path = built / ".nclue" / "receipts" / "main" / "compose.json"
    receipt = json.loads(path.read_bytes())
    change(receipt)
    path.write_text(json.dumps(receipt), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda receipt: receipt.update(stage="mine"), {"bad-receipt"}),
        (lambda receipt: receipt["settings"].update(seed="12"), {"bad-receipt"}),
        (lambda receipt: receipt.update(settings_sha256="0" * 64), {"bad-receipt", "stale-stage"}),
        (lambda receipt: receipt["outputs"].pop("benchmarks/main/qrels.jsonl"), {"bad-receipt"}),
        (lambda receipt: receipt["outputs"].update({"benchmarks/main/qrels.jsonl": "0" * 64}), {"output-altered"}),
        (lambda receipt: receipt["outputs"].update({"benchmarks/main/more.jsonl": "0" * 64}), {"output-missing"}),
        (lambda receipt: receipt["inputs"].popitem(), {"stale-stage"}),
        (lambda receipt: receipt.update(stage_version=0), {"stale-stage"}),
        (lambda receipt: receipt.update(more=1), {"bad-receipt"}),
    ],
)
def test_a_receipt_that_somebody_edited(
    built: Path, run: Run, change: Callable[[Receipt], object], codes: set[str]
) -> None:
    edit_receipt(built, change)
    seen = run("-w", built, "validate", "--json")
    assert seen.code == 1
    assert {finding["code"] for finding in seen.envelope["findings"]} == codes
