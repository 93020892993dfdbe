"""An audit of a tiny build, from the draw to the repaired benchmark, with evaluators who err where they are told to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError, UsageError
from nclue_build.workflow import auditing
from nclue_build.workflow.repairing import repair_build

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


def evaluator(tiny: Any, folder: Path, packet: str, name: str, flip: dict[tuple[str, str], bool] | None = None) -> Row:
    """Answers that follow P(d, c), except where an item and condition are to be answered otherwise."""
    key = {row["item_id"]: row for row in json.loads((folder / "key.json").read_text("utf-8"))["items"]}
    queries = {row["query_id"]: row for row in tiny.read(tiny.benchmark / "queries.jsonl")}
    answers: list[Row] = []
    for item in json.loads((folder / packet).read_text("utf-8"))["items"]:
        known = key[item["item_id"]]
        ids = [row["condition_id"] for row in queries[known["query_id"]]["conditions"]]
        for asked in item["conditions"]:
            truth = known["pages"][ids.index(asked["condition_id"])]
            present = bool(truth)
            present = (flip or {}).get((item["item_id"], asked["condition_id"]), present)
            row: Row = {"item_id": item["item_id"], "condition_id": asked["condition_id"], "present": present}
            pages = [page for page in truth if page in asked["pages"]] or asked["pages"]
            quotes = [found for page in pages if (found := quote_of(tiny, known["doc_id"], page)) is not None][:1]
            row |= {"pages": [one["page"] for one in quotes] if present else [], "quotes": quotes if present else []}
            answers.append(row)
    return {"schema_version": 1, "evaluator": name, "answers": answers}


def quote_of(tiny: Any, doc_id: str, page: int) -> Row | None:
    rows = tiny.read(tiny.build.page_file(doc_id))
    texts = [block["text"] for block in rows[page - 1]["blocks"] if block["role"] != "header"]
    text = max(texts, key=len, default="")
    return {"page": page, "quote": text} if len(text.split()) > 2 else None


def write(tiny: Any, folder: Path, *responses: Row) -> None:
    for row in responses:
        tiny.write_json(folder / f"{row['evaluator']}.json", row)


@pytest.fixture
def folder(tiny: Any, tmp_path: Path) -> Path:
    found = tmp_path / "audit"
    key = auditing.draw_audit(found, tiny.build.workspace, "tiny", size=30, zero=2)
    assert len(key.items) == 18 + 2
    return found


def test_a_draw_is_blind_seeded_and_says_how_likely_it_was(tiny: Any, folder: Path, tmp_path: Path) -> None:
    key = json.loads((folder / "key.json").read_text("utf-8"))
    packet = (folder / "packet.json").read_text("utf-8")
    for row in key["items"]:
        assert f'"{row["doc_id"]}"' not in packet
        assert row["drawn"] <= row["available"]
    again = tmp_path / "again"
    auditing.draw_audit(again, tiny.build.workspace, "tiny", size=30, zero=2)
    assert (again / "packet.json").read_bytes() == (folder / "packet.json").read_bytes()
    with pytest.raises(UsageError, match="holds an audit already"):
        auditing.draw_audit(folder, tiny.build.workspace, "tiny")
    few = auditing.draw_audit(tmp_path / "few", tiny.build.workspace, "tiny", size=5)
    assert len({item.stratum for item in few.items}) == 5


def test_from_the_draw_to_the_repair(tiny: Any, folder: Path, tmp_path: Path) -> None:
    items = json.loads((folder / "key.json").read_text("utf-8"))["items"]
    packet = {row["item_id"]: row for row in json.loads((folder / "packet.json").read_text("utf-8"))["items"]}
    # zeta, water rights and WHO: both find WHO where no alias stands; beta, the same: only one does.
    both = next(row for row in items if (row["query_id"], row["doc_id"]) == ("q_97480fe057", "zeta"))
    one = next(row for row in items if (row["query_id"], row["doc_id"]) == ("q_97480fe057", "beta"))
    who = "who_30e8a5e1"
    first = evaluator(tiny, folder, "packet.json", "A", {(both["item_id"], who): True, (one["item_id"], who): True})
    second = evaluator(tiny, folder, "packet.json", "E", {(both["item_id"], who): True})
    for response in (first, second):
        answer = next(
            row for row in response["answers"] if (row["item_id"], row["condition_id"]) == (both["item_id"], who)
        )
        answer |= {"pages": [2], "quotes": [{"page": 2, "quote": "A changing climate."}]}
    write(tiny, folder / "responses", first, second)
    assert auditing.check_responses(folder, tiny.build.workspace, "tiny").findings == ()
    found = auditing.score_audit(folder, tiny.build.workspace, "tiny")
    assert (found.exact_grade.count, found.exact_grade.total) == (19, 20)
    assert found.condition is not None
    assert found.condition.count == found.condition.total - 1
    queue = auditing.queue_audit(folder, tiny.build.workspace, "tiny")
    assert queue.accepted == (both["item_id"],)
    assert [(item.item_id, item.reason, item.open) for item in queue.queued] == [(one["item_id"], "split", (who,))]
    pools = auditing.pool_audit(folder, tiny.build.workspace, "tiny")
    assert (pools.locked, pools.recalled_at_6, pools.recalled_at_9) == (1, 1, 1)
    assert [sorted(row.pages) for row in pools.pools] == [[1, 2]]
    with pytest.raises(UsageError, match="1 pairs are queued"):
        auditing.decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    write(
        tiny,
        folder / "adjudication",
        *(evaluator(tiny, folder, "adjudication.json", name) for name in "AE"),
        evaluator(tiny, folder, "adjudication.json", "J", {(one["item_id"], who): True}),
    )
    (decision,) = auditing.decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    assert (decision.doc_id, decision.basis, decision.pages) == ("zeta", "consensus", (2,))
    tiny.write(
        folder / "overrides.jsonl",
        [
            {
                "item_id": one["item_id"], "condition_id": who, "present": True,
                "quotes": [{"page": 1, "quote": "Water rights under climate change."}],
                "reason": "the page shows it",
            }
        ],
    )  # fmt: skip
    decisions = auditing.decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    assert sorted((row.doc_id, row.basis) for row in decisions) == [("beta", "administrative"), ("zeta", "consensus")]
    report = repair_build(tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    assert report.transitions is not None
    assert report.transitions.audited_grades == {"1->2": 1}
    assert tiny.run().findings == ()
    assert packet
    with pytest.raises(DataError, match="not the one this audit was drawn from"):
        auditing.queue_audit(folder, tiny.build.workspace, "tiny")


def test_consensus_decreases_and_copies(tiny: Any, folder: Path) -> None:
    items = json.loads((folder / "key.json").read_text("utf-8"))["items"]
    gold = next(row for row in items if (row["query_id"], row["doc_id"]) == ("q_97480fe057", "alpha"))
    flips = {(gold["item_id"], "who_30e8a5e1"): False}
    first, copy = (evaluator(tiny, folder, "packet.json", name, flips) for name in ("A", "B"))
    write(tiny, folder / "responses", first, copy)
    assert auditing.check_responses(folder, tiny.build.workspace, "tiny").collapsed == ["B"]
    with pytest.raises(UsageError, match="B only repeat another"):
        auditing.score_audit(folder, tiny.build.workspace, "tiny")
    other = json.loads(json.dumps(copy)) | {"evaluator": "B"}
    yes = next(row for row in other["answers"] if row["present"] and len(row["quotes"][0]["quote"].split()) > 3)
    yes["quotes"][0]["quote"] = " ".join(yes["quotes"][0]["quote"].split()[:3])
    write(tiny, folder / "responses", other)
    queue = auditing.queue_audit(folder, tiny.build.workspace, "tiny")
    assert [(item.item_id, item.reason) for item in queue.queued] == [(gold["item_id"], "decrease")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.update(pages=[9]), "page 9 is not in its pool"),
        (lambda row: row.update(quotes=[]), "every selected page needs a quote"),
        (lambda row: row["quotes"][0].update(quote="Nothing of the kind."), "not on page"),
        (lambda row: row["quotes"][0].update(quote="climate"), "fewer than 3 words"),
        (lambda row: row.update(present=False), "a no has neither pages nor quotes"),
        (lambda row: row.update(item_id="A9999"), "was not asked"),
    ],
)
def test_bad_answers_are_found(tiny: Any, folder: Path, change: Any, message: str) -> None:
    response = evaluator(tiny, folder, "packet.json", "A")
    change(next(row for row in response["answers"] if row["present"]))
    write(tiny, folder / "responses", response)
    found = auditing.check_responses(folder, tiny.build.workspace, "tiny").findings
    assert {finding.code for finding in found} == {"bad-response"}
    assert any(message in finding.message for finding in found)


def test_the_studys_confusion(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text("[[2,6,0,0],[2,72,14,0],[0,11,128,1],[0,1,11,52]]", "utf-8")
    found = auditing.score_confusion(path)
    assert (found.exact_grade.count, found.exact_grade.total) == (254, 300)
    figures = (found.exact_grade.value, found.kappa_linear, found.exact_grade.low, found.exact_grade.high)
    assert figures == pytest.approx((0.847, 0.801, 0.802, 0.883), abs=0.0005)
    assert found.kappa_linear_interval is not None
    assert found.kappa_linear_interval[0] < 0.801 < found.kappa_linear_interval[1]
    path.write_text("[[1, 2]]", "utf-8")
    with pytest.raises(UsageError, match="square"):
        auditing.score_confusion(path)
