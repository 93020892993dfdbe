"""Tables of contrasts from made-up results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from nclue_build.score.tables.contrasts import graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.tables.material import Material


def part(n_removed: int) -> SimpleNamespace:
    crossed = SimpleNamespace(value=0.0, low=-1.0, high=1.0)
    return SimpleNamespace(
        components=1, largest_component=1, crossed=crossed, leave_one_low=0.0, leave_one_high=0.0, remove_busiest=0.0,
        n_removed=n_removed, n_queries_left=1,
    )  # fmt: skip


def test_the_rows_of_the_busiest_say_how_many_of_which_documents(make_benchmark: Callable[..., Benchmark]) -> None:
    benchmark = make_benchmark([("q1", "a", 2, True), ("q1", "b", 1, False)], ("a", "b"))
    found = SimpleNamespace(
        contrast=SimpleNamespace(displayed=True, post_hoc=False, name="x"),
        differences={"n_clue_score": SimpleNamespace(value=1.0)},
        golds=part(16),
        judged=part(20),
    )
    comparison = SimpleNamespace(contrasts=[found])
    material: Any = SimpleNamespace(comparison=comparison, benchmark=benchmark, measure="n_clue_score")
    labels = [str(row[0]) for row in graph(cast("Material", material)).rows]
    assert [label for label in labels if "busiest" in label] == [
        "without the 16 busiest (queries left)", "all judged: without the 20 busiest (queries left)"
    ]  # fmt: skip
