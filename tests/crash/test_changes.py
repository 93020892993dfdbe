"""What a change makes stale is done again, nothing else, and comes out as from nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import nclue_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import TreeDigests, WritePdf

ALL = ["extract", "mine", "compose", "gate"]


def setting(old: str, new: str) -> Callable[[Path], None]:
    def change(workspace: Path) -> None:
        config = workspace / "configs" / "main.toml"
        text = config.read_text(encoding="utf-8")
        assert text.count(f"\n{old} ") == 1
        config.write_text(text.replace(f"\n{old} ", f"\n{new} "), encoding="utf-8")

    return change


def sentence_in(prompt: str) -> Callable[[Path], None]:
    def change(workspace: Path) -> None:
        path = workspace / "prompts" / prompt
        text = path.read_text(encoding="utf-8")
        assert text.count("\n=== user\n") == 1
        path.write_text(text.replace("\n=== user\n", "\nThink twice.\n=== user\n"), encoding="utf-8")

    return change


def touch_everything(workspace: Path) -> None:
    for path in workspace.parent.rglob("*"):
        os.utime(path, (1, 1))


def rewrite_a_pdf(workspace: Path) -> None:
    path = workspace.parent / "reports" / "report 4.pdf"
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def take_a_pdf_away(workspace: Path) -> None:
    (workspace.parent / "reports" / "report 9.pdf").unlink()


def ran(workspace: Path) -> list[str]:
    return [stage.stage for stage in nclue_build.run_build(workspace).stages if stage.ran]


def from_nothing(workspace: Path, tree_digests: TreeDigests) -> dict[str, str]:
    for name in ("inventory", "benchmarks", ".nclue"):
        shutil.rmtree(workspace / name)
    assert ran(workspace) == ALL
    return tree_digests(workspace)


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (touch_everything, []),
        (rewrite_a_pdf, []),
        (setting(f"workers = 1{28 * ' '}# worker processes", "workers = 2 # worker processes"), []),
        (setting("page_timeout_s = 20", "page_timeout_s = 21"), ["extract"]),
        (setting("max_conditions = 4000", "max_conditions = 7"), ["mine", "compose", "gate"]),
        (setting("seed = 11", "seed = 12"), ["compose", "gate"]),
        (setting("max_per_condition = 5", "max_per_condition = 3"), ["compose", "gate"]),
        (sentence_in("mine/cluster.md"), []),
        (take_a_pdf_away, ALL),
    ],
    ids=[
        "touched",
        "rewritten",
        "workers",
        "page-timeout",
        "fewer-conditions",
        "seed",
        "condition-cap",
        "prompt-nobody-asks",
        "one-pdf-less",
    ],
)
def test_a_change_redoes_what_is_stale(
    built: Path, tree_digests: TreeDigests, change: Callable[[Path], None], stale: list[str]
) -> None:
    before = tree_digests(built)
    change(built)
    assert ran(built) == stale
    assert ran(built) == []
    after = tree_digests(built)
    if stale in ([], ["extract"]):
        assert after == before
    assert after == from_nothing(built, tree_digests)


def test_a_changed_pdf_redoes_everything_and_reads_nothing_else(
    built: Path, tree_digests: TreeDigests, write_pdf: WritePdf, report_pages: list[list[list[str]]]
) -> None:
    before = tree_digests(built)
    caches = set((built / ".nclue" / "pages").rglob("*.jsonl"))
    lines = [page.copy() for page in report_pages[5]]
    lines[0].append("A line about Tidal Energy was added to this report.")
    write_pdf(built.parent / "reports" / "report 5.pdf", lines)
    assert ran(built) == ALL
    after = tree_digests(built)
    assert after != before
    assert len(set((built / ".nclue" / "pages").rglob("*.jsonl")) - caches) == 1
    assert after == from_nothing(built, tree_digests)


def test_rows_in_another_order_change_nothing(built: Path, tmp_path: Path, tree_digests: TreeDigests) -> None:
    rows = [
        json.dumps({"doc_id": f"d{number}", "source": f"s{number % 2}", "file_name": f"reports/report {number}.pdf"})
        for number in range(10)
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    made = nclue_build.init_workspace(tmp_path / "listed", corpus=tmp_path / "corpus.jsonl")
    workspace = made.build.workspace.root
    assert workspace != built
    assert ran(workspace) == ALL
    expected = tree_digests(workspace)
    random.Random(5).shuffle(rows)  # noqa: S311 - the same order every time
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert ran(workspace) == ["extract"]
    assert tree_digests(workspace) == expected
    assert from_nothing(workspace, tree_digests) == expected


def test_a_changed_prompt_redoes_what_asks_it(built: Path, tree_digests: TreeDigests) -> None:
    setting('paraphrases = "none"', 'paraphrases = "recorded"')(built)
    assert ran(built) == ["compose", "gate"]
    before = tree_digests(built)
    # Nobody has answered, so all files stay as they were, and nothing is stale after that.
    for prompt, stale in (("compose/item.md", []), ("compose/paraphrase.md", ["compose"])):
        sentence_in(prompt)(built)
        assert ran(built) == stale
        assert ran(built) == []
    assert tree_digests(built) == before
    assert from_nothing(built, tree_digests) == before


@pytest.mark.slow
def test_a_changed_prompt_of_a_judge_asks_again_what_it_asked(
    built: Path, tree_digests: TreeDigests, repository: Path, load_script: Callable[[Path], Any]
) -> None:
    answerer = load_script(repository / "tests" / "answerer.py")
    setting('kind = "rules"', 'kind = "model"')(built)
    assert answer_all(built, answerer)[0] == "cluster"
    assert ran(built) == ["gate"]  # exporting has run what comes before
    before = tree_digests(built)
    for prompt, asked, stale in (
        ("mine/page-facts.md", [], []),
        ("compose/item.md", ["item"], ["compose", "gate"]),
        ("mine/cluster.md", ["cluster"], ["mine", "compose", "gate"]),
    ):
        sentence_in(prompt)(built)
        receipts = receipt_bytes(built)
        assert answer_all(built, answerer) == asked
        nclue_build.run_build(built)
        changed = [stage for stage in ALL if receipts[stage] != receipt_bytes(built)[stage]]
        assert changed == stale
        assert ran(built) == []
    after = tree_digests(built)
    # The answers are the same, so all that differs is which call they come from.
    assert after.keys() == before.keys()
    assert after == from_nothing(built, tree_digests)


def receipt_bytes(workspace: Path) -> dict[str, bytes]:
    return {stage: (workspace / ".nclue" / "receipts" / "main" / f"{stage}.json").read_bytes() for stage in ALL}


def answer_all(workspace: Path, answerer: Any) -> list[str]:
    """Answer calls until none is missing; returns which prompts were asked, in order of their first call."""
    asked: list[str] = []
    for number in range(9):
        batch, answers = (workspace.parent / f"{name}-{number}.jsonl" for name in ("batch", "answers"))
        out = json.loads(command(workspace, "calls", "export", str(batch), "--json"))["result"]
        if not out["n_calls"]:
            return asked
        asked += [name for name in out["calls"] if name not in asked]
        lines = batch.read_text(encoding="utf-8").splitlines()
        answers.write_text("".join(json.dumps(answerer.answer(json.loads(line))) + "\n" for line in lines))
        command(workspace, "calls", "import", str(answers), "--answered-by", answerer.NAME)
        batch.unlink()
    pytest.fail("answers lead to more calls again and again")


def command(workspace: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "nclue_build", "-w", str(workspace), *words],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
