"""A study with evaluators whose errors are known: do its figures and corrections come out as planted?

    python benches/simulated_audit.py WORKSPACE BUILD FOLDER

WORKSPACE is changed (the build is repaired): take a copy. The inventory is taken for the truth, but for planted errors:
in some absent conditions a page that was shown is taken to establish them, and some conditions with all pages shown
are taken to be absent. Evaluators miss 6 % of what is there and see 2 % of what is not; adjudicators a third of that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from nclue_build.core.errors import DataError
from nclue_build.core.text import matching_text
from nclue_build.inventory.page_text import page_readings
from nclue_build.records.audit import Answer, Override, Packet, Response
from nclue_build.records.benchmark import Query
from nclue_build.records.repair import DecisionQuote
from nclue_build.store.jsonl import read_json, read_jsonl, write_json, write_jsonl
from nclue_build.store.pages import read_pages
from nclue_build.store.workspace import find_build
from nclue_build.workflow import auditing
from nclue_build.workflow.deciding import decide_audit
from nclue_build.workflow.repairing import repair_build
from nclue_build.workflow.runner import run_build

MISS, FALSE, PLANT_PRESENT, PLANT_ABSENT = 0.06, 0.02, 0.15, 0.05
ROLES = ("title", "text", "list", "table", "caption", "footnote")


def study(workspace: Path, name: str, folder: Path) -> dict[str, Any]:  # noqa: C901, PLR0915 - from top to bottom
    """Run the study, repair the build, and give the figures."""
    build = find_build(workspace, name)
    random = np.random.Generator(np.random.PCG64(11))
    _, key = auditing.draw_audit(folder, workspace, name, size=300)
    queries = {row.query_id: row for row in read_jsonl(build.benchmark / "queries.jsonl", Query)}
    packet = read_json(folder / "packet.json", Packet)
    known = {item.item_id: item for item in key.items}
    texts: dict[str, dict[int, str]] = {}
    for doc_id in sorted({item.doc_id for item in key.items}):
        pages = read_pages(build.page_file(doc_id))
        texts[doc_id] = {page.page: "".join(page_readings(page, ROLES)[:1]) for page in pages}

    def quotes(item_id: str, pages: list[int]) -> tuple[DecisionQuote, ...]:
        found = []
        for page in pages:
            words = matching_text(texts[known[item_id].doc_id][page]).split()
            if len(words) >= 8:  # noqa: PLR2004 - enough to quote
                found.append(DecisionQuote(page=page, quote=" ".join(words[:8])))
        return tuple(found)

    truth: dict[tuple[str, str], tuple[int, ...]] = {}
    planted: dict[tuple[str, str], bool] = {}
    said: dict[tuple[str, str], bool] = {}
    for item in packet.items:
        row = known[item.item_id]
        ids = [one.condition_id for one in queries[row.query_id].conditions]
        for asked in item.conditions:
            place, now = (asked.condition_id, row.doc_id), row.pages[ids.index(asked.condition_id)]
            if place not in truth:
                truth[place], said[place] = now, bool(now)
                usable = [quote.page for quote in quotes(item.item_id, list(asked.pages))]
                if not now and usable and random.random() < PLANT_PRESENT:
                    truth[place], planted[place] = (usable[0],), True
                elif now and set(now) <= set(asked.pages) and random.random() < PLANT_ABSENT:
                    truth[place], planted[place] = (), False

    def answer(asked_packet: Packet, evaluator: str, scale: float) -> Response:
        answers = []
        for item in asked_packet.items:
            for asked in item.conditions:
                pages = truth[asked.condition_id, known[item.item_id].doc_id]
                there = [page for page in pages if page in asked.pages]
                chance = random.random()
                yes = chance >= MISS * scale if there else chance < FALSE * scale
                picked = quotes(item.item_id, there or list(asked.pages))[:1] if yes else ()
                answers.append(
                    Answer(
                        item_id=item.item_id, condition_id=asked.condition_id, present=bool(picked),
                        pages=tuple(quote.page for quote in picked), quotes=picked,
                    )
                )  # fmt: skip
        return Response(evaluator=evaluator, answers=tuple(answers))

    for evaluator in ("A", "E"):
        write_json(folder / "responses" / f"{evaluator}.json", answer(packet, evaluator, 1.0))
    agreed = auditing.score_audit(folder, workspace, name).agreement
    queue = auditing.queue_audit(folder, workspace, name)
    pools = auditing.pool_audit(folder, workspace, name)
    open_packet = read_json(folder / "adjudication.json", Packet)
    for evaluator in ("J1", "J2", "J3"):
        write_json(folder / "adjudication" / f"{evaluator}.json", answer(open_packet, evaluator, 1 / 3))
    checked = auditing.check_responses(folder, workspace, name)
    out, overrides = folder / "decisions.jsonl", []
    try:
        decisions = decide_audit(folder, out, workspace, name).decisions
    except DataError as error:  # opposite verdicts on one fact: whoever administers the study reads the pages again
        for finding in error.findings:
            assert (finding.code, finding.id is not None) == ("decision-conflict", True), finding  # noqa: S101
            condition_id = finding.message.split(" ", 1)[0]
            found = truth[condition_id, known[finding.id or ""].doc_id]
            shown = quotes(finding.id or "", list(found))
            overrides.append(
                Override(
                    item_id=finding.id or "",
                    condition_id=condition_id,
                    present=bool(shown),
                    quotes=shown,
                    reason="read again",
                )
            )
        write_jsonl(folder / "overrides.jsonl", overrides)
        decisions = decide_audit(folder, out, workspace, name).decisions
    decided = {(row.condition_id, row.doc_id): row.present for row in decisions}
    conflicts = len(decisions) - len({(row.condition_id, row.doc_id, row.present) for row in decisions})
    right = {place for place, present in decided.items() if planted.get(place) == present}
    asked_again = {
        (one.condition_id, known[item.item_id].doc_id) for item in open_packet.items for one in item.conditions
    }
    visible = [
        bool(set(truth[one.condition_id, known[item.item_id].doc_id]) & set(one.pages))
        for item in packet.items
        for one in item.conditions
    ]
    share = sum(visible) / len(visible)
    alike = [error * error + (1 - error) * (1 - error) for error in (MISS, FALSE)]
    figures: dict[str, object] = {
        "expected_condition_agreement": share * alike[0] + (1 - share) * alike[1],
        "pairs": len(packet.items),
        "findings": len(checked.findings),
        "exact_grade": agreed.exact_grade.model_dump(),
        "condition": agreed.condition.model_dump() if agreed.condition else None,
        "kappa_linear": agreed.kappa_linear,
        "accepted": len(queue.accepted),
        "queued": len(queue.queued),
        "open": len(pools.pools),
        "recall": [pools.recalled_at_6, pools.recalled_at_9, pools.locked],
        "planted": len(planted),
        "planted_present": sum(planted.values()),
        "conflicts_settled": len(overrides),
        "decisions": len(decisions),
        "repeated_places": conflicts,
        "planted_and_decided": len(right),
        "not_planted_and_decided": sorted(map(list, set(decided) - set(planted))),
        "planted_and_not_asked_again_or_accepted": len(set(planted) - set(decided) - asked_again),
    }
    report = repair_build(out, workspace, name)
    figures["transitions"] = report.transitions.model_dump(mode="json") if report.transitions else None
    figures["gate"] = run_build(workspace, name, first="gate", last="gate", fresh=True).ok
    return figures


if __name__ == "__main__":
    print(json.dumps(study(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])), indent=1))
