"""An audit of a tiny build, from the draw to the repaired benchmark, with evaluators who err where they are told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nclue_build.audit.agreement import agreement
from nclue_build.core.errors import DataError, UsageError
from nclue_build.records.audit import Response
from nclue_build.store.jsonl import write_json
from nclue_build.workflow import auditing
from nclue_build.workflow.deciding import decide_audit
from nclue_build.workflow.repairing import repair_build

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
    _, key = auditing.draw_audit(found, tiny.build.workspace, "tiny", size=30, zero=2)
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
    _, few = auditing.draw_audit(tmp_path / "few", tiny.build.workspace, "tiny", size=5)
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
    found = auditing.score_audit(folder, tiny.build.workspace, "tiny").agreement
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
        decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    write(
        tiny,
        folder / "adjudication",
        *(evaluator(tiny, folder, "adjudication.json", name) for name in "AE"),
        evaluator(tiny, folder, "adjudication.json", "J", {(one["item_id"], who): True}),
    )
    (decision,) = decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny").decisions
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
    decisions = decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny").decisions
    assert sorted((row.doc_id, row.basis) for row in decisions) == [("beta", "administrative"), ("zeta", "consensus")]
    report = repair_build(tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    assert report.transitions is not None
    assert report.transitions.audited_grades == {"1->2": 1}
    assert tiny.run().findings == ()
    assert packet
    with pytest.raises(DataError, match="not the one this audit was drawn from"):
        auditing.queue_audit(folder, tiny.build.workspace, "tiny")


WHO, WATER_WHO, THREE = "who_30e8a5e1", "q_97480fe057", "q_f647a5dad3"
FOUND = {"pages": [2], "quotes": [{"page": 2, "quote": "A changing climate."}]}


def item_of(folder: Path, query_id: str, doc_id: str) -> str:
    items = json.loads((folder / "key.json").read_text("utf-8"))["items"]
    return str(next(row["item_id"] for row in items if (row["query_id"], row["doc_id"]) == (query_id, doc_id)))


def say(response: Row, item_id: str, **answer: object) -> None:
    """Have an evaluator answer otherwise on WHO."""
    found = next(row for row in response["answers"] if (row["item_id"], row["condition_id"]) == (item_id, WHO))
    found |= answer


@pytest.fixture
def opposite(tiny: Any, folder: Path) -> tuple[str, str]:
    """Two pairs ask about WHO in zeta: both say yes in the one, and a majority says no in the other."""
    yes, no = item_of(folder, WATER_WHO, "zeta"), item_of(folder, THREE, "zeta")
    first, second = (evaluator(tiny, folder, "packet.json", name) for name in "AE")
    say(first, yes, present=True, **FOUND)
    say(second, yes, present=True, **FOUND)
    say(first, no, present=True, **FOUND)
    write(tiny, folder / "responses", first, second)
    queue = auditing.queue_audit(folder, tiny.build.workspace, "tiny")
    assert (queue.accepted, [item.item_id for item in queue.queued]) == ((yes,), [no])
    auditing.pool_audit(folder, tiny.build.workspace, "tiny")
    write(tiny, folder / "adjudication", *(evaluator(tiny, folder, "adjudication.json", name) for name in "AEJ"))
    other = json.loads((folder / "adjudication" / "J.json").read_text("utf-8"))
    say(other, no, present=True, **FOUND)
    write(tiny, folder / "adjudication", other)
    return yes, no


def override(item_id: str, *, present: bool) -> Row:
    quotes = FOUND["quotes"] if present else []
    return {"item_id": item_id, "condition_id": WHO, "present": present, "quotes": quotes, "reason": "read again"}


def test_opposite_verdicts_on_one_fact_are_named_and_settled_by_one_row(
    tiny: Any, folder: Path, opposite: tuple[str, str], tmp_path: Path
) -> None:
    yes, no = opposite
    out = tmp_path / "d.jsonl"
    with pytest.raises(DataError) as raised:
        decide_audit(folder, out, tiny.build.workspace, "tiny")
    (finding,) = raised.value.findings
    assert finding.code == "decision-conflict"
    assert f"{WHO} in zeta" in finding.message
    assert f"{yes} says present (consensus: both say so; quotes from page 2)" in finding.message
    assert f"{no} says absent (majority: 2 of 3 say so; shown pages 1, 2)" in finding.message
    assert f"in a row for {' or '.join(sorted(opposite))}" in finding.message
    assert not out.exists()
    # The row may name either pair, and holds in both.
    tiny.write(folder / "overrides.jsonl", [override(yes, present=False)])
    nothing = decide_audit(folder, out, tiny.build.workspace, "tiny")
    assert (nothing.decisions, nothing.overrides, nothing.in_both_rounds) == ((), 1, ("A", "E"))
    tiny.write(folder / "overrides.jsonl", [override(no, present=True)])
    decided = decide_audit(folder, out, tiny.build.workspace, "tiny")
    assert [(row.query_id, row.basis, row.pages, row.pages_shown) for row in decided.decisions] == [
        (query_id, "administrative", (2,), (1, 2)) for _, query_id in sorted([(yes, WATER_WHO), (no, THREE)])
    ]
    assert decided.facts == 1
    report = repair_build(out, tiny.build.workspace, "tiny")
    assert report.transitions is not None
    assert (report.transitions.unaudited_changes, report.transitions.audited_grades) == (0, {"1->2": 2})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lambda yes, no: [override(yes, present=True), override(no, present=False)], "line 1 .* decides that"),
        (lambda yes, _: [override(yes, present=True)] * 2, "line 1 .* decides that condition"),
        (lambda yes, _: [override(yes, present=True) | {"quotes": []}], "a yes needs a page"),
        (lambda yes, _: [override(yes, present=True) | {"present": False}], "a no has neither"),
        (lambda yes, _: [override(yes, present=True) | {"quotes": [{"page": 1, "quote": "A changing climate."}]}],
         "not on page 1"),
        (lambda yes, _: [override(yes, present=True) | {"quotes": [{"page": 9, "quote": "A changing climate."}]}],
         "page 9 is not in its pool"),
        (lambda *_: [override("A9999", present=False)], "was not asked"),
        (lambda yes, _: [override(yes, present=True) | {"reason": ""}], "reason"),
    ],
)  # fmt: skip
def test_bad_overrides_are_refused_with_their_line(
    tiny: Any, folder: Path, opposite: tuple[str, str], tmp_path: Path, rows: Any, message: str
) -> None:
    tiny.write(folder / "overrides.jsonl", rows(*opposite))
    with pytest.raises(DataError, match=message) as raised:
        decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    assert {finding.line for finding in raised.value.findings} == {len(rows(*opposite))}
    assert not (tmp_path / "d.jsonl").exists()


def test_what_a_version_applied_is_not_silently_contradicted(
    tiny: Any, folder: Path, opposite: tuple[str, str], tmp_path: Path
) -> None:
    yes, _ = opposite
    tiny.write(folder / "overrides.jsonl", [override(yes, present=True)])
    decide_audit(folder, tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    repair_build(tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
    # A second audit, of the repaired benchmark: two see nothing on the pages shown, and neither do three.
    again = tmp_path / "again"
    auditing.draw_audit(again, tiny.build.workspace, "tiny", size=30)
    items = [item_of(again, query_id, "zeta") for query_id in (WATER_WHO, THREE)]
    flips = {(item, WHO): False for item in items}
    first, second = (evaluator(tiny, again, "packet.json", name, flips) for name in "AE")
    second["answers"][0]["quotes"][0]["quote"] = " ".join(second["answers"][0]["quotes"][0]["quote"].split()[:3])
    write(tiny, again / "responses", first, second)
    auditing.queue_audit(again, tiny.build.workspace, "tiny")
    auditing.pool_audit(again, tiny.build.workspace, "tiny")
    write(tiny, again / "adjudication", evaluator(tiny, again, "adjudication.json", "J", flips))
    with pytest.raises(DataError, match=r"says absent, A\d+-who_30e8a5e1-[0-9a-f]{8} \(applied by P1\) says present"):
        decide_audit(again, tmp_path / "e.jsonl", tiny.build.workspace, "tiny")
    assert not (tmp_path / "e.jsonl").exists()


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


def test_those_who_say_no_throughout_are_no_copies(tiny: Any, folder: Path) -> None:
    flips = {
        (item["item_id"], asked["condition_id"]): False
        for item in json.loads((folder / "packet.json").read_text("utf-8"))["items"]
        for asked in item["conditions"]
    }
    write(tiny, folder / "responses", *(evaluator(tiny, folder, "packet.json", name, flips) for name in "AE"))
    found = auditing.score_audit(folder, tiny.build.workspace, "tiny").agreement
    assert (found.collapsed, found.exact_grade.count, found.kappa_linear) == ((), 20, None)


def test_more_than_two_evaluators_are_scored_and_none_is_dropped(tiny: Any, folder: Path) -> None:
    items = [row["item_id"] for row in json.loads((folder / "packet.json").read_text("utf-8"))["items"]]
    zeta = item_of(folder, WATER_WHO, "zeta")
    responses = [evaluator(tiny, folder, "packet.json", name) for name in ("A", "E", "G")]
    say(responses[0], zeta, present=True, **FOUND)
    say(responses[1], zeta, present=True, **FOUND)
    yes = next(row for row in responses[1]["answers"] if row["present"] and len(row["quotes"][0]["quote"].split()) > 3)
    yes["quotes"][0]["quote"] = " ".join(yes["quotes"][0]["quote"].split()[:3])
    for response in responses[:2]:
        response["clarity"] = [{"item_id": item, "clear": item != zeta} for item in items]
    write(tiny, folder / "responses", *responses)
    found = auditing.score_audit(folder, tiny.build.workspace, "tiny").agreement
    assert found.evaluators == ("A", "E", "G")
    assert found.condition is not None
    assert found.condition.count == found.condition.total - 1
    assert (found.exact_grade.count, found.confusion, found.kappa_linear) == (19, None, None)
    by_pair = {one.evaluators: one for one in found.pairs}
    assert list(by_pair) == [("A", "E"), ("A", "G"), ("E", "G")]
    assert by_pair["A", "E"].kappa_conditions == pytest.approx(1)
    assert by_pair["A", "G"].condition.count == found.condition.count
    assert found.positives["A"] == found.positives["E"] == found.positives["G"] + 1
    # Fleiss' kappa of three on all conditions, by hand: one condition has two yes, the others are unanimous.
    total, ones = found.condition.total, found.positives["G"]
    share = (3 * ones + 2) / (3 * total)
    chance = share**2 + (1 - share) ** 2
    assert found.fleiss == pytest.approx(((total - 1 + 1 / 3) / total - chance) / (1 - chance))
    assert {name: (one.count, one.total) for name, one in found.clarity.items()} == {"A": (19, 20), "E": (19, 20)}
    assert found.unclear == (zeta,)
    with pytest.raises(UsageError, match=r"for two evaluators, and .* has 3: A, E, G"):
        auditing.queue_audit(folder, tiny.build.workspace, "tiny")


def test_the_adjudication_is_scored_beside_the_first_round(tiny: Any, folder: Path, opposite: tuple[str, str]) -> None:
    assert opposite
    found = auditing.score_audit(folder, tiny.build.workspace, "tiny").agreement.adjudication
    assert found is not None
    assert (found.evaluators, found.in_both_rounds, found.conditions) == (("A", "E", "J"), ("A", "E"), 2)
    assert found.positives == {"A": 0, "E": 0, "J": 1}
    assert found.unanimous is not None
    assert (found.unanimous.count, found.unanimous.total) == (1, 2)
    assert [one.condition.count for one in found.pairs] == [2, 1, 1]
    # One of them has not finished: the first round is scored all the same, and the rest is said.
    tiny.edit_json(folder / "adjudication" / "J.json", lambda row: row["answers"].pop())
    scored = auditing.score_audit(folder, tiny.build.workspace, "tiny")
    assert (scored.agreement.adjudication, len(scored.agreement.pairs)) == (None, 1)
    (finding,) = scored.unfinished
    assert "is not answered" in finding.message
    command = [sys.executable, "-m", "nclue_build", "-w", str(tiny.build.workspace.root), "-b", "tiny"]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "audit", "score", str(folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "the adjudication is not counted" in done.stdout) == (1, True), done.stderr


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


def test_rubrics_of_the_judge_or_of_a_file_are_in_the_packet(tiny: Any, tmp_path: Path) -> None:
    written: Row = {"requirement": "It is named.", "counts": "A section.", "does_not_count": "A mention.", "note": None}
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: [row.update(rubric=written) for row in rows[:2]])
    tiny.seal()
    path = tmp_path / "rubrics.jsonl"
    tiny.write(path, [{"condition_id": WHO} | written | {"note": "The body."}])
    packet, _ = auditing.draw_audit(tmp_path / "audit", tiny.build.workspace, "tiny", rubrics=path)
    rubrics = {one.condition_id: one.rubric for item in packet.items for one in item.conditions}
    assert {key: None if row is None else row.note or "judge" for key, row in rubrics.items()} == {
        "climate-change-adaptation_bcfc7306": "judge", "climate-change_f28d567c": "judge",
        "water-rights_36e568b9": None, WHO: "The body.",
    }  # fmt: skip
    tiny.write(path, [{"condition_id": WHO} | written] * 2 + [{"condition_id": "none"} | written])
    with pytest.raises(DataError) as raised:
        auditing.draw_audit(tmp_path / "other", tiny.build.workspace, "tiny", rubrics=path)
    assert [(row.code, row.line) for row in raised.value.findings] == [
        ("duplicate-condition", 2), ("unknown-condition", 3)
    ]  # fmt: skip
    assert not (tmp_path / "other").exists()


def test_whatever_lies_among_the_responses_is_said(tiny: Any, folder: Path) -> None:
    responses = folder / "responses"
    good = evaluator(tiny, folder, "packet.json", "A")
    write(tiny, folder / "responses", good)
    (responses / ".A.json.swp").write_bytes(b"hidden")
    (responses / "._E.json").write_bytes(b"\x00hidden")
    (responses / "older").mkdir()
    (responses / "folder.json").mkdir()
    (responses / "notes.txt").write_text("?", "utf-8")
    (responses / "gone.json").symlink_to(responses / "nowhere")
    tiny.write_json(responses / "A again.json", good)
    (responses / "broken.json").write_text('{"evaluator": "B"', "utf-8")
    (responses / "empty.json").write_text("", "utf-8")
    (responses / "twice.json").write_text(json.dumps(good | {"evaluator": "T"})[:-1] + ', "answers": []}', "utf-8")
    (responses / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(good | {"evaluator": "C"}).encode())
    (responses / "latin.json").write_bytes(json.dumps(good | {"evaluator": "D"}).encode()[:-1] + b', "x": "\xe9"}')
    odd = good | {"evaluator": "F"}
    odd["answers"] = [row | {"pages": [True]} if row["present"] else row for row in good["answers"]]
    tiny.write_json(responses / "F.json", odd)
    (responses / os.fsdecode(b"caf\xe9.json")).write_text("{}", "utf-8")
    found = auditing.check_responses(folder, tiny.build.workspace, "tiny")
    assert found.evaluators == {"responses": ["A"]}
    named = {Path(str(row.path)).name: row.code for row in found.findings}
    assert named == {
        "A.json": "bad-response", "F.json": "bad-record", "bom.json": "bad-record", "broken.json": "bad-record",
        "caf\\xe9.json": "bad-response", "empty.json": "bad-record", "folder.json": "bad-response",
        "gone.json": "bad-response", "latin.json": "bad-record", "notes.txt": "bad-response", "older": "bad-response",
        "twice.json": "bad-record",
    }  # fmt: skip
    command = [sys.executable, "-m", "nclue_build", "-w", str(tiny.build.workspace.root), "-b", "tiny"]
    for verb, code in (("import", 1), ("score", 3), ("queue", 3)):
        done = subprocess.run(  # noqa: S603 - our own program
            [*command, "audit", verb, str(folder), "--json"], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert len(json.loads(done.stdout)["findings"]) == len(found.findings)
    assert not (folder / "queue.json").exists()


def test_files_of_two_audits_or_stages_do_not_mix(
    tiny: Any, folder: Path, opposite: tuple[str, str], tmp_path: Path
) -> None:
    other, out = tmp_path / "other", tmp_path / "d.jsonl"
    auditing.draw_audit(other, tiny.build.workspace, "tiny", size=30, zero=2, seed=12)
    write(tiny, other / "responses", *(evaluator(tiny, folder, "packet.json", name) for name in "AE"))
    assert {row.code for row in auditing.check_responses(other, tiny.build.workspace, "tiny").findings} == {
        "bad-response"
    }  # responses to the other packet
    packet = (folder / "packet.json").read_bytes()
    auditing.draw_audit(tmp_path / "small", tiny.build.workspace, "tiny", size=5)
    (folder / "packet.json").write_bytes((tmp_path / "small" / "packet.json").read_bytes())
    with pytest.raises(DataError, match="of another draw"):
        auditing.queue_audit(folder, tiny.build.workspace, "tiny")
    (folder / "packet.json").write_bytes(packet)
    tiny.edit_json(folder / "packet.json", lambda row: row["items"][0]["conditions"].reverse())
    with pytest.raises(DataError, match="of another draw"):
        auditing.queue_audit(folder, tiny.build.workspace, "tiny")
    (folder / "packet.json").write_bytes(packet)
    asked_again = (folder / "adjudication.json").read_text("utf-8")
    tiny.write_json(folder / "adjudication.json", json.loads(asked_again) | {"items": []})
    with pytest.raises(DataError, match="run 'nclue-build audit pool' again"):
        decide_audit(folder, out, tiny.build.workspace, "tiny")
    (folder / "adjudication.json").write_text(asked_again, "utf-8")
    changed = json.loads((folder / "responses" / "E.json").read_text("utf-8"))
    say(changed, opposite[1], present=True, pages=[2], quotes=[{"page": 2, "quote": "A changing climate"}])
    write(tiny, folder / "responses", changed)
    for step in (lambda: auditing.pool_audit(folder, tiny.build.workspace, "tiny"),
                 lambda: decide_audit(folder, out, tiny.build.workspace, "tiny")):  # fmt: skip
        with pytest.raises(DataError, match="run 'nclue-build audit queue' again"):
            step()
    assert not out.exists()


def test_an_adjudication_packet_of_another_queue_or_audit_is_not_counted(
    tiny: Any, folder: Path, opposite: tuple[str, str]
) -> None:
    assert opposite
    path, queue = folder / "adjudication.json", (folder / "queue.json").read_text("utf-8")
    own = json.loads(path.read_text("utf-8"))

    def refused(items: list[Row], message: str) -> None:
        tiny.write_json(path, own | {"items": items})
        for step in (auditing.check_responses, auditing.score_audit):
            with pytest.raises(DataError, match=message) as raised:
                step(folder, tiny.build.workspace, "tiny")
            assert [row.code for row in raised.value.findings] == ["stale-stage"]

    (item,) = own["items"]
    refused([item | {"conditions": item["conditions"][:1]}], "made for another queue.json")
    # Items are numbered alike in every audit: without a queue, what is asked tells whose packet it is.
    (folder / "queue.json").unlink()
    refused([item | {"item_id": "A9999"}], "does not ask what it asks again")
    refused([item | {"query": "Which documents are of another audit?"}], "does not ask what it asks again")
    tiny.write_json(path, own)
    assert auditing.score_audit(folder, tiny.build.workspace, "tiny").agreement.adjudication is not None
    # Queue and packet of another audit go together, and not with this one's packet.
    (folder / "queue.json").write_text(queue.replace(item["item_id"], "A9999"), "utf-8")
    refused([item | {"item_id": "A9999"}], "does not ask what it asks again")


def test_an_adjudication_of_nothing_has_no_agreement(tiny: Any, folder: Path) -> None:
    first, second = (evaluator(tiny, folder, "packet.json", name) for name in "AE")
    yes = next(row for row in second["answers"] if row["present"] and len(row["quotes"][0]["quote"].split()) > 3)
    yes["quotes"][0]["quote"] = " ".join(yes["quotes"][0]["quote"].split()[:3])
    write(tiny, folder / "responses", first, second)
    assert auditing.queue_audit(folder, tiny.build.workspace, "tiny").queued == ()
    auditing.pool_audit(folder, tiny.build.workspace, "tiny")
    write(tiny, folder / "adjudication", *(evaluator(tiny, folder, "adjudication.json", name) for name in "AE"))
    scored = auditing.score_audit(folder, tiny.build.workspace, "tiny")
    assert (scored.agreement.adjudication, scored.unfinished) == (None, ())


def test_agreement_of_nothing_is_undefined() -> None:
    nobody = [Response(evaluator=name, answers=()) for name in "AE"]
    found = agreement(nobody, {}, (), 11)
    assert (found.fleiss, found.kappa, found.kappa_linear_interval, found.exact_grade.total) == (None, None, None, 0)


def test_a_draw_that_was_cut_short_is_made_again(tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def cut_short(path: Path, row: Any) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path)
        write_json(path, row)

    with monkeypatch.context() as patch:
        patch.setattr(auditing, "write_json", cut_short)
        with pytest.raises(KeyboardInterrupt):
            auditing.draw_audit(tmp_path / "audit", tiny.build.workspace, "tiny", size=5)
    assert len(written) == 1
    packet, _ = auditing.draw_audit(tmp_path / "audit", tiny.build.workspace, "tiny", size=5)
    assert len(packet.items) == 5


def test_clarity_is_said_of_every_item_or_of_none(tiny: Any, folder: Path) -> None:
    items = [row["item_id"] for row in json.loads((folder / "packet.json").read_text("utf-8"))["items"]]
    response = evaluator(tiny, folder, "packet.json", "A")
    said = [{"item_id": item, "clear": True, "note": None} for item in [*items[1:], items[1], "A9999"]]
    write(tiny, folder / "responses", response | {"clarity": said})
    found = auditing.check_responses(folder, tiny.build.workspace, "tiny").findings
    assert [(row.id, row.code) for row in found] == [(key, "bad-response") for key in [*items[:2], "A9999"]]


def test_a_benchmark_that_does_not_follow_from_the_inventory_is_not_audited(tiny: Any, tmp_path: Path) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows.pop())
    with pytest.raises(UsageError, match="composed from another inventory"):
        auditing.draw_audit(tmp_path / "audit", tiny.build.workspace, "tiny")
    assert not (tmp_path / "audit").exists()


def test_builds_without_pages_are_not_audited(tiny_documents: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="knows no pages"):
        auditing.draw_audit(tmp_path / "audit", tiny_documents.build.workspace, "tiny")
    assert not (tmp_path / "audit").exists()


def test_the_studys_confusion(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text("[[2,6,0,0],[2,72,14,0],[0,11,128,1],[0,1,11,52]]", "utf-8")
    found = auditing.score_confusion(path)
    assert (found.exact_grade.count, found.exact_grade.total) == (254, 300)
    figures = (found.exact_grade.value, found.kappa_linear, found.exact_grade.low, found.exact_grade.high)
    assert figures == pytest.approx((0.847, 0.801, 0.802, 0.883), abs=0.0005)
    assert found.kappa_linear_interval is not None
    assert found.kappa_linear_interval[0] < 0.801 < found.kappa_linear_interval[1]
    assert found.kappa == pytest.approx(1 - (46 / 300) / (1 - (8 * 4 + 88 * 90 + 140 * 153 + 64 * 53) / 300**2))


def test_the_studys_conditions(tmp_path: Path) -> None:
    """710 conditions, 661 alike, 560 yes of A and 555 of E: that is one table."""
    path = tmp_path / "table.json"
    path.write_text("[[128, 22], [27, 533]]", "utf-8")
    found = auditing.score_confusion(path)
    assert (found.exact_grade.count, found.exact_grade.total) == (661, 710)
    chance = (560 * 555 + 150 * 155) / 710**2
    assert found.kappa == found.kappa_linear == pytest.approx((661 / 710 - chance) / (1 - chance))
    assert found.kappa_linear is not None
    assert found.kappa_linear_interval is not None
    assert found.kappa_linear_interval[0] < found.kappa_linear < found.kappa_linear_interval[1]


@pytest.mark.parametrize(
    "text",
    ["[[1, 2]]", "[[1, 2], [3]]", "[]", "[[]]", "[[0, 0], [0, 0]]", "[[1, -2], [3, 4]]", "[[1.5, 2], [3, 4]]",
     '[["1", 2], [3, 4]]', "[[true, 2], [3, 4]]", "[[NaN, 2], [3, 4]]", "{}", "", "[[1, 2], [3, 99999999999999999999]]",
     "[1, 2]", "null"],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as raised:
        auditing.score_confusion(path)
    assert {finding.code for finding in raised.value.findings} == {"bad-record"}
