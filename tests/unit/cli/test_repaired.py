"""A repaired build on the command line: what `run` says of it, and how a decision is taken back."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import TreeDigests

Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def absence(key: str, qrel: Row, query: Row) -> Row:
    """A decision that the first condition of a gold is not there, all of its pages shown."""
    return {
        "decision_id": key, "query_id": qrel["query_id"], "doc_id": qrel["doc_id"],
        "condition_id": query["conditions"][0]["condition_id"], "present": False, "pages": [],
        "pages_shown": qrel["pages"][0], "quotes": [], "basis": "majority", "reason": "2 of 3", "responses": ["A"],
    }  # fmt: skip


@pytest.fixture
def decisions(built: Path) -> list[Row]:
    """Two absences, of different documents, each of a query with other golds left."""
    folder = built / "benchmarks" / "main"
    queries = {row["query_id"]: row for row in rows(folder / "queries.jsonl")}
    golds = [row for row in rows(folder / "qrels.jsonl") if row["gold"] and len(queries[row["query_id"]]["golds"]) > 1]
    first = golds[0]
    second = next(row for row in golds if row["doc_id"] != first["doc_id"])
    return [absence(f"J{number}", row, queries[row["query_id"]]) for number, row in enumerate((first, second))]


def write(path: Path, decisions: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in decisions), "utf-8")
    return path


def test_run_shows_what_there_is_after_a_repair(built: Path, run: Any, decisions: list[Row]) -> None:
    before = run("-w", built, "run", "--json").envelope["result"]["made"]
    assert before["inventory_version"] == 0
    done = run("-w", built, "repair", "--decisions", write(built / "d.jsonl", decisions), "--json")
    counted = done.envelope["result"]["transitions"]
    shown = run("-w", built, "run", "--json").envelope["result"]["made"]
    assert shown["inventory_version"] == 1
    assert shown["gate_ok"]
    assert [shown[name] for name in ("queries", "qrels", "golds")] == [
        counted[name][1] for name in ("queries", "qrels", "golds")
    ]
    assert shown["golds"] < before["golds"]
    folder = built / "benchmarks" / "main"
    queries, qrels = rows(folder / "queries.jsonl"), rows(folder / "qrels.jsonl")
    assert sum(shown["queries_by_n"].values()) == sum(shown["relaxations"].values()) == len(queries)
    assert shown["gold_documents"] == len({row["doc_id"] for row in qrels if row["gold"]})
    assert sum(shown["outcomes"].values()) == len(qrels)
    assert shown["evidence"] == len(rows(built / "inventory" / "main" / "P1" / "evidence.jsonl"))
    text = run("-w", built, "run").out
    assert "P1, repaired: what follows is of it" in text
    assert f"({shown['golds']} gold)" in text
    assert "benchmarks/main/changes.md" in text


def test_a_decision_is_taken_back_by_the_documented_steps(
    built: Path, run: Any, decisions: list[Row], tree_digests: TreeDigests, repository: Path
) -> None:
    inventory, benchmark = built / "inventory" / "main", built / "benchmarks" / "main"
    assert run("-w", built, "repair", "--decisions", write(built / "d.jsonl", decisions[:1])).code == 0
    alone = tree_digests(built)
    assert run("-w", built, "repair", "--decisions", write(built / "d.jsonl", decisions[1:])).code == 0
    back = decisions[1] | {"decision_id": "J9", "basis": "administrative"}
    back |= {"present": True, "pages": back["pages_shown"][:1]}
    back["quotes"] = [{"page": back["pages"][0], "quote": "coastal agency organised"}]
    refused = run("-w", built, "repair", "--decisions", write(built / "d.jsonl", [back]))
    assert refused.code == 3
    assert "J1 (applied by P2) says absent" in refused.err
    assert "take the applied one back (docs/repair.md)" in refused.err

    # The steps of docs/repair.md, with J1 for J2.
    text = (repository / "docs" / "repair.md").read_text("utf-8").split("```sh\n")[1].split("```")[0]
    assert [line.split()[0] for line in text.splitlines()] == ["cat", "grep", "mv", "rm", *["nclue-build"] * 3]
    decided = [row for version in ("P1", "P2") for row in rows(inventory / version / "decisions.jsonl")]
    still = write(built / "still.jsonl", [row for row in decided if row["decision_id"] != "J1"])
    shutil.move(benchmark, built / "benchmarks-before")
    for version in ("P1", "P2"):
        shutil.rmtree(inventory / version)
    for words in (["run"], ["repair", "--decisions", still], ["gate"]):
        done = run("-w", built, *words)
        assert done.code == 0, done.err

    def without_report(found: dict[str, str]) -> dict[str, str]:
        return {name: digest for name, digest in found.items() if not name.endswith("gate.json")}

    assert without_report(tree_digests(built)) == without_report(alone)
    assert run("-w", built, "validate").code == 0
