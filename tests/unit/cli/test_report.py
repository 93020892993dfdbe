"""``report``: a sheet to read, and the verdicts on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def sheet(run: Callable[..., Any], built: Path) -> Path:
    """The sheet of a build."""
    done = run("report", "sheet", "-w", built, "--json")
    assert done.code == 0, done.err
    return built / Path(json.loads(done.out)["result"]["sheet"])


def fill(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    best = {"condition": "good", "cluster": "right", "fact": "right", "query": "acceptable"}
    return [{**row, "verdict": best[row["kind"]], "reader": "a test"} for row in rows]


def test_a_sheet_shows_what_the_build_holds(sheet: Path, built: Path) -> None:
    rows = rows_of(sheet)
    ids = {
        row["condition_id"]: {alias["form"] for alias in row["aliases"]}
        for row in rows_of(built / "inventory/main/P0/conditions.jsonl")
    }
    facts = {
        (row["condition_id"], row["doc_id"], page)
        for row in rows_of(built / "inventory/main/P0/evidence.jsonl")
        for page in row["pages"]
    }
    queries = {row["query_id"]: row["golds"] for row in rows_of(built / "benchmarks/main/queries.jsonl")}
    assert {row["kind"] for row in rows} >= {"condition", "fact", "query"}
    for row in rows:
        name = row["item_id"].split("/")[1]
        for place in row["places"]:
            assert (place["condition_id"], place["doc_id"], place["page"]) in facts
            marked = place["text"].split("**")[1].casefold().replace("-", " ")
            assert marked in {form.casefold().replace("-", " ") for form in ids[place["condition_id"]]}
        if row["kind"] == "query":
            assert {place["doc_id"] for place in row["places"]} <= set(queries[name])
        else:
            assert name in ids
        assert (row["verdict"], row["reader"], row["note"]) == (None, None, None)
    assert len({row["item_id"] for row in rows}) == len(rows)
    assert (sheet.parent / "sheet.md").read_text().count("\n### ") == len(rows)


def test_a_sheet_is_the_same_for_the_same_seed(run: Callable[..., Any], sheet: Path, built: Path) -> None:
    first = sheet.read_bytes()
    assert run("report", "sheet", "-w", built).code == 0
    assert sheet.read_bytes() == first
    assert run("report", "sheet", "-w", built, "--seed", "12").code == 0
    assert (sheet.parent.parent / "seed-12" / "sheet.jsonl").read_bytes() != first


def test_page_text_stays_out_of_version_control(sheet: Path) -> None:
    assert "*" in (sheet.parent / ".gitignore").read_text().splitlines()


def test_verdicts_are_counted_and_published_without_text(
    run: Callable[..., Any], sheet: Path, built: Path, tmp_path: Path
) -> None:
    write_rows(sheet, fill(rows_of(sheet)))
    done = run("report", "verdicts", sheet, "-w", built, "--json", "--without-text", tmp_path / "verdicts.jsonl")
    assert done.code == 0, done.err
    result = json.loads(done.out)["result"]
    assert result["readers"] == ["a test"]
    assert all(stratum["shares"][0]["share"] == 1.0 for stratum in result["strata"])
    published = rows_of(tmp_path / "verdicts.jsonl")
    assert {place["text"] for row in published for place in row["places"]} == {None}
    again = run("report", "verdicts", tmp_path / "verdicts.jsonl", "-w", built, "--json")
    assert json.loads(again.out)["result"]["strata"] == result["strata"]


def test_verdicts_are_not_overwritten_unless_asked(run: Callable[..., Any], sheet: Path, built: Path) -> None:
    write_rows(sheet, fill(rows_of(sheet)))
    before = sheet.read_bytes()
    done = run("report", "sheet", "-w", built)
    assert (done.code, sheet.read_bytes()) == (2, before)
    assert "has verdicts already" in done.err
    assert run("report", "sheet", "-w", built, "--fresh").code == 0
    assert all(row["verdict"] is None for row in rows_of(sheet))


def test_verdicts_on_another_build_are_refused(run: Callable[..., Any], sheet: Path, built: Path) -> None:
    path = built / "benchmarks/main/queries.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    done = run("report", "verdicts", sheet, "-w", built, "--json")
    assert done.code == 3
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["code"], finding["line"]) == ("digest-differs", 1)


@pytest.mark.parametrize(
    ("change", "code"),
    [({"verdict": "fine", "reader": "x"}, "bad-record"), ({"verdict": "good"}, "bad-record"), (None, "duplicate-id")],
)
def test_bad_sheets_are_refused(
    run: Callable[..., Any], sheet: Path, built: Path, change: dict[str, Any] | None, code: str
) -> None:
    rows = rows_of(sheet)
    write_rows(sheet, [rows[0], *rows] if change is None else [{**rows[0], **change}, *rows[1:]])
    done = run("report", "verdicts", sheet, "-w", built, "--json")
    assert done.code == 3
    assert [finding["code"] for finding in json.loads(done.out)["findings"]] == [code]


def test_a_build_that_is_not_whole_has_no_sheet(run: Callable[..., Any], fresh: Path) -> None:
    done = run("report", "sheet", "-w", fresh)
    assert done.code == 2
    assert "nclue-build run" in done.err
