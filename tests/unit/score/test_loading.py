"""Runs against a benchmark: what hostile files hold is read for what it is, or refused with its line."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nclue_build.core.errors import DataError
from nclue_build.core.findings import MAX_FINDINGS
from nclue_build.score.loading import DocumentCodes, load_run
from nclue_build.score.scorer import ScoreOptions, Scorer
from nclue_build.stats.rankings import ABSENT
from nclue_build.workflow.scoring import RunSource, measure_runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.core.errors import Finding
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.loading import LoadedRun

DOCS = ("a", "b", "c", "d", "e-unjudged", "zé", "z\u0301e")
GOOD = "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 c 1 1 x\n"


@pytest.fixture(scope="module")
def benchmark(make_benchmark: Callable[..., Benchmark]) -> Benchmark:
    judged = [("q1", "a", 2, True), ("q1", "b", 1, False), ("q2", "c", 2, True), ("q2", "zé", 1, False)]
    return make_benchmark(judged, DOCS)


@pytest.fixture
def load(benchmark: Benchmark, tmp_path: Path) -> Callable[[bytes], LoadedRun]:
    def read(data: bytes) -> LoadedRun:
        path = tmp_path / "a.trec"
        path.write_bytes(data)
        return load_run(path, benchmark, DocumentCodes.of(benchmark))

    return read


def refused(load: Callable[[bytes], LoadedRun], data: bytes) -> list[Finding]:
    with pytest.raises(DataError) as caught:
        load(data)
    return list(caught.value.findings)


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(GOOD[:28].encode(), mtime=0) + gzip.compress(GOOD[28:].encode(), mtime=0),
        GOOD.replace("a 1 3", "a 99 3").replace("b 2 2", "b 0 2").encode(),
        GOOD.replace("1 1 x", "1 1 another-tag").encode(),
        GOOD.replace("Q0", "7").encode(),
        "".join(sorted(GOOD.splitlines(keepends=True), reverse=True, key=lambda line: line.split()[0])).encode(),
    ],
    ids=["two gzip members", "ranks that disagree with scores", "two tags", "no Q0", "queries in another order"],
)
def test_what_the_format_leaves_open_changes_nothing(load: Callable[[bytes], LoadedRun], data: bytes) -> None:
    plain, found = load(GOOD.encode()), load(data)
    assert np.array_equal(found.docs, plain.docs)
    assert np.array_equal(found.scores, plain.scores)
    assert found.missing == ()


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"query_id Q0 doc_id rank score tag\n", "bad-run-score", 1),
        (b"query_id Q0 doc_id rank score tag\n" + GOOD.encode(), "bad-run-score", 1),
        (GOOD.encode() + b"q2 Q0 d 1 0 x y\n", "bad-run-row", 4),
        (GOOD.encode() + b"q2 Q0 d 1 1e400 x\n", "bad-run-score", 4),
        (GOOD.encode() + b"q2 Q0 d 1 -nan x\n", "bad-run-score", 4),
        (GOOD.encode() + b"q1\tQ0\ta\t1\t9\tx\r\n", "duplicate-run-row", 4),
        (gzip.compress(GOOD.encode(), mtime=0) + b"more", "bad-run-row", None),
        (GOOD.encode().replace(b"\n", b"\r"), "bad-run-row", 1),
        (GOOD.encode("utf-16"), "bad-run-row", 1),
        (GOOD.encode() + b"\0\n", "bad-run-row", 4),
    ],
)
def test_what_is_no_run_is_refused_with_its_line(
    load: Callable[[bytes], LoadedRun], data: bytes, code: str, line: int | None
) -> None:
    found = refused(load, data)
    assert (found[0].code, found[0].line) == (code, line)
    assert str(found[0].path).endswith("a.trec")


def test_ids_that_look_alike_are_not_the_same(load: Callable[[bytes], LoadedRun]) -> None:
    for line, alike in enumerate(("A", "a\u200b", "\u0430", "ze\u0301"), start=4):
        data = GOOD + "q2 Q0 d 1 0 x\n" * (line > 4) + f"q2 Q0 {alike} 1 0 x\n"
        (found,) = refused(load, data.encode())
        assert (found.code, found.id, found.line) == ("unknown-run-id", alike, 4 + (line > 4))
        assert repr(alike) in found.message
    assert load((GOOD + "q2 Q0 zé 1 0 x\nq2 Q0 z\u0301e 2 0 x\n").encode()).docs.shape == (2, 3)


def test_every_unknown_id_is_counted_and_not_every_one_is_listed(load: Callable[[bytes], LoadedRun]) -> None:
    with pytest.raises(DataError) as caught:
        load("".join(f"q1 Q0 strange{place} {place} 1 x\n" for place in range(5000)).encode())
    assert len(caught.value.findings) == MAX_FINDINGS
    shown = str(caught.value).count("is not in the benchmark")
    assert str(caught.value).endswith(f"... and {5000 - shown} more")


def test_rows_of_a_query_may_stand_apart(load: Callable[[bytes], LoadedRun]) -> None:
    run = load(b"q1 Q0 b 1 5 x\nq2 Q0 d 1 1 x\nq1 Q0 e-unjudged 1 9 x\nq1 Q0 a 1 7 x\n")
    assert (run.docs != ABSENT).sum(axis=1).tolist() == [3, 1]
    assert run.scores[0].tolist() == [5.0, 9.0, 7.0]


def test_runs_come_in_the_order_given_with_all_that_is_wrong(benchmark: Benchmark, tmp_path: Path) -> None:
    sources = []
    for place in range(9):
        path = tmp_path / f"run{place}.trec"
        path.write_text(GOOD + f"q2 Q0 strange{place} 1 0 x\n" * (place % 4 == 3))
        sources.append(RunSource(path.stem, path))
    scorer = Scorer(benchmark, ScoreOptions())
    whole = [one for place, one in enumerate(sources) if place % 4 != 3]
    assert [one.run.name for one in measure_runs(scorer, whole)] == [one.name for one in whole]
    with pytest.raises(DataError) as caught:
        measure_runs(scorer, sources)
    assert [one.id for one in caught.value.findings] == ["strange3", "strange7"]


def test_scores_do_not_depend_on_the_other_runs(benchmark: Benchmark, tmp_path: Path) -> None:
    one, other = tmp_path / "one.trec", tmp_path / "other.trec"
    one.write_text(GOOD)
    other.write_text(GOOD.replace("q1 Q0 a 1 3", "q1 Q0 a 1 1"))
    scorer = Scorer(benchmark, ScoreOptions())
    both = scorer.scores(measure_runs(scorer, [RunSource(path.stem, path) for path in (one, other)]))
    for path, score in zip((one, other), both, strict=True):
        assert scorer.scores(measure_runs(scorer, [RunSource(path.stem, path)])) == (score,)
