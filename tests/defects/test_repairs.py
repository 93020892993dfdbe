"""Repairs of a tiny build: what decisions do to it, what its gate says then, and that no fault in them passes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError, OutcomeError, UsageError
from nclue_build.workflow.lock import build_lock
from nclue_build.workflow.repairing import RepairOptions, repair_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.records.repair import RepairReport

Row = dict[str, Any]
ADAPTATION, CLIMATE = "climate-change-adaptation_bcfc7306", "climate-change_f28d567c"
WATER, WHO = "water-rights_36e568b9", "who_30e8a5e1"
THREE, CLIMATE_WATER, WATER_WHO = "q_f647a5dad3", "q_3cf5327d7a", "q_97480fe057"


def positive(key: str, query: str, doc_id: str, condition: str, page: int, quote: str, **other: object) -> Row:
    row: Row = {"decision_id": key, "query_id": query, "doc_id": doc_id, "condition_id": condition, "present": True}
    row |= {"pages": [page], "pages_shown": [page], "quotes": [{"page": page, "quote": quote}]}
    return row | {"basis": "majority", "reason": "both saw it", "responses": ["A", "E"]} | other


def negative(key: str, query: str, doc_id: str, condition: str, shown: list[int], **other: object) -> Row:
    row: Row = {"decision_id": key, "query_id": query, "doc_id": doc_id, "condition_id": condition, "present": False}
    row |= {"pages": [], "pages_shown": shown, "quotes": []}
    return row | {"basis": "majority", "reason": "not there", "responses": ["A", "E"]} | other


SINGLE_PAGE = positive("J1", WATER_WHO, "beta", WHO, 1, "Water rights under climate change.")
OVERRIDE = positive("J2", WATER_WHO, "zeta", WHO, 2, "A changing climate.", basis="administrative")
FILLS = positive("J3", THREE, "alpha", WHO, 2, "The changing climate worries farmers.")
UNRESOLVED = negative("J4", CLIMATE_WATER, "alpha", CLIMATE, [1])
LAST_GOLD = negative("J5", CLIMATE_WATER, "zeta", WATER, [1, 2])


@pytest.fixture
def repair(tiny: Any, tmp_path: Path) -> Callable[..., RepairReport]:
    def run(*rows: Row, **options: Any) -> RepairReport:
        path = tmp_path / "decisions.jsonl"
        tiny.write(path, list(rows))
        return repair_build(path, tiny.build.workspace, "tiny", options=RepairOptions(**options))

    return run


@pytest.fixture
def sound(tiny: Any) -> Callable[[], None]:
    def check() -> None:
        result = tiny.run()
        assert result.findings == ()
        assert tiny.validate().findings == ()

    return check


def qrel(tiny: Any, query: str, doc_id: str) -> Row:
    rows: list[Row] = tiny.read(tiny.benchmark / "qrels.jsonl")
    return next(row for row in rows if (row["query_id"], row["doc_id"]) == (query, doc_id))


def files(tiny: Any) -> dict[str, bytes]:
    return {
        str(path.relative_to(tiny.build.workspace.root)): path.read_bytes()
        for folder in (tiny.build.inventory, tiny.benchmark)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".nclue-tmp" not in str(path)
    }


def test_two_conditions_on_one_page_stay_partial(
    tiny: Any, repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    repair(SINGLE_PAGE)
    row = qrel(tiny, WATER_WHO, "beta")
    assert (row["clue_count"], row["grade"], row["gold"], row["gate"]) == (2, 1, False, "single_page")
    assert row["evidence"] == [
        {"condition_id": WHO, "page": 1, "quote": "Water rights under climate change.", "call_key": None}
    ]
    sound()


def test_a_page_added_for_one_query_demotes_the_gold_of_another(
    tiny: Any, repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    report = repair(OVERRIDE, FILLS)
    assert report.transitions is not None
    assert (report.transitions.subset_to_gold, report.transitions.gold_to_subset) == (1, 1)
    listed = {(row.query_id, row.doc_id): row for row in report.changes}
    demoted = listed[WATER_WHO, "alpha"]
    assert (demoted.audited, demoted.decisions) == (False, ("J3",))
    assert demoted.after is not None
    assert (demoted.after.grade, demoted.after.gate) == (1, "single_page")
    unaudited = {(row.query_id, row.doc_id) for row in report.changes if not row.audited}
    assert unaudited == {(WATER_WHO, "alpha"), (THREE, "zeta")}
    text = (tiny.benchmark / "changes.md").read_text("utf-8")
    assert (
        "`alpha`: **gold lost**, grade 2 gold (ok; pages 1, 2 / 3) -> grade 1 (single_page; pages 1, 2 / 2, 3)" in text
    )
    assert "`zeta`: **gold won**, grade 1 (incomplete; pages 1 / none) -> grade 2 gold (ok; pages 1 / 2)" in text
    assert text.index("## Golds won and lost") < text.index("## Other judgments") < text.index("## Decisions")
    assert "| 1 -> 2 | 2 | 1 | 1 | 0 |" in text
    assert '"WHO" (`who_30e8a5e1`) in `alpha` is present: pages 3 -> 2, 3. Asked for `q_f647a5dad3`' in text
    assert '  - page 2: "The changing climate worries farmers."' in text
    assert "because of `J3`, not looked at itself" in text
    assert qrel(tiny, WATER_WHO, "zeta")["gold"]
    sound()


def test_a_query_that_loses_its_last_gold_goes_with_all_its_rows(
    tiny: Any, repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    report = repair(LAST_GOLD)
    assert report.transitions is not None
    (gone,) = report.transitions.removed_queries
    assert (gone.query_id, gone.reason, gone.decisions) == (CLIMATE_WATER, "no_gold", ("J5",))
    for name in ("queries.jsonl", "qrels.jsonl", "qrels.trec", "qrels.conditions.trec", "beir/qrels/test.tsv"):
        assert CLIMATE_WATER not in (tiny.benchmark / name).read_text("utf-8")
    assert CLIMATE_WATER in (tiny.benchmark / "at-P0" / "qrels.trec").read_text("utf-8")
    assert not (tiny.benchmark / "at-P0" / "beir").exists()
    sound()
    # A document that turns out to have both brings it back: all decisions count together, from P0.
    back = repair(positive("J6", CLIMATE_WATER, "epsilon", WATER, 2, "The WHO met."))
    assert back.transitions is not None
    assert [row.query_id for row in back.transitions.restored_queries] == [CLIMATE_WATER]
    assert [row["version"] for row in tiny.read(tiny.benchmark / "repairs.jsonl")] == [1, 2]
    sound()


def test_an_absence_on_some_of_the_pages_is_unresolved(
    repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    report = repair(UNRESOLVED)
    assert [(row.effect, row.old, row.new) for row in report.repairs] == [("unresolved", (1, 2), (1, 2))]
    assert report.changes == ()
    sound()
    # The pages that several decisions looked at count together.
    report = repair(negative("J7", CLIMATE_WATER, "alpha", CLIMATE, [2, 3]))
    assert [(row.effect, row.old, row.new) for row in report.repairs] == [("applied", (1, 2), ())]
    sound()


def test_the_same_decisions_again_change_nothing_and_order_is_nothing(
    tiny: Any, repair: Callable[..., RepairReport]
) -> None:
    repair(SINGLE_PAGE, OVERRIDE, UNRESOLVED)
    once = files(tiny)
    report = repair(UNRESOLVED, OVERRIDE, SINGLE_PAGE)
    assert (report.written, report.new_decisions, report.known_decisions, report.version) == (False, 0, 3, 1)
    assert files(tiny) == once


def test_versions_in_any_order_come_to_the_same_judgments(
    tiny: Any, repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    repair(LAST_GOLD)
    repair(OVERRIDE, SINGLE_PAGE)
    sound()
    names = ("queries.jsonl", "qrels.jsonl", "qrels.trec", "qrels.pages.trec", "n2/qrels.trec")
    stepwise = {name: (tiny.benchmark / name).read_bytes() for name in names}
    evidence = (tiny.build.version(2) / "evidence.jsonl").read_bytes()
    for folder in (tiny.build.version(1), tiny.build.version(2)):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    for path in sorted((tiny.benchmark / "at-P0").rglob("*")):
        if path.is_file():
            target = tiny.benchmark / path.relative_to(tiny.benchmark / "at-P0")
            target.unlink(missing_ok=True)
            target.write_bytes(path.read_bytes())
    repair(SINGLE_PAGE, LAST_GOLD, OVERRIDE)
    assert {name: (tiny.benchmark / name).read_bytes() for name in names} == stepwise
    assert (tiny.build.version(1) / "evidence.jsonl").read_bytes() == evidence


def test_any_decisions_in_two_steps_leave_what_one_step_leaves_and_the_gate_passes(tiny: Any, tmp_path: Path) -> None:
    """Random decisions without conflicts, in any order and in two repairs or one: the same judgments, and sound."""
    saved = {folder: tmp_path / "saved" / folder.name for folder in (tiny.build.inventory, tiny.benchmark)}
    for folder, copy in saved.items():
        shutil.copytree(folder, copy / folder.parent.name)
    queries = {row["query_id"]: row for row in tiny.read(tiny.benchmark / "queries.jsonl")}
    documents = ["alpha", "beta", "delta", "epsilon", "gamma", "zeta"]
    written = ("queries.jsonl", "qrels.jsonl", "qrels.trec", "qrels.conditions.trec", "qrels.pages.trec")
    n_repaired = 0
    for seed in (1, 2, 4):
        random = Random(seed)  # noqa: S311 - a test
        rows: list[Row] = []
        outcome: dict[tuple[str, str], bool] = {}
        for number in range(8):
            query, doc_id = random.choice(list(queries.values())), random.choice(documents)
            condition = random.choice(query["conditions"])["condition_id"]
            pages = tiny.read(tiny.build.page_file(doc_id))
            page = random.choice(pages)
            texts = [block["text"] for block in page["blocks"] if block["role"] != "header"]
            texts = [text for text in texts if len(text.split()) > 2]
            present = outcome.setdefault((condition, doc_id), bool(texts) and random.random() < 0.6)
            where = (f"J{number}", query["query_id"], doc_id, condition)
            if not present:
                rows.append(
                    negative(*where, sorted(random.sample(range(1, len(pages) + 1), random.randint(1, len(pages)))))
                )
            elif texts:
                rows.append(positive(*where, page["page"], random.choice(texts)))
        found = []
        for steps in ([rows], [rows[5:], rows[:5]]):
            for folder, copy in saved.items():
                shutil.rmtree(folder)
                shutil.copytree(copy / folder.parent.name, folder)
            try:
                for step in steps:
                    tiny.write(tmp_path / "d.jsonl", random.sample(step, len(step)))
                    repair_build(tmp_path / "d.jsonl", tiny.build.workspace, "tiny")
                    assert tiny.run().findings == ()
            except OutcomeError:
                break  # no query is left, or none between the two
            found.append([(tiny.benchmark / name).read_bytes() for name in written])
            found[-1].append((tiny.build.version(tiny.build.versions()[-1]) / "evidence.jsonl").read_bytes())
            n_repaired += 1
        assert all(one == found[0] for one in found)
    assert n_repaired > 3


def test_under_scope_pair_only_the_audited_query_sees_it(
    tiny: Any, repair: Callable[..., RepairReport], sound: Callable[[], None]
) -> None:
    report = repair(FILLS, OVERRIDE, scope="pair")
    assert report.transitions is not None
    assert report.transitions.gold_to_subset == 0
    assert qrel(tiny, WATER_WHO, "alpha")["gold"]
    assert qrel(tiny, THREE, "alpha")["pages"] == [[1], [1, 2], [2, 3]]
    assert (tiny.p0 / "evidence.jsonl").read_bytes() == (tiny.build.version(1) / "evidence.jsonl").read_bytes()
    sound()
    repair(SINGLE_PAGE)
    sound()


def test_a_dry_run_says_all_and_writes_nothing(tiny: Any, repair: Callable[..., RepairReport]) -> None:
    before = files(tiny)
    dry = repair(OVERRIDE, FILLS, LAST_GOLD, dry_run=True)
    assert files(tiny) == before
    assert not (tiny.build.workspace.root / ".nclue" / "locks").exists()
    wet = repair(OVERRIDE, FILLS, LAST_GOLD)
    assert dry.model_copy(update={"dry_run": False, "written": True}) == wet


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (SINGLE_PAGE | {"query_id": "q_none"}, "unknown-query"),
        (SINGLE_PAGE | {"doc_id": "copy"}, "unknown-document"),
        (SINGLE_PAGE | {"condition_id": CLIMATE}, "unknown-condition"),
        (positive("J1", WATER_WHO, "beta", WHO, 3, "Nothing of the kind."), "decision-page"),
        (negative("J1", WATER_WHO, "beta", WATER, [1, 9]), "decision-page"),
        (positive("J1", WATER_WHO, "beta", WHO, 2, "Water rights under climate change."), "quote-not-on-page"),
        (positive("J1", WATER_WHO, "alpha", WHO, 1, "WHO"), "quote-not-on-page"),
        (SINGLE_PAGE | {"quotes": []}, "bad-record"),
        (SINGLE_PAGE | {"pages": []}, "bad-record"),
        (LAST_GOLD | {"pages_shown": []}, "bad-record"),
        (LAST_GOLD | {"quotes": [{"page": 1, "quote": "Of"}]}, "bad-record"),
        (SINGLE_PAGE | {"basis": "feeling"}, "bad-record"),
    ],
)
def test_bad_decisions_are_refused_with_their_line(
    tiny: Any, repair: Callable[..., RepairReport], row: Row, code: str
) -> None:
    before = files(tiny)
    with pytest.raises(DataError) as raised:
        repair(OVERRIDE, row)
    assert {(finding.code, finding.line) for finding in raised.value.findings} == {(code, 2)}
    assert files(tiny) == before


def encoded(row: Row, **changes: object) -> bytes:
    return json.dumps(row | changes, ensure_ascii=False).encode() + b"\n"


HOSTILE: dict[str, tuple[bytes, set[tuple[str, int | None]]]] = {
    "byte order mark": (b"\xef\xbb\xbf" + encoded(OVERRIDE), {("byte-order-mark", 1)}),
    "UTF-16": (encoded(OVERRIDE).decode().encode("utf-16"), {("bad-record", 1), ("bad-record", 2)}),
    "bytes that are no UTF-8": (
        encoded(OVERRIDE) + encoded(SINGLE_PAGE).replace(b"saw", b"s\xe4w"), {("bad-record", 2)},
    ),
    "a lone surrogate": (encoded(SINGLE_PAGE).replace(b"both", rb"\ud800"), {("bad-record", 1)}),
    "a list of rows": (b"[" + encoded(OVERRIDE).strip() + b"]\n", {("bad-record", 1)}),
    "cut off": (encoded(OVERRIDE) + encoded(SINGLE_PAGE)[:90], {("bad-record", 2)}),
    "a key that stands twice": (
        encoded(OVERRIDE).replace(b"{", b'{"present":true,', 1) + encoded(SINGLE_PAGE), {("bad-record", 1)},
    ),
    "pages of text": (encoded(SINGLE_PAGE, pages=["1"]), {("bad-record", 1)}),
    "pages of decimals": (encoded(SINGLE_PAGE, pages=[1.0]), {("bad-record", 1)}),
    "pages of truth": (encoded(SINGLE_PAGE, pages=[True]), {("bad-record", 1)}),
    "page 0": (encoded(SINGLE_PAGE, pages=[0], quotes=[{"page": 0, "quote": "x"}]), {("bad-record", 1)}),
    "a negative page": (encoded(UNRESOLVED, pages_shown=[-1]), {("bad-record", 1)}),
    "a huge page": (encoded(UNRESOLVED, pages_shown=[10**30]), {("bad-record", 1)}),
    "a large page": (encoded(UNRESOLVED, pages_shown=[2**31 - 1]), {("decision-page", 1)}),
    "pages that repeat": (encoded(UNRESOLVED, pages_shown=[1, 1]), {("bad-record", 1)}),
    "pages out of order": (encoded(UNRESOLVED, pages_shown=[2, 1]), {("bad-record", 1)}),
    "presence in a word": (encoded(SINGLE_PAGE, present="yes"), {("bad-record", 1)}),
    "a field too many": (encoded(SINGLE_PAGE, retracts="J2"), {("bad-record", 1)}),
    "an id with a path": (encoded(SINGLE_PAGE, decision_id="../J1"), {("bad-record", 1)}),
    "no reason": (encoded(SINGLE_PAGE, reason=""), {("bad-record", 1)}),
    "a quote of nothing": (
        encoded(SINGLE_PAGE, quotes=[{"page": 1, "quote": "\u00ad\u200b "}]),
        {("quote-not-on-page", 1), ("quote-too-short", 1)},
    ),
    "a quote that stands anywhere": (
        encoded(SINGLE_PAGE, quotes=[{"page": 1, "quote": "e"}]), {("quote-too-short", 1)},
    ),
    "a quote of two words that name nothing": (
        encoded(SINGLE_PAGE, quotes=[{"page": 1, "quote": "Water rights"}]), {("quote-too-short", 1)},
    ),
    "a quote of a running header": (
        encoded(positive("J1", THREE, "alpha", WHO, 1, "WHO Climate")), {("quote-not-on-page", 1)},
    ),
    "a document beside the benchmark": (encoded(SINGLE_PAGE, doc_id="copy"), {("unknown-document", 1)}),
    "everything at once": (
        encoded(OVERRIDE) + encoded(OVERRIDE) + encoded(SINGLE_PAGE, query_id="q_no", doc_id="no")
        + encoded(negative("J9", WATER_WHO, "zeta", WHO, [1, 2])) + b"{}\n",
        {("duplicate-decision", 2), ("unknown-query", 3), ("unknown-document", 3), ("decision-conflict", 4),
         ("bad-record", 5)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_whole(tiny: Any, tmp_path: Path, name: str) -> None:
    data, wanted = HOSTILE[name]
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(data)
    before = files(tiny)
    with pytest.raises(DataError) as raised:
        repair_build(path, tiny.build.workspace, "tiny")
    assert {(finding.code, finding.line) for finding in raised.value.findings} == wanted
    assert files(tiny) == before
    assert [left.name for left in tmp_path.rglob("*nclue-tmp*")] == []


def test_files_in_other_forms_are_read_alike(tiny: Any, tmp_path: Path, sound: Callable[[], None]) -> None:
    """Line ends of Windows, blank lines, no last line end; other spaces and line ends in quotes, and folded width."""
    fancy = positive("J2", WATER_WHO, "zeta", WHO, 2, "A\u00a0chang\u00ading\r\n\uff43limate.", basis="administrative")
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(b"\r\n" + encoded(fancy).replace(b"\n", b"\r\n") + b"\n\n" + encoded(SINGLE_PAGE).strip())
    report = repair_build(path, tiny.build.workspace, "tiny")
    assert (report.new_decisions, report.version) == (2, 1)
    sound()


def test_a_heading_that_names_the_condition_is_quote_enough(repair: Callable[..., RepairReport]) -> None:
    report = repair(positive("J1", WATER_WHO, "beta", WATER, 1, "Water rights"))
    assert [row.effect for row in report.repairs] == ["unchanged"]


def test_a_file_without_decisions_and_a_missing_one(tiny: Any, tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    with pytest.raises(DataError, match="file not found"):
        repair_build(path, tiny.build.workspace, "tiny")
    with pytest.raises(DataError, match="is a folder"):
        repair_build(tmp_path, tiny.build.workspace, "tiny")
    path.write_bytes(b"")
    before = files(tiny)
    report = repair_build(path, tiny.build.workspace, "tiny")
    assert (report.written, report.version, report.new_decisions, report.known_decisions) == (False, 0, 0, 0)
    assert files(tiny) == before


def test_many_decisions_in_any_order(tiny: Any, tmp_path: Path) -> None:
    """Hundreds of rows that say two things, in two orders: the same report."""
    many = [row | {"decision_id": f"{row['decision_id']}-{number}"} for number in range(400)
            for row in (OVERRIDE, UNRESOLVED)]  # fmt: skip
    path = tmp_path / "decisions.jsonl"
    reports = []
    for rows in (many, many[::-1]):
        tiny.write(path, rows)
        reports.append(repair_build(path, tiny.build.workspace, "tiny", options=RepairOptions(dry_run=True)))
    assert reports[0] == reports[1]
    assert reports[0].new_decisions == 800


def test_a_conflict_names_both_decisions(tiny: Any, repair: Callable[..., RepairReport]) -> None:
    with pytest.raises(DataError, match=r"J9 says absent, J2 \(line 1\) says present"):
        repair(OVERRIDE, negative("J9", WATER_WHO, "zeta", WHO, [1, 2]))
    with pytest.raises(DataError, match=r"\[decision-conflict\]"):
        repair(OVERRIDE, negative("J9", WATER_WHO, "zeta", WHO, [1, 2]))
    repair(OVERRIDE)
    before = files(tiny)
    with pytest.raises(DataError, match=r"J9 says absent, J2 \(applied by P1\) says present"):
        repair(negative("J9", WATER_WHO, "zeta", WHO, [1, 2]))
    with pytest.raises(DataError, match="a decision of this id with other contents"):
        repair(OVERRIDE | {"reason": "another"})
    with pytest.raises(DataError, match="of this id under scope inventory"):
        repair(OVERRIDE, scope="pair")
    with pytest.raises(DataError, match=r"'J8' stands twice \(first in line 1\) \[duplicate-decision\]"):
        repair(SINGLE_PAGE | {"decision_id": "J8"}, SINGLE_PAGE | {"decision_id": "J8"})
    assert files(tiny) == before


def test_without_a_query_left_nothing_is_repaired(tiny: Any, repair: Callable[..., RepairReport]) -> None:
    before = files(tiny)
    with pytest.raises(OutcomeError, match="no query has a gold"):
        repair(LAST_GOLD, negative("J8", WATER_WHO, "alpha", WHO, [3]))
    assert files(tiny) == before


def test_a_build_without_pages_is_refused(tiny_documents: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="knows no pages"):
        repair_build(tmp_path / "any.jsonl", tiny_documents.build.workspace, "tiny")


def test_runs_are_scored_before_and_after(repair: Callable[..., RepairReport], tmp_path: Path) -> None:
    for name, order in (("first", ("alpha", "zeta", "beta")), ("last", ("beta", "zeta", "alpha"))):
        rows = [
            f"{query} Q0 {doc_id} {rank} {10 - rank} {name}\n"
            for query in sorted((THREE, CLIMATE_WATER, WATER_WHO))
            for rank, doc_id in enumerate(order, start=1)
        ]
        (tmp_path / f"{name}.trec").write_text("".join(rows), "utf-8")
    runs = (tmp_path / "first.trec", tmp_path / "last.trec")
    for dry_run in (True, False):
        report = repair(LAST_GOLD, OVERRIDE, dry_run=dry_run, runs=runs)
        first, last = report.runs
        # Of three queries alpha leads two as a gold, zeta is one of the third; then two queries are left.
        assert (first.before["n_clue_score"], first.after["n_clue_score"]) == pytest.approx((200 / 3, 100))
        assert (last.before["gold_hit"], last.after["gold_hit"]) == (100, 100)
        by_measure = {row.measure: row for row in report.agreement}
        assert by_measure["n_clue_score"].spearman == pytest.approx(1)
        assert by_measure["gold_hit"].spearman is None


FAULTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a decision is dropped from its version": (
        lambda tiny: tiny.edit(tiny.build.version(1) / "decisions.jsonl", lambda rows: rows.pop()),
        "decisions-differ",
    ),
    "a page is added to the evidence": (
        lambda tiny: tiny.edit(
            tiny.build.version(1) / "evidence.jsonl",
            lambda rows: rows[-1].update(pages=[1, 2, 3], mentions=[1, 1, 1], in_heading=[False, False, False]),
        ),
        "evidence-pages-differ",
    ),
    "a row of evidence is gone": (
        lambda tiny: tiny.edit(tiny.build.version(1) / "evidence.jsonl", lambda rows: rows.pop()),
        "missing-evidence",
    ),
    "a condition has other frequencies": (
        lambda tiny: tiny.edit(
            tiny.build.version(1) / "conditions.jsonl", lambda rows: rows[0].update(document_frequency=9)
        ),
        "condition-frequency-differs",
    ),
    "a quote of a decision is not on its page": (
        lambda tiny: tiny.edit(
            tiny.build.version(1) / "decisions.jsonl",
            lambda rows: rows[0]["quotes"][0].update(quote="Nothing of the kind."),
        ),
        "quote-not-on-page",
    ),
    "decisions were turned round": (
        lambda tiny: tiny.edit(
            tiny.build.version(1) / "decisions.jsonl",
            lambda rows: rows[0].update(present=False, pages=[], quotes=[], pages_shown=[1, 2]),
        ),
        "extra-evidence",
    ),
    "a version has another parent": (
        lambda tiny: tiny.edit_json(tiny.build.version(1) / "version.json", lambda value: value.update(parent=None)),
        "version-counts-differ",
    ),
    "a query was removed that has a gold": (
        lambda tiny: tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows.pop(0)),
        "query-missing",
    ),
    "a query has come that was not composed": (
        lambda tiny: tiny.edit(tiny.benchmark / "at-P0" / "queries.jsonl", lambda rows: rows.pop()),
        "unknown-query",
    ),
    "transitions were counted otherwise": (
        lambda tiny: tiny.edit_json(
            tiny.benchmark / "transitions.json", lambda value: value.update(unaudited_changes=7)
        ),
        "repair-differs",
    ),
    "a file of the version was edited": (
        lambda tiny: tiny.edit(tiny.build.version(1) / "decisions.jsonl", lambda rows: rows[0].update(reason="?")),
        "digest-differs",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_in_a_repaired_build_is_found(tiny: Any, repair: Callable[..., RepairReport], fault: str) -> None:
    repair(OVERRIDE, LAST_GOLD)
    assert tiny.codes() == set()
    plant, code = FAULTS[fault]
    plant(tiny)
    assert code in tiny.codes()


def test_a_forged_override_is_found(tiny: Any, repair: Callable[..., RepairReport]) -> None:
    repair(FILLS, scope="pair")
    tiny.edit(tiny.build.version(1) / "pair_overrides.jsonl", lambda rows: rows[0].update(pages=[1, 2, 3]))
    assert "override-differs" in tiny.codes()


KILLED = """
import sys
from pathlib import Path
from nclue_build.workflow import repairing, switching
import os

left = int(sys.argv[2])

def counting(function):
    def call(*args, **kwargs):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return function(*args, **kwargs)
    return call

for module, name in (
    (repairing, "write_version"), (repairing, "write_benchmark"), (repairing, "write_text"), (repairing, "keep_older"),
    (switching, "write_bytes"), (switching, "sync_folder"), (switching, "exchange_folders"), (switching, "_finish"),
    (switching, "load_receipt"),
):
    setattr(module, name, counting(getattr(module, name)))
switching.shutil.rmtree = counting(switching.shutil.rmtree)
if sys.argv[3] == "plain":
    from nclue_build.store import exchange
    exchange._exchange = lambda one, other: False
    exchange.sync_folder = counting(exchange.sync_folder)
    Path.rename = counting(Path.rename)
repairing.repair_build(Path(sys.argv[1]) / "decisions.jsonl", Path(sys.argv[1]), "tiny")
"""


@pytest.mark.slow
@pytest.mark.parametrize("exchange", ["exchange", "plain"])
def test_a_kill_leaves_the_old_or_the_new_version_whole(
    tiny: Any, repair: Callable[..., RepairReport], tmp_path: Path, exchange: str
) -> None:
    repair(OVERRIDE)
    before = files(tiny)
    saved = tmp_path.parent / f"{tmp_path.name}-saved"
    shutil.copytree(tmp_path, saved)
    repair(OVERRIDE, LAST_GOLD)
    after = files(tiny)
    outcomes = []
    for point in range(40):
        shutil.rmtree(tmp_path)
        shutil.copytree(saved, tmp_path)
        tiny.write(tmp_path / "decisions.jsonl", [OVERRIDE, LAST_GOLD])
        arguments = [sys.executable, "-c", KILLED, str(tmp_path), str(point), exchange]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
        assert done.returncode in {0, 9}, done.stderr
        with build_lock(tiny.build):
            pass
        now = files(tiny)
        assert now in (before, after), (point, sorted(now.keys() ^ before.keys()))
        assert [path.name for path in tmp_path.rglob("*nclue-tmp*")] == []
        outcomes.append(now == after)
        if done.returncode == 0:
            break
    assert outcomes[-1]
    assert outcomes == sorted(outcomes), "once it is new it stays new"
    assert outcomes.count(False) > 3
    assert tiny.codes() == set()


def test_the_verb(tiny: Any, tmp_path: Path) -> None:
    tiny.write(tmp_path / "d.jsonl", [OVERRIDE, LAST_GOLD])
    command = [sys.executable, "-m", "nclue_build", "-w", str(tmp_path), "-b", "tiny"]
    arguments = [*command, "repair", "--decisions", str(tmp_path / "d.jsonl"), "--json"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    result = json.loads(done.stdout)["result"]
    assert (result["version"], result["transitions"]["queries"]) == (1, [3, 2])
    arguments = [*command, "run", "--fresh"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 2
    assert "P0 of build 'tiny' is stale" in done.stderr
