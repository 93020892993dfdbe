"""Calls from export to replay, answered by ``tests/answerer.py``: a test answerer, no model and no person."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.line import decode_line
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.segment import Segment
from nclue_build.store.workspace import find_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Run

MAX_ROUNDS = 9


def set_key(workspace: Path, table: str, key: str, value: str) -> None:
    path = workspace / "configs" / "main.toml"
    head, _, tail = path.read_text(encoding="utf-8").partition(f"[{table}]")
    changed = re.sub(rf"(?m)^{key} = \S+", f"{key} = {value}", tail, count=1)
    assert changed != tail
    path.write_text(f"{head}[{table}]{changed}", encoding="utf-8")


@pytest.fixture
def judged(built: Path) -> Path:
    """A workspace whose build is to be judged by a model, and asks few calls."""
    for table, key, value in (
        ("judge", "kind", '"model"'), ("compose", "n_candidates", "40"),
        ("compose", "n_queries", "10"),
    ):  # fmt: skip
        set_key(built, table, key, value)
    return built


@pytest.fixture
def answerer(repository: Path, load_script: Callable[[Path], Any]) -> Any:
    return load_script(repository / "tests" / "answerer.py")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def files(workspace: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for name in ("inventory", "benchmarks", "frozen_outputs")
        for path in sorted((workspace / name).rglob("*"))
        if path.is_file()
    }


def test_a_build_is_judged_by_import_and_replayed(judged: Path, run: Run, answerer: Any, repository: Path) -> None:
    built = judged
    first = run("-w", built, "run", "--dry-run", "--json").envelope["result"]["calls"]["known"]
    assert "calls  not known: mine has to run to find out" in run("-w", built, "run", "--dry-run").out
    rounds: list[str] = []
    for number in range(MAX_ROUNDS):
        out = built / f"batch-{number}.jsonl"
        exported = run("-w", built, "calls", "export", out, "--json")
        assert exported.code == 0, exported.out
        if not exported.envelope["result"]["n_calls"]:
            break
        rounds += exported.envelope["result"]["calls"]
        answers = [answerer.answer(row) for row in rows(out)]
        random.Random(3).shuffle(answers)  # noqa: S311 - any order will do
        path = built / f"answers-{number}.jsonl"
        lines = [json.dumps(row) for row in answers]
        if number == 0:  # what is refused, and why, is in tests/unit/calls/test_imports.py
            lines.insert(1, "{not json")
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        done = run("-w", built, "calls", "import", path, "--answered-by", answerer.NAME, "--json")
        assert (done.code, done.envelope["result"]["left"]) == (1 if number == 0 else 0, 0), done.out
        assert [(row["code"], row["line"]) for row in done.envelope["findings"]] == [("call-rejected", 2)][number:]
    assert rounds[0] == "cluster"
    assert rounds[-1] == "item"
    assert first == "nothing"
    ran = run("-w", built, "run", "--json")
    assert ran.code == 0, ran.out
    check_provenance(built, answerer.NAME)
    once = files(built)
    replay = [
        sys.executable,
        str(repository / "tests" / "replay.py"),
        "-w",
        str(built),
        "run",
        "--fresh",
        "--from",
        "mine",
    ]
    replayed = subprocess.run(replay, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
    assert replayed.returncode == 0, replayed.stderr
    assert files(built) == once
    check_verbs(built, run)
    check_orphans(built, run)
    assert files(built) == once
    check_other_settings(built, run)


def check_provenance(workspace: Path, name: str) -> None:
    """Every verdict and quote names the judge, who answered, and a call of the list of used ones."""
    inventory, benchmark = workspace / "inventory" / "main", workspace / "benchmarks" / "main"
    used = {row["key"]: row for path in (inventory, benchmark) for row in rows(path / "calls.jsonl")}
    assert {row["answered_by"] for row in used.values()} == {name}
    assert {row["model"] for row in used.values()} == {"glm-5.2"}
    assert {row["status"] for row in used.values()} == {"ok"}
    for condition in rows(inventory / "P0" / "conditions.jsonl"):
        verdict = condition["verdict"]
        assert (verdict["judge"], verdict["model"]) == ("model", name)
        assert used[verdict["call_key"]]["prompt_id"] == "cluster"
        assert condition["rubric"]["requirement"].startswith("The page must discuss ")
    quotes = [quote for row in rows(benchmark / "qrels.jsonl") for quote in row["evidence"]]
    assert quotes
    assert {used[quote["call_key"]]["prompt_id"] for quote in quotes} == {"item"}
    meta = json.loads((benchmark / "qrels.meta.json").read_text(encoding="utf-8"))
    assert (meta["item_judge"], meta["item_model"]) == ("model", name)
    shown = "".join(
        path.read_text(encoding="utf-8") for path in benchmark.rglob("*.json*") if path.name != "calls.jsonl"
    )
    assert "glm-5.2" not in shown


def check_verbs(workspace: Path, run: Run) -> None:
    status = run("-w", workspace, "calls", "status", "--json").envelope["result"]
    assert status["records"] == status["used"]
    assert (status["orphaned"], status["missing_records"], status["pending"]) == ([], [], {})
    assert run("-w", workspace, "calls", "verify").code == 0
    assert run("-w", workspace, "validate").code == 0
    agreed = run("-w", workspace, "calls", "agree", "--json").envelope["result"]
    assert sum(row["n"] for row in agreed["counts"]) == agreed["n_cases"] > 0
    assert {row["kind"] for row in agreed["counts"]} == {"cluster", "item"}
    assert run("-w", workspace, "calls", "agree").out.count("same verdict on ") == 2
    items = rows(workspace / "benchmarks" / "main" / "agreement.jsonl")
    used = {row["key"] for row in rows(workspace / "benchmarks" / "main" / "calls.jsonl")}
    assert {row["call_key"] for row in items} == used
    quote = next(quote for row in rows(workspace / "benchmarks" / "main" / "qrels.jsonl") for quote in row["evidence"])
    why = run("-w", workspace, "calls", "why", quote["call_key"][:16], "--json").envelope["result"]
    assert (why["state"], why["status"], why["request"]["prompt_id"]) == ("recorded", "ok", "item")
    assert quote["quote"] in json.loads(why["text"])["conditions"][0]["evidence"] or len(why["used_in"]) > 1
    assert run("-w", workspace, "calls", "why", "zz").code == 2
    assert run("-w", workspace, "calls", "prune", "--json").envelope["result"]["keys"] == []
    size = run("-w", workspace, "calls", "estimate", "--json").envelope["result"]
    assert (size["known"], size["stage"], size["calls"]) == ("all", None, {})
    assert run("-w", workspace, "calls", "seal", "--json").envelope["result"]["added"] == 0


def check_orphans(workspace: Path, run: Run) -> None:
    """What is recorded and not used is orphaned, and pruned if told so; what is used and not recorded is missing."""
    places = CallPlaces(find_build(workspace), 1)
    path = next(places.shards("cluster"))
    record = decode_line(path.read_bytes().splitlines()[0])
    other = record.request.model_copy(update={"attempt": 7})
    with Segment(places) as segment:
        line = segment.append(other, record.status, json.dumps(record.response).encode(), record.provenance)
    key = decode_line(line).key
    assert run("-w", workspace, "calls", "status", "--json").envelope["result"]["unsealed_segments"] == 1
    assert run("-w", workspace, "calls", "seal", "--json").envelope["result"]["added"] == 1
    assert run("-w", workspace, "calls", "status", "--json").envelope["result"]["orphaned"] == [key]
    for more, applied in (((), False), (("--apply",), True)):
        pruned = run("-w", workspace, "calls", "prune", *more, "--json").envelope["result"]
        assert pruned == {"keys": [key], "applied": applied}
    whole = path.read_bytes()
    path.unlink()
    gone = run("-w", workspace, "calls", "status", "--json").envelope["result"]["missing_records"]
    assert record.key in gone
    checked = run("-w", workspace, "calls", "verify", "--json")
    assert (checked.code, {row["id"] for row in checked.envelope["findings"]}) == (1, set(gone))
    assert {row["code"] for row in checked.envelope["findings"]} == {"call-missing"}
    path.write_bytes(whole)


def check_other_settings(workspace: Path, run: Run) -> None:
    """Another model is another key: everything is missing, and the nearest record says in what."""
    set_key(workspace, "calls", "model", '"glm-9"')
    missed = run("-w", workspace, "run", "--json")
    assert missed.code == 4
    misses = missed.envelope["findings"]
    assert {row["code"] for row in misses} == {"frozen-miss"}
    assert len({row["id"] for row in misses}) == len(misses) > 5
    batch = workspace / ".nclue" / "calls" / "main" / "batch.jsonl"
    assert sorted(row["custom_id"] for row in rows(batch)) == sorted(row["id"] for row in misses)
    messages = [row["message"] for row in misses]
    assert all(re.search(r"nearest record [0-9a-f]{12} differs in model$", message) for message in messages)
    why = run("-w", workspace, "calls", "why", missed.envelope["findings"][0]["id"], "--json").envelope["result"]
    assert why["state"] == "missing"
    assert why["nearest"].endswith("differs in model")
    size = run("-w", workspace, "calls", "estimate", "--json").envelope["result"]
    assert size["calls"] == {"cluster": len(messages)}
    assert size["input_tokens"] > 0 < size["max_output_tokens"]
    assert (size["known"], size["stage"]) == ("round", "mine")
    assert size["follows"].startswith("then come the partitions")
    shown = run("-w", workspace, "run", "--dry-run").out
    assert f"{len(messages)} cluster" in shown
    assert "this round only; then come the partitions" in shown
    set_key(workspace, "calls", "base_url_env", '"NCLUE_NO_SUCH_SERVICE"')
    refused = run("-w", workspace, "run", "--calls", "record")
    assert refused.code == 2
    assert "NCLUE_NO_SUCH_SERVICE is not set" in refused.err
    plan = run("-w", workspace, "run", "--dry-run", "--json").envelope["result"]
    assert plan["calls"] == size
    assert size["max_cost"] is None
    set_key(workspace, "calls", "model", '"glm-8"')
    assert "changed (settings changed: calls.model: glm-9 -> glm-8)" in run("-w", workspace, "run", "--dry-run").out
    set_key(workspace, "calls", "model", '"glm-9"')
    prompt = workspace / "prompts" / "mine" / "cluster.md"
    whole = prompt.read_bytes()
    for edited, known in ((whole + b"Take your time.\n", "outdated"), (whole, "round")):
        prompt.write_bytes(edited)
        size = run("-w", workspace, "calls", "estimate", "--json").envelope["result"]
        assert size["known"] == known
        assert size["changed"] == (["inputs changed: prompts/mine/cluster.md was edited"] if edited != whole else [])
    set_key(workspace, "mine", "max_conditions", "7")
    size = run("-w", workspace, "calls", "estimate", "--json").envelope["result"]
    assert (size["known"], len(size["changed"])) == ("outdated", 1)
    assert "max_conditions: " in size["changed"][0]
    version = workspace / "inventory" / "main" / "P1"
    shutil.copytree(workspace / "inventory" / "main" / "P0", version)
    size = run("-w", workspace, "calls", "estimate", "--json").envelope["result"]
    assert (size["known"], size["stage"], size["changed"]) == ("outdated", None, [])
    assert size["refused"].startswith("P0 of build 'main' is stale")
    assert "now the build cannot run: P0 of build" in run("-w", workspace, "calls", "estimate").out
    shutil.rmtree(version)


def test_forms_that_a_model_names_are_mined(built: Path, run: Run, answerer: Any) -> None:
    """``miner = "llm"`` with the rules judge: page-fact calls, and nothing else, from export to gate."""
    by_counting = {row["form"] for row in rows(built / "inventory" / "main" / "surface_forms.jsonl")}
    set_key(built, "mine", "miner", '"llm"')
    set_key(built, "compose", "paraphrases", '"recorded"')
    out, path = built / "batch.jsonl", built / "answers.jsonl"
    facts: set[str] = set()
    for optional in ((), ("--optional",)):
        exported = run("-w", built, "calls", "export", out, *optional, "--json")
        assert list(exported.envelope["result"]["calls"]) == ["paraphrase" if optional else "page-facts"]
        answers = [answerer.answer(row) for row in rows(out)]
        texts = [row["result"]["message"]["content"][0]["text"] for row in answers]
        facts |= {fact["form"].lower() for text in texts for fact in json.loads(text).get("facts", [])}
        path.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
        assert run("-w", built, "calls", "import", path, "--answered-by", answerer.NAME).code == 0
    ran = run("-w", built, "run", "--json")
    assert ran.code == 0, ran.out
    named = {row["form"] for row in rows(built / "inventory" / "main" / "surface_forms.jsonl")}
    assert {"coral reef monitoring", "marine debris"} <= named & by_counting
    assert by_counting - named
    assert {form.lower() for form in named} <= facts
    used = rows(built / "inventory" / "main" / "calls.jsonl")
    assert {(row["prompt_id"], row["answered_by"]) for row in used} == {("page-facts", answerer.NAME)}
    queries = rows(built / "benchmarks" / "main" / "queries.jsonl")
    assert all(query["forms"]["paraphrase"].startswith("Which report deals with ") for query in queries)
    stages = {stage["stage"]: stage for stage in ran.envelope["result"]["stages"]}
    assert stages["mine"]["counts"]["facts"] > 0
    assert stages["compose"]["counts"]["paraphrases"] == len(queries)
    assert run("-w", built, "validate").code == 0
    set_key(built, "compose", "paraphrases", '"none"')
    (built / "benchmarks" / "main" / "calls.jsonl").unlink()  # a stage that asks nothing has no such list
    assert len(run("-w", built, "calls", "prune", "--json").envelope["result"]["keys"]) == len(queries)


def test_replies_without_a_text_leave_their_cases_out(judged: Path, run: Run, answerer: Any) -> None:
    """What fails gets no verdict: not KEEP, not REJECT; it is listed with its reason, and counted."""
    built = judged
    failing = ["truncated", "refused", "empty", "invalid"]
    for number in range(MAX_ROUNDS):
        out = built / f"batch-{number}.jsonl"
        assert run("-w", built, "calls", "export", out).code == 0
        answers = [answerer.answer(row) for row in rows(out)]
        if not answers:
            break
        for index, row in enumerate(answers[:8]):
            row["result"]["message"] |= (
                {"stop_reason": "max_tokens"}, {"stop_reason": "refusal"}, {"content": []},
                {"content": [{"type": "text", "text": "no"}]},
            )[index % 4]  # fmt: skip
        path = built / "answers.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
        done = run("-w", built, "calls", "import", path, "--answered-by", answerer.NAME, "--keep-failures", "--json")
        assert done.code == 0
        assert set(failing) <= set(done.envelope["result"]["recorded"])
    ran = run("-w", built, "run", "--json")
    inventory = built / "inventory" / "main"
    without = [row for row in rows(inventory / "clusters.jsonl") if row["decision"] == "NONE" and row["call_key"]]
    assert Counter(row["reason"] for row in without) == {f"call_{status}": 2 for status in failing}
    reasons = Counter(row["reason"] for row in rows(inventory / "rejected.jsonl"))
    assert {reason: n for reason, n in reasons.items() if reason.startswith("call_")} == {
        f"call_{status}": 2 for status in failing
    }
    stages = {stage["stage"]: stage for stage in ran.envelope["result"]["stages"]}
    assert stages["mine"]["counts"]["clusters_without_verdict"] == 8
    assert any("8 clusters left out" in line for line in stages["mine"]["shortfalls"])
    composition = json.loads((built / "benchmarks" / "main" / "composition.json").read_text(encoding="utf-8"))
    assert {f"call_{status}" for status in failing} <= set(composition["refusals"])
