from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.compose.stage import Compose
from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import OutcomeError
from nclue_build.core.text import matching_text
from nclue_build.records.benchmark import Qrel, Query
from nclue_build.records.composition import Composition, FormsQa
from nclue_build.store.jsonl import read_json, read_jsonl
from nclue_build.store.trec import read_trec_qrels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build

    MakeBuild = Callable[..., Build]
    MakeContext = Callable[[Build], StageContext]

SMALL = "n_queries = 60\nn_candidates = 400"


@pytest.fixture(scope="module")
def composed(
    make_build: MakeBuild, make_context: MakeContext, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Build, StageResult]:
    build = make_build(tmp_path_factory.mktemp("composed"), compose=SMALL)
    return build, Compose().run(make_context(build))


@pytest.fixture
def folder(composed: tuple[Build, StageResult]) -> Path:
    return composed[0].benchmark


@pytest.fixture
def queries(folder: Path) -> list[Query]:
    return list(read_jsonl(folder / "queries.jsonl", Query))


@pytest.fixture
def qrels(folder: Path) -> list[Qrel]:
    return list(read_jsonl(folder / "qrels.jsonl", Qrel))


def digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): sha256_file(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_queries_have_both_arities_and_are_sorted(queries: list[Query]) -> None:
    assert len(queries) > 40
    assert {query.n for query in queries} == {2, 3}
    assert [query.query_id for query in queries] == sorted(query.query_id for query in queries)
    for query in queries:
        ids = [condition.condition_id for condition in query.conditions]
        assert ids == sorted(ids)


def test_judgments_are_complete(composed: tuple[Build, StageResult], queries: list[Query], qrels: list[Qrel]) -> None:
    evidence = json_lines(composed[0].version(0) / "evidence.jsonl")
    documents: dict[str, set[str]] = {}
    for row in evidence:
        documents.setdefault(row["condition_id"], set()).add(row["doc_id"])
    expected = {
        (query.query_id, doc_id)
        for query in queries
        for condition in query.conditions
        for doc_id in documents[condition.condition_id]
    }
    assert {(qrel.query_id, qrel.doc_id) for qrel in qrels} == expected
    assert len(qrels) == len(expected) == sum(query.n_judged for query in queries)
    assert [(q.query_id, q.doc_id) for q in qrels] == sorted(expected)
    golds = {query.query_id: query.golds for query in queries}
    assert golds == {
        query_id: tuple(q.doc_id for q in qrels if q.query_id == query_id and q.gold) for query_id in golds
    }


def test_every_gold_has_a_quote_for_every_condition_that_stands_on_its_page(
    composed: tuple[Build, StageResult], queries: list[Query], qrels: list[Qrel]
) -> None:
    names = {condition.condition_id: condition.name for query in queries for condition in query.conditions}
    ids = {query.query_id: [condition.condition_id for condition in query.conditions] for query in queries}
    for qrel in qrels:
        assert [quote.condition_id for quote in qrel.evidence] == (ids[qrel.query_id] if qrel.gold else [])
        pages = {row["page"]: row for row in json_lines(composed[0].page_file(qrel.doc_id))} if qrel.gold else {}
        for quote in qrel.evidence:
            assert quote.page in qrel.pages[ids[qrel.query_id].index(quote.condition_id)]
            assert any(quote.quote in block["text"] for block in pages[quote.page]["blocks"])
            assert names[quote.condition_id] in matching_text(quote.quote)


def test_caps_hold(composed: tuple[Build, StageResult], queries: list[Query]) -> None:
    report = read_json(composed[0].benchmark / "composition.json", Composition)
    busiest = max(Counter(doc for query in queries for doc in query.golds).values())
    assert busiest == report.caps.busiest_gold_queries <= report.caps.max_per_gold
    assert busiest <= max(6, 0.15 * len(queries))
    assert max(Counter(c.condition_id for q in queries for c in q.conditions).values()) <= 5
    assert report.n_queries == len(queries)
    assert sum(row.queries for row in report.mix if row.stratum == "n") == len(queries)
    assert {row.value: row.queries for row in report.mix if row.stratum == "relaxation"} == Counter(
        query.relaxation or "strict" for query in queries
    )


def test_trec_files_agree_with_the_qrels(folder: Path, qrels: list[Qrel], queries: list[Query]) -> None:
    graded = read_trec_qrels(folder / "qrels.trec")
    assert [(r.query_id, r.doc_id, r.grade) for r in graded] == [(q.query_id, q.doc_id, q.grade) for q in qrels]
    gold = read_trec_qrels(folder / "qrels.gold.trec")
    assert [(r.query_id, r.doc_id) for r in gold] == [(q.query_id, q.doc_id) for q in qrels if q.gold]
    conditions = read_trec_qrels(folder / "qrels.conditions.trec")
    assert len(conditions) == sum(qrel.clue_count for qrel in qrels)
    pages = read_trec_qrels(folder / "qrels.pages.trec")
    assert sum(row.grade for row in pages) == sum(len(found) for qrel in qrels for found in qrel.pages)
    n = {query.query_id: query.n for query in queries}
    for arity in (2, 3):
        split = read_trec_qrels(folder / f"n{arity}" / "qrels.trec")
        assert split == [row for row in graded if n[row.query_id] == arity]
        assert {r.grade for r in split if r in set(split)} <= set(range(1, arity + 1))


def test_every_candidate_is_a_query_or_rejected(composed: tuple[Build, StageResult], folder: Path) -> None:
    rejected = json_lines(folder / "rejected.jsonl")
    counts = composed[1].counts
    assert counts["candidates"] == counts["queries"] + len(rejected)
    report = read_json(folder / "composition.json", Composition)
    assert counts["candidates"] == sum(sum(step.sampled.values()) for step in report.steps)
    assert [row["id"] for row in rejected] == sorted(row["id"] for row in rejected)


def test_forms_are_proven(folder: Path, queries: list[Query]) -> None:
    proof = read_json(folder / "forms_qa.json", FormsQa)
    assert proof.queries == proof.passed == len(queries)
    assert proof.problems == ()


def test_the_beir_folder(folder: Path, queries: list[Query], qrels: list[Qrel]) -> None:
    corpus = json_lines(folder / "beir" / "corpus.jsonl")
    assert len(corpus) == 30
    assert [row["_id"] for row in corpus] == sorted(row["_id"] for row in corpus)
    assert corpus[0]["title"] == "Report 0"
    assert "Nothing else was decided" in corpus[0]["text"]
    texts = {row["_id"]: row["text"] for row in json_lines(folder / "beir" / "queries.jsonl")}
    assert texts == {query.query_id: query.forms.clean_v2 for query in queries}
    lines = (folder / "beir" / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "query-id\tcorpus-id\tscore"
    assert len(lines) == len(qrels) + 1 == len(json_lines(folder / "beir" / "qrels" / "test.jsonl")) + 1
    golds = {(row["query-id"], row["corpus-id"]) for row in json_lines(folder / "beir" / "qrels" / "gold.jsonl")}
    assert golds == {(row.query_id, row.doc_id) for row in qrels if row.gold}
    assert f"| golds | {len(golds)} |" in (folder / "beir" / "README.md").read_text(encoding="utf-8")


def test_a_shortfall_names_what_binds(make_build: MakeBuild, make_context: MakeContext, tmp_path: Path) -> None:
    build = make_build(tmp_path, compose="n_queries = 5000\nn_candidates = 20")
    result = Compose().run(make_context(build))
    (line,) = [line for line in result.shortfalls if "of the 5000 queries asked for" in line]
    assert "max_per_condition = 5 stops" in line
    assert "n_candidates = 20 lets 80 of" in line


def test_no_query_possible_says_what_to_change(
    make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose="min_subsets = 200")
    with pytest.raises(OutcomeError, match=r"no query is possible: 'few_subsets' .* lower \[compose\] min_subsets"):
        Compose().run(make_context(build))
    assert not build.benchmark.exists()


def test_input_order_does_not_matter(
    composed: tuple[Build, StageResult], make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose=SMALL, reverse=True)
    Compose().run(make_context(build))
    ours, theirs = digests(build.benchmark), digests(composed[0].benchmark)
    changed = {name for name in ours if ours[name] != theirs[name]}
    # conditions.jsonl is written sorted, so that even the digests of the inventory agree.
    assert changed == set()


SCRIPT = """
import sys
from pathlib import Path
from nclue_build.compose.stage import Compose
from nclue_build.core.progress import NullProgress
from nclue_build.store.config_file import load_config
from nclue_build.store.stage import StageContext
from nclue_build.store.workspace import Workspace
from nclue_build.workflow.executors import LocalMapper

build = Workspace.find(Path(sys.argv[1])).choose_build()
Compose().run(StageContext(build, load_config(build.config_path), LocalMapper(1), NullProgress()))
"""


@pytest.mark.parametrize("hash_seed", ["0", "1", "31337"])
def test_the_hash_seed_does_not_matter(
    hash_seed: str, composed: tuple[Build, StageResult], make_build: MakeBuild, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose=SMALL)
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": hash_seed[:1]},
    )
    assert digests(build.benchmark) == digests(composed[0].benchmark)


def test_another_seed_makes_another_selection(
    composed: tuple[Build, StageResult], make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose=f"{SMALL}\nseed = 12")
    Compose().run(make_context(build))
    assert digests(build.benchmark)["queries.jsonl"] != digests(composed[0].benchmark)["queries.jsonl"]


def test_a_document_level_build(make_build: MakeBuild, make_context: MakeContext, tmp_path: Path) -> None:
    build = make_build(tmp_path, level="document", compose=f"{SMALL}\nmin_subsets = 1")
    result = Compose().run(make_context(build))
    rows = list(read_jsonl(build.benchmark / "qrels.jsonl", Qrel))
    assert result.counts["queries"] > 0
    assert {row.gate for row in rows} == {"document_level", "incomplete"}
    assert {(row.witness, row.evidence) for row in rows} == {(None, ())}
    assert all(row.gold == (row.gate == "document_level") for row in rows)
    meta = json.loads((build.benchmark / "qrels.meta.json").read_text(encoding="utf-8"))
    assert (meta["level"], meta["item_judge"]) == ("document", "none")
    assert read_trec_qrels(build.benchmark / "qrels.pages.trec") == []


def test_a_beir_folder_of_an_older_build_goes_and_files_of_others_in_it_stay(
    make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    Compose().run(make_context(make_build(tmp_path, compose=f"{SMALL}\nmin_subsets = 1")))
    build = make_build(tmp_path, level="document", compose=f"{SMALL}\nmin_subsets = 1")
    (build.benchmark / "beir" / "notes.txt").write_text("mine")
    Compose().run(make_context(build))
    assert [path.name for path in (build.benchmark / "beir").rglob("*") if path.is_file()] == ["notes.txt"]


def test_a_file_of_somebody_else_among_the_pages_changes_nothing(
    composed: tuple[Build, StageResult], make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose=SMALL)
    (build.pages / "a-note.jsonl").write_text("not a page\n")
    Compose().run(make_context(build))
    assert digests(build.benchmark) == digests(composed[0].benchmark)


@pytest.mark.parametrize("verify", ["golds+hard", "all"])
def test_more_than_golds_can_be_verified(
    verify: str, make_build: MakeBuild, make_context: MakeContext, tmp_path: Path
) -> None:
    build = make_build(tmp_path, compose=f'{SMALL}\nverify = "{verify}"')
    Compose().run(make_context(build))
    rows = list(read_jsonl(build.benchmark / "qrels.jsonl", Qrel))
    judged = [row for row in rows if row.evidence]
    assert len(judged) > sum(row.gold for row in rows)
    if verify == "all":
        assert len(judged) == len(rows)
    assert all(len(row.evidence) == row.clue_count for row in judged)


def test_what_the_stage_declares(composed: tuple[Build, StageResult], make_context: MakeContext) -> None:
    build = composed[0]
    declared = Compose().declare(build, make_context(build).config)
    written = {path for path in build.benchmark.rglob("*") if path.is_file()}
    covered = {path for path in written if any(out == path or out in path.parents for out in declared.outputs)}
    assert covered == written
    assert {path for path in declared.outputs if not path.exists()} == set()
