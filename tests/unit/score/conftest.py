"""Benchmarks in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from nclue_build.records.benchmark import Forms, Query, QueryCondition, Strata
from nclue_build.score.benchmark import Benchmark
from nclue_build.stats.judgments import Judgments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.stats.support import Conditions

Row = tuple[str, str, int, bool]


class MakeBenchmark(Protocol):
    def __call__(
        self,
        rows: Sequence[Row],
        docs: Sequence[str],
        *,
        strata: Mapping[str, Strata] | None = None,
        page_sets: Mapping[str, Mapping[str, Conditions]] | None = None,
    ) -> Benchmark: ...


@pytest.fixture(scope="session")
def make_benchmark() -> MakeBenchmark:
    """A benchmark of judgments (query, document, grade, gold); every query has two conditions."""

    def make(
        rows: Sequence[Row],
        docs: Sequence[str],
        *,
        strata: Mapping[str, Strata] | None = None,
        page_sets: Mapping[str, Mapping[str, Conditions]] | None = None,
    ) -> Benchmark:
        conditions = tuple(
            QueryCondition(condition_id=name, name=name, raw_name=name, aliases=()) for name in ("c1", "c2")
        )
        queries = {
            query_id: Query(
                query_id=query_id,
                n=2,
                conditions=conditions,
                relaxation=None,
                forms=Forms(raw="", clean_v2="", natural=""),
                golds=tuple(sorted(doc for query, doc, _, gold in rows if query == query_id and gold)),
                n_judged=sum(row[0] == query_id for row in rows),
                strata=(strata or {}).get(query_id) or Strata(l_min=9, d_plus=2, sources=("one",)),
            )
            for query_id in sorted({row[0] for row in rows})
        }
        judgments = Judgments.of(dict.fromkeys(queries, 2), rows)
        return Benchmark("made", queries, judgments, tuple(sorted(docs)), page_sets or {}, {}, "0" * 64)

    return make
