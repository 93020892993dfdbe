"""Our files in the hands of the tools they are for, and the traps those tools set."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.store.trec import read_trec_qrels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [
    pytest.mark.xdist_group("demo"),  # one run of the demonstration serves all tests of it
    pytest.mark.filterwarnings("ignore"),  # other people's: BEIR leaves files open, ranx has bad escapes
]

FILES = (
    "qrels.trec",
    "qrels.gold.trec",
    "qrels.pages.trec",
    *(f"n{n}/qrels{g}.trec" for n in (2, 3) for g in ("", ".gold")),
)
Judgments = dict[str, dict[str, int]]


def foreign(name: str) -> Any:
    """A library without types; ranx as plain Python, since it compiles itself for a minute."""
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    return importlib.import_module(name)


def with_pytrec_eval(path: Path) -> Judgments:
    with path.open(encoding="utf-8") as stream:
        return {query: dict(rows) for query, rows in foreign("pytrec_eval").parse_qrel(stream).items()}


def with_ir_measures(path: Path) -> Judgments:
    found: Judgments = defaultdict(dict)
    for row in foreign("ir_measures").read_trec_qrels(str(path)):
        found[row.query_id][row.doc_id] = row.relevance
    return dict(found)


def with_ranx(path: Path) -> Judgments:
    found = foreign("ranx").Qrels.from_file(str(path), kind="trec").to_dict()
    return {query: dict(rows) for query, rows in found.items()}


READERS = [with_pytrec_eval, with_ir_measures, with_ranx]


@pytest.fixture(scope="module")
def benchmark(fresh_demo: Path) -> Path:
    return fresh_demo / "benchmarks" / "demo"


@pytest.fixture(scope="module")
def truth(benchmark: Path) -> list[dict[str, Any]]:
    """Our own complete judgments."""
    return [json.loads(line) for line in (benchmark / "qrels.jsonl").read_text(encoding="utf-8").splitlines()]


def by_query(rows: list[dict[str, Any]], *, golds_only: bool) -> Judgments:
    found: Judgments = defaultdict(dict)
    for row in rows:
        if row["gold"] or not golds_only:
            found[row["query_id"]][row["doc_id"]] = 1 if golds_only else row["grade"]
    return dict(found)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FILES)
def test_every_reader_of_trec_files_sees_every_row(
    benchmark: Path, reader: Callable[[Path], Judgments], name: str
) -> None:
    found = reader(benchmark / name)
    lines = [line.split(" ") for line in (benchmark / name).read_text(encoding="ascii").splitlines()]
    assert lines
    assert {(q, d, g) for q, rows in found.items() for d, g in rows.items()} == {(q, d, int(g)) for q, _, d, g in lines}
    assert sum(map(len, found.values())) == len(lines)


@pytest.mark.parametrize("reader", READERS)
def test_the_trec_files_say_what_the_complete_judgments_say(
    benchmark: Path, truth: list[dict[str, Any]], reader: Callable[[Path], Judgments]
) -> None:
    assert reader(benchmark / "qrels.trec") == by_query(truth, golds_only=False)
    assert reader(benchmark / "qrels.gold.trec") == by_query(truth, golds_only=True)


def test_ir_measures_reads_conditions_as_subtopics(benchmark: Path, truth: list[dict[str, Any]]) -> None:
    measures = foreign("ir_measures")
    rows = list(measures.read_trec_qrels(str(benchmark / "qrels.conditions.trec")))
    expected = {
        (row["query_id"], row["doc_id"], str(index))
        for row in truth
        for index, pages in enumerate(row["pages"], 1)
        if pages
    }
    assert {(row.query_id, row.doc_id, row.iteration) for row in rows} == expected
    gold_first = [measures.ScoredDoc(row["query_id"], row["doc_id"], float(row["gold"])) for row in truth]
    recall = measures.StRecall @ 1
    assert measures.calc_aggregate([recall], rows, gold_first)[recall] == 1.0
    gold_last = [measures.ScoredDoc(row["query_id"], row["doc_id"], -float(row["clue_count"])) for row in truth]
    assert measures.calc_aggregate([recall], rows, gold_last)[recall] < 1.0


@pytest.mark.parametrize("split", ["test", "gold"])
def test_beirs_loader_sees_every_document_query_and_judgment(
    benchmark: Path, truth: list[dict[str, Any]], split: str
) -> None:
    loader = foreign("beir.datasets.data_loader").GenericDataLoader(str(benchmark / "beir"))
    corpus, queries, qrels = loader.load(split=split)
    quality = (benchmark.parents[1] / "inventory" / "demo" / "documents_quality.jsonl").read_text(encoding="utf-8")
    kept = {row["doc_id"] for row in map(json.loads, quality.splitlines()) if row.get("in_benchmark")}
    assert set(corpus) == kept
    assert all(document["text"].strip() for document in corpus.values())
    ours = (benchmark / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    assert queries == {row["query_id"]: row["forms"]["clean_v2"] for row in map(json.loads, ours)}
    assert qrels == by_query(truth, golds_only=split == "gold")


def test_datasets_loads_every_configuration(
    benchmark: Path, truth: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = foreign("datasets")
    folder, cache = str(benchmark / "beir"), str(tmp_path)
    corpus = datasets.load_dataset(folder, "corpus", split="corpus", cache_dir=cache)
    queries = datasets.load_dataset(folder, "queries", split="queries", cache_dir=cache)
    qrels = datasets.load_dataset(folder, "default", cache_dir=cache)
    assert corpus.column_names == ["_id", "title", "text", "metadata"]
    assert set(queries["_id"]) == set(by_query(truth, golds_only=False))
    for split, golds_only in (("test", False), ("gold", True)):
        found: Judgments = defaultdict(dict)
        for row in qrels[split]:
            found[row["query-id"]][row["corpus-id"]] = row["score"]
        assert found == by_query(truth, golds_only=golds_only)


def test_measures_agree_where_tools_break_ties_alike(benchmark: Path, truth: list[dict[str, Any]]) -> None:
    """Scores without ties, a run for every query: then three tools give one number."""
    trec, measures, ranx = foreign("pytrec_eval"), foreign("ir_measures"), foreign("ranx")
    run = {
        query: {doc: 1 / (1 + (17 * place) % 101) + place / 1e6 for place, doc in enumerate(sorted(rows))}
        for query, rows in by_query(truth, golds_only=False).items()
    }
    qrels = with_pytrec_eval(benchmark / "qrels.trec")
    per_query = trec.RelevanceEvaluator(qrels, {"ndcg_cut_10"}).evaluate(run)
    first = sum(row["ndcg_cut_10"] for row in per_query.values()) / len(qrels)
    measure = measures.nDCG @ 10
    assert measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(first, abs=1e-9)
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10") == pytest.approx(first, abs=1e-9)


RANX = """
import sys, warnings
warnings.simplefilter("ignore")
import ranx
qrels = ranx.Qrels.from_file(sys.argv[1], kind="trec")
rows = {query: {str(doc): int(grade) for doc, grade in docs.items()} for query, docs in qrels.to_dict().items()}
print(sorted((query, doc, grade) for query, docs in rows.items() for doc, grade in docs.items()))
# No two scores of a query are equal: how ranx orders those depends on whether it is compiled.
score = lambda place: 17 * place % 101 + place / 1e6
run = ranx.Run({q: {doc: score(place) for place, doc in enumerate(sorted(docs))} for q, docs in rows.items()})
print([round(float(ranx.evaluate(qrels, run, measure)), 12) for measure in ("ndcg@10", "mrr", "hit_rate@3")])
"""


@pytest.mark.slow
def test_ranx_says_compiled_what_it_says_as_plain_python(benchmark: Path) -> None:
    answers = []
    for off in ("0", "1"):
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", RANX, str(benchmark / "qrels.trec")],
            env=os.environ | {"NUMBA_DISABLE_JIT": off},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    assert answers[0].count("(") > 500


TRAPS = {
    "duplicate": "q1 0 d1 1\nq1 0 d1 2\nq1 0 d2 1\n",
    "space": "q1 0 d 1 1\nq1 0 d2 1\n",
    "comment": "# judged by hand\nq1 0 d1 1\n",
    "float": "q1 0 d1 1.0\nq1 0 d2 2.0\n",
    "mark": "\ufeffq1 0 d1 1\nq1 0 d2 1\n",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_our_own_reader_names_the_line_of_a_trap(tmp_path: Path, trap: str) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text(TRAPS[trap], encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_trec_qrels(path)
    assert caught.value.findings[0].line == (2 if trap == "duplicate" else 1)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("trap", ["space", "comment", "float"])
def test_other_readers_break_on_what_we_never_write(
    tmp_path: Path, reader: Callable[[Path], Judgments], trap: str
) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text(TRAPS[trap], encoding="utf-8")
    with pytest.raises(ValueError, match=r"too many values to unpack|invalid literal for int"):
        reader(path)


def test_a_pair_judged_twice_stops_trec_eval_and_passes_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text(TRAPS["duplicate"], encoding="utf-8")
    with pytest.raises(AssertionError):
        with_pytrec_eval(path)
    assert len(list(foreign("ir_measures").read_trec_qrels(str(path)))) == 3
    assert with_ranx(path) == {"q1": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize("reader", READERS)
def test_a_byte_order_mark_becomes_part_of_a_query_id(tmp_path: Path, reader: Callable[[Path], Judgments]) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text(TRAPS["mark"], encoding="utf-8")
    assert reader(path) == {"\ufeffq1": {"d1": 1}, "q1": {"d2": 1}}


def test_no_file_of_ours_has_a_trap(benchmark: Path) -> None:
    for name in (*FILES, "qrels.conditions.trec"):
        data = (benchmark / name).read_bytes()
        assert data.endswith(b"\n")
        assert not data.startswith(b"\xef\xbb\xbf")
        lines = data.decode("ascii").splitlines()
        assert all(re.fullmatch(r"\S+ \d+ \S+ [1-9]\d*", line) for line in lines)
        assert max(Counter(line.rsplit(" ", 1)[0] for line in lines).values()) == 1


def test_beirs_loader_loses_the_first_judgment_of_a_file_without_header(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "a"}\n', encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n', encoding="utf-8"
    )
    (tmp_path / "qrels").mkdir()
    load = foreign("beir.datasets.data_loader").GenericDataLoader
    (tmp_path / "qrels" / "test.tsv").write_text("q1\td1\t1\nq2\td1\t1\n", encoding="utf-8")
    assert load(str(tmp_path)).load(split="test")[2] == {"q2": {"d1": 1}}
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t1\n", encoding="utf-8")
    assert load(str(tmp_path)).load(split="test")[2] == {"q1": {"d1": 1}, "q2": {"d1": 1}}


def test_datasets_overlooks_documents_and_queries_of_a_folder_without_card(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = foreign("datasets")
    bare = tmp_path / "bare"
    shutil.copytree(benchmark / "beir", bare)
    assert set(datasets.get_dataset_config_names(str(bare))) == {"corpus", "queries", "default"}
    (bare / "README.md").unlink()
    assert datasets.get_dataset_config_names(str(bare)) == ["default"]


def test_pytrec_eval_alone_averages_over_the_queries_that_a_run_answers() -> None:
    trec, measures, ranx = foreign("pytrec_eval"), foreign("ir_measures"), foreign("ranx")
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    run = {"q1": {"d1": 1.0, "x": 0.5}}
    assert list(trec.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)) == ["q1"]
    assert measures.calc_aggregate([measures.RR], qrels, run)[measures.RR] == 0.5
    with pytest.raises(AssertionError, match="make_comparable"):
        ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr")
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr", make_comparable=True) == 0.5


def test_a_tied_run_scores_differently_from_tool_to_tool() -> None:
    """No id of ours says anything about relevance: what a tool makes of ties favours no grade."""
    trec, measures, ranx = foreign("pytrec_eval"), foreign("ir_measures"), foreign("ranx")
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    assert trec.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"] == pytest.approx(1 / 3)
    assert measures.calc_aggregate([measures.RR], qrels, run)[measures.RR] == pytest.approx(1 / 3)
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "mrr") == 1.0


def code_blocks(repository: Path, kind: str) -> list[str]:
    text = (repository / "docs" / "readers.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def run_block(python: str | Path, code: str, benchmark: Path, home: Path) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    done = subprocess.run(  # noqa: S603 - our own documentation
        [str(python), "-c", code], cwd=benchmark, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{code}\n{done.stderr}"


@pytest.mark.slow
def test_the_code_of_the_documentation_runs(repository: Path, benchmark: Path, tmp_path: Path) -> None:
    blocks = code_blocks(repository, "python")
    assert len(blocks) == 6
    for code in blocks:
        run_block(sys.executable, code, benchmark, tmp_path)


@pytest.mark.slow
def test_mteb_loads_the_folder(
    repository: Path, benchmark: Path, tmp_path: Path, install_apart: Callable[[Path, str], Path]
) -> None:
    """In an environment of its own, which takes minutes to make and several gigabytes."""
    python = install_apart(tmp_path / "venv", "mteb>=2.12,<3")
    (code,) = code_blocks(repository, "python mteb")
    run_block(python, code, benchmark, tmp_path)
