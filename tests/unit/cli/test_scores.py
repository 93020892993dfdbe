"""``score``, ``compare`` and ``tables`` on the demonstration build and its committed runs."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.records.comparison import ComparisonReport
from nclue_build.records.scores import QueryScore, ScoreReport
from nclue_build.records.tables import TablesReport
from nclue_build.score.benchmark import load_benchmark
from nclue_build.score.plots import plots
from nclue_build.score.tables.catalogue import TABLES
from nclue_build.store.workspace import Build, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def runs(repository: Path) -> Path:
    return repository / "corpora" / "demo" / "runs"


@pytest.fixture
def on_demo(run: Callable[..., Any], repository: Path) -> Callable[..., Any]:
    """Calls a verb on the committed demonstration build."""

    def call(verb: str, *words: str | Path) -> Any:
        return run(verb, *words, "-w", repository, "-b", "demo")

    return call


def result_of(done: Any) -> dict[str, Any]:
    assert done.code == 0, done.err
    return dict(json.loads(done.out)["result"])


@pytest.fixture
def edited(tmp_path: Path, runs: Path) -> Callable[..., Path]:
    """A copy of the runs with a manifest of some of its rows, with other values in them."""

    def make(*names: str, **values: object) -> Path:
        home = tmp_path / "runs"
        home.mkdir()
        rows = [json.loads(line) for line in (runs / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
        kept = [{**row, **values} for row in rows if row["run_id"] in names]
        (home / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        for row in kept:
            shutil.copy(runs / row["file"], home)
        return home

    return make


def test_scores_of_the_demonstration(on_demo: Callable[..., Any], runs: Path, repository: Path) -> None:
    result = result_of(on_demo("score", runs, "--json"))
    blocked = result.pop("blocked")
    report = ScoreReport.model_validate_json(json.dumps(result))
    scores = {one.run_id: one for one in report.runs}
    assert blocked == {"paraphrased": "the demonstration has no paraphrases: they take a model"}
    assert scores["control"].n_clue_score.value == scores["control"].gold_hit.value == 100
    order = [scores[name].n_clue_score.value for name in ("cover", "dense", "terms", "chance")]
    assert order == sorted(order, reverse=True)
    assert scores["cover"].n_clue_score.low is not None
    assert all(abs(one.miss + one.partial_first + one.gold_first - 1) < 1e-12 for one in report.runs)
    assert scores["pages"].pages is not None
    assert scores["cover"].pages is None
    # The committed tables hold the same figures.
    stored = TablesReport.model_validate_json((repository / "corpora" / "demo" / "tables" / "tables.json").read_bytes())
    matrix = next(one for one in stored.tables if one.name == "matrix")
    for row in matrix.rows:
        assert row[3] == pytest.approx(scores[str(row[1])].n_clue_score.value)


def test_queries_that_a_run_lacks_count_as_zero_and_are_named(
    on_demo: Callable[..., Any], runs: Path, tmp_path: Path
) -> None:
    lines = gzip.decompress((runs / "cover.trec.gz").read_bytes()).decode().splitlines(keepends=True)
    gone = lines[0].split()[0]
    (tmp_path / "less.trec").write_text("".join(line for line in lines if not line.startswith(gone)))
    done = on_demo("score", tmp_path / "less.trec", runs / "cover.trec.gz", "--json")
    result = result_of(done)
    less, whole = result["runs"]
    assert less["missing_queries"] == [gone]
    assert whole["missing_queries"] == []
    assert round(result["n_queries"] * (whole["gold_hit"]["value"] - less["gold_hit"]["value"]) / 100) == 1
    assert [one["code"] for one in json.loads(done.out)["findings"]] == ["run-query-missing"]


def test_unknown_ids_are_refused_or_dropped_and_counted(
    on_demo: Callable[..., Any], tmp_path: Path, runs: Path
) -> None:
    lines = gzip.decompress((runs / "cover.trec.gz").read_bytes()).decode().splitlines(keepends=True)
    strange = ["q_none Q0 orrin-weir-fish-passage 1 9 x\n", f"{lines[0].split()[0]} Q0 no-such-document 1 9 x\n"]
    path = tmp_path / "strange.trec"
    path.write_text("".join([*lines[:5], *strange, *lines[5:], strange[0].replace("orrin", "no")]))
    done = on_demo("score", path, "--json")
    findings = json.loads(done.out)["findings"]
    assert done.code == 3
    assert [(one["code"], one["line"], one["id"]) for one in findings] == [
        ("unknown-run-id", 6, "q_none"),
        ("unknown-run-id", 7, "no-such-document"),
        ("unknown-run-id", len(lines) + 3, "no-weir-fish-passage"),
    ]
    dropped = result_of(on_demo("score", path, "--allow-unknown", "--json"))["runs"][0]
    assert dropped["dropped_rows"] == 3
    assert (
        dropped["n_clue_score"]
        == result_of(on_demo("score", runs / "cover.trec.gz", "--json"))["runs"][0]["n_clue_score"]
    )


def test_a_run_for_other_qrels_is_refused(on_demo: Callable[..., Any], edited: Callable[..., Path]) -> None:
    done = on_demo("score", edited("cover", "dense", qrels_sha256="0" * 64), "--json")
    assert done.code == 3
    assert [one["code"] for one in json.loads(done.out)["findings"]] == ["digest-differs", "digest-differs"]


@pytest.fixture
def cover(runs: Path) -> Path:
    return runs / "cover.trec.gz"


@pytest.fixture
def copied(repository: Path, tmp_path: Path) -> Path:
    """A copy of the benchmark as scoring reads it."""
    home = tmp_path / "copy"
    home.mkdir()
    for name in ("queries.jsonl", "qrels.jsonl", "qrels.meta.json"):
        shutil.copy(repository / "benchmarks" / "demo" / name, home)
    return home


def _altered(home: Path, name: str, old: str, new: str) -> None:
    text = (home / name).read_text(encoding="utf-8")
    assert old in text
    (home / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def _stranger(home: Path) -> None:
    """A judged document that the corpus does not have, under a digest that is right."""
    _altered(home, "qrels.jsonl", "orrin-weir-fish-passage", "zz-of-another-corpus")
    digest = hashlib.sha256((home / "qrels.jsonl").read_bytes()).hexdigest()
    meta = json.loads((home / "qrels.meta.json").read_text())
    (home / "qrels.meta.json").write_text(json.dumps({**meta, "qrels_sha256": digest}))


def _fewer_queries(home: Path) -> None:
    lines = (home / "queries.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (home / "queries.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")


@pytest.mark.parametrize(
    ("alter", "code", "file"),
    [
        (lambda home: _altered(home, "qrels.jsonl", '"grade":2', '"grade":1'), "digest-differs", "qrels.jsonl"),
        (lambda home: (home / "qrels.jsonl").unlink(), "file-missing", "qrels.jsonl"),
        (_fewer_queries, "meta-differs", "queries.jsonl"),
        (_stranger, "unknown-document", "qrels.jsonl"),
    ],
)
def test_a_benchmark_that_is_not_what_it_says_is_refused(
    on_demo: Callable[..., Any], copied: Path, cover: Path, alter: Callable[[Path], None], code: str, file: str
) -> None:
    alter(copied)
    done = on_demo("score", cover, "--benchmark", copied, "--json")
    assert done.code == 3
    (found,) = json.loads(done.out)["findings"]
    assert (found["code"], found["path"].rsplit("/", 1)[-1]) == (code, file)
    assert "compose" not in found["message"].replace("were the queries composed on another one?", "")


def test_only_a_benchmark_that_can_be_composed_again_is_to_be(copied: Path, tmp_path: Path) -> None:
    build = Build(Workspace(tmp_path), "demo")
    build.benchmark.parent.mkdir()
    copied.rename(build.benchmark)
    _fewer_queries(build.benchmark)
    with pytest.raises(DataError) as composed:
        load_benchmark(build)
    (build.inventory / "P1").mkdir(parents=True)
    with pytest.raises(DataError) as repaired:
        load_benchmark(build)
    advice = [raised.value.findings[0].message.split(": ")[-1] for raised in (composed, repaired)]
    assert advice == ["restore the file, or run 'nclue-build compose --fresh'", "restore the file"]


def test_a_judged_stranger_is_named_with_its_line_in_the_file(
    on_demo: Callable[..., Any], copied: Path, cover: Path
) -> None:
    rows = (copied / "qrels.jsonl").read_text(encoding="utf-8")
    (copied / "qrels.jsonl").write_text(f"\n\n{rows}", encoding="utf-8")
    _stranger(copied)
    lines = (copied / "qrels.jsonl").read_text(encoding="utf-8").splitlines()
    (found,) = json.loads(on_demo("score", cover, "--benchmark", copied, "--json").out)["findings"]
    assert "zz-of-another-corpus" in lines[found["line"] - 1]


def test_every_bad_run_is_reported_at_once(on_demo: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.trec").write_text("q Q0\n")
    (tmp_path / "b.jsonl").write_text("{}\n")
    done = on_demo("score", tmp_path, "--json")
    assert done.code == 3
    assert {one["path"].rsplit("/", 1)[-1] for one in json.loads(done.out)["findings"]} == {"a.trec", "b.jsonl"}


@pytest.mark.parametrize(
    ("verb", "words", "said"),
    [
        ("score", ["--ties", "none"], "--ties"),
        ("score", ["--curve", "0"], "--curve"),
        ("compare", ["--ties", "expected"], "--ties"),
        ("compare", ["--measure", "map"], "--measure"),
        ("compare", ["--contrast", "cover"], "BASE:VARIANT"),
        ("compare", ["--contrast", "cover:nothing"], "nothing"),
        ("tables", ["--format", "html"], "--format"),
        ("tables", ["--only", "nothing"], "--only"),
        ("tables", ["--form", "spoken"], "--form"),
        ("tables", ["--example", "q_none"], "--example"),
        ("tables", ["--plots"], "--out"),
    ],
)
def test_wrong_options_are_a_matter_of_usage(
    on_demo: Callable[..., Any], runs: Path, verb: str, words: list[str], said: str
) -> None:
    done = on_demo(verb, runs, *words)
    assert done.code == 2
    assert said in done.err


def test_runs_that_are_not_there(on_demo: Callable[..., Any], tmp_path: Path) -> None:
    assert on_demo("score", tmp_path / "none.trec").code == 3
    empty = tmp_path / "empty"
    empty.mkdir()
    assert on_demo("score", empty).code == 2


def test_a_row_per_query_and_run(on_demo: Callable[..., Any], runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "queries.jsonl"
    result = result_of(on_demo("score", runs / "cover.trec.gz", "--per-query", out, "--ties", "expected", "--json"))
    rows = [QueryScore.model_validate_json(line) for line in out.read_bytes().splitlines()]
    assert len(rows) == result["n_queries"]
    for measure in ("n_clue_score", "gold_hit", "gold_ndcg", "ndcg_lin", "ndcg_exp"):
        mean = 100 * sum(getattr(row, measure) for row in rows) / len(rows)
        assert mean == pytest.approx(result["runs"][0][measure]["value"])


def test_a_file_named_twice_counts_once_and_two_runs_of_one_name_are_refused(
    on_demo: Callable[..., Any], runs: Path, tmp_path: Path
) -> None:
    path = runs / "cover.trec.gz"
    result = result_of(on_demo("score", path, path, "--no-intervals", "--json"))
    assert [one["run_id"] for one in result["runs"]] == ["cover"]
    shutil.copy(path, tmp_path)
    done = on_demo("score", path, tmp_path / path.name)
    assert done.code == 2
    assert "'cover'" in done.err


def test_declared_contrasts_are_compared(on_demo: Callable[..., Any], runs: Path) -> None:
    report = ComparisonReport.model_validate_json(json.dumps(result_of(on_demo("compare", runs, "--json"))))
    by_name = {one.contrast.name: one for one in report.contrasts}
    assert by_name["fusion of the weaker"].p_holm is None
    strength = by_name["strength"]
    assert strength.differences["n_clue_score"].low > 0
    assert strength.p_holm is not None
    assert strength.p_family <= strength.p_block <= strength.p_holm < 0.05
    assert all(bound.low <= strength.differences["n_clue_score"].value for bound in strength.bounds)


def test_pairs_by_name(on_demo: Callable[..., Any], runs: Path) -> None:
    done = on_demo("compare", runs, "--contrast", "chance:terms", "--measure", "gold_ndcg", "--json")
    (one,) = result_of(done)["contrasts"]
    assert one["contrast"]["name"] == "chance -> terms"
    assert [bound["promotions"] for bound in one["bounds"]] == [1, 2, 3]
    assert one["bounds"][0]["low"] > one["bounds"][2]["low"]
    other = result_of(on_demo("compare", runs, "--contrast", "terms:chance", "--measure", "gold_ndcg", "--json"))
    assert other["contrasts"][0]["differences"]["gold_ndcg"]["value"] == -one["differences"]["gold_ndcg"]["value"]
    assert other["contrasts"][0]["bounds"][1]["high"] == pytest.approx(-one["bounds"][1]["low"])


def test_tables_are_those_committed(on_demo: Callable[..., Any], runs: Path, repository: Path) -> None:
    stored = repository / "corpora" / "demo" / "tables" / "tables.json"
    done = on_demo("tables", runs, "--check", stored, "--json")
    assert done.code == 0, done.out
    assert json.loads(done.out)["findings"] == []  # masked runs lack the queries without the condition, as they should
    report = TablesReport.model_validate_json(json.dumps(result_of(done)))
    made = {one.name: one for one in report.tables}
    assert tuple(made) == TABLES
    assert {name for name, one in made.items() if one.unavailable} == {"paraphrases", "agreement_of_copies"}
    assert "control" not in {row[1] for row in made["matrix"].rows}
    ranks = {row[1]: row[0] for row in made["matrix"].rows}
    assert ranks["cover"] == ranks["pages"]  # two runs with equal scores share a rank, and the next one is not given
    assert [row[0] for row in made["matrix"].rows] == sorted(map(int, map(str, ranks.values())))
    assert int(str(ranks["cover"])) + 1 not in ranks.values()
    assert any("paraphrased could not be made" in note for note in made["matrix"].notes)
    assert [column.name.split()[0] for column in made["masking"].columns] == ["system", "c1", "c2", "c3"]


def test_a_value_that_drifts_fails_the_check(
    on_demo: Callable[..., Any], runs: Path, repository: Path, tmp_path: Path
) -> None:
    stored = json.loads((repository / "corpora" / "demo" / "tables" / "tables.json").read_bytes())
    stored["tables"][0]["rows"][0][3] += 0.04  # Score, within what is allowed
    stored["tables"][0]["rows"][1][3] += 0.06
    stored["tables"][2]["rows"][0][9] += 0.001  # Holm's p
    stored["tables"][6]["rows"][1][1][0] += 1  # components
    stored["tables"][6]["rows"][2][1] += 0.04  # gap, within what is allowed
    stored["tables"][6]["rows"][5][1][1] += 1  # queries left
    (tmp_path / "old.json").write_text(json.dumps(stored))
    done = on_demo("tables", runs, "--check", tmp_path / "old.json", "--json")
    found = [(one["code"], one["id"]) for one in json.loads(done.out)["findings"] if one["code"] == "table-drift"]
    assert done.code == 1
    assert found == [("table-drift", name) for name in ("matrix", "contrasts", "graph", "graph")]


def test_tables_without_a_manifest_say_what_they_lack(on_demo: Callable[..., Any], runs: Path) -> None:
    done = on_demo("tables", runs / "dense.trec.gz", runs / "cover.trec.gz", "--contrast", "dense:cover", "--json")
    reasons = {one["name"]: one["unavailable"] for one in result_of(done)["tables"] if one["unavailable"]}
    assert {"controls", "paraphrases", "forms", "masking", "pages", "contrasts_by_form"} <= set(reasons)
    assert "matrix" not in reasons
    text = on_demo("tables", runs / "cover.trec.gz", "--contrast", "x:y")
    assert text.code == 2


def test_runs_on_paraphrases_are_ranked_beside_raw_ones_and_compared_with_them(
    on_demo: Callable[..., Any], edited: Callable[..., Path]
) -> None:
    home = edited("cover", "cover.natural", "dense")
    text = (home / "runs.jsonl").read_text().replace('"form": "natural"', '"form": "paraphrase"')
    (home / "runs.jsonl").write_text(text)
    done = on_demo("tables", home, "--contrast", "dense:cover", "--json")
    tables = {one["name"]: one for one in result_of(done)["tables"]}
    assert {row[1] for row in tables["matrix"]["rows"]} == {"cover", "dense", "cover (paraphrase)"}
    scores = [row[3] for row in tables["matrix"]["rows"]]
    assert scores == sorted(scores, reverse=True)
    (row,) = tables["paraphrases"]["rows"]
    raw, other = (
        next(one for one in tables["matrix"]["rows"] if one[1] == name) for name in ("cover", "cover (paraphrase)")
    )
    assert row[:3] == ["cover", [raw[3], raw[5]], [other[3], other[5]]]
    assert row[3][0] == pytest.approx(other[3] - raw[3])
    assert tables["agreement_of_measures"]["rows"][0][4] == 3


def test_two_copies_of_the_judgments_agree_on_the_order(on_demo: Callable[..., Any], runs: Path, copied: Path) -> None:
    words = ["tables", runs, "--against", copied, "--only", "agreement_of_copies", "--format", "csv"]
    done = on_demo(*words)
    assert done.code == 0, done.err
    rows = list(csv.reader(line for line in done.out.splitlines() if "[" not in line))
    assert rows[1] == ["n_clue_score", "1.000", "1.000", "7", "+0.0"]


def test_files_of_tables_and_plots(on_demo: Callable[..., Any], runs: Path, tmp_path: Path, repository: Path) -> None:
    done = on_demo("tables", runs, "--only", "matrix", "--format", "latex", "--out", tmp_path, "--plots")
    assert done.code == 0, done.err
    assert r"\begin{tabular}{rllrrrr}" in done.out
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    drawn = {name for name in written if name.endswith((".svg", ".png"))}
    assert drawn == {f"{name}.{ending}" for name in ("matrix", "contrasts", "strata") for ending in ("svg", "png")}
    assert set(written) - drawn == {path.name for path in (repository / "corpora" / "demo" / "tables").iterdir()}
    assert b"matplotlib" not in written["matrix.png"][:200]
    # Drawn once more from what was stored, a plot is the same bytes.
    stored = TablesReport.model_validate_json(written["tables.json"])
    again = plots({"matrix": stored.tables[0]})
    assert again == {name: written[name] for name in ("matrix.svg", "matrix.png")}
