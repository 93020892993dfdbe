"""Slices of the queries: by number of conditions, length of the shortest gold, judged documents, source, relaxation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nclue_build.records.benchmark import Query
    from nclue_build.score.benchmark import Benchmark

Stratum = Literal["n", "l_min", "d_plus", "source", "relaxation"]
STRICT: Final = "strict"
MIXED: Final = "mixed"


class Slice(NamedTuple):
    """Some of the queries: bool, N."""

    stratum: Stratum
    value: str
    chosen: NDArray[np.bool_]


def slices(benchmark: Benchmark) -> list[Slice]:
    """Every slice that holds a query, in a fixed order; those of different strata overlap.

    Bands follow the study (paper, section 2): L_min up to 30, to 100 and above; |D+| up to 25, to 50 and above.
    """
    queries = list(benchmark.queries.values())
    found = []
    for stratum, label, order in _STRATA:
        labels = [label(query) for query in queries]
        values = sorted(set(labels), key=lambda value: (order.index(value) if value in order else len(order), value))
        found += [Slice(stratum, value, np.array([one == value for one in labels])) for value in values]
    return found


def source_of(query: Query) -> str:
    """The single source of a query's golds, else ``mixed``."""
    return query.strata.sources[0] if len(query.strata.sources) == 1 else MIXED


def _band(edges: tuple[int, int]) -> Callable[[int], str]:
    low, high = edges

    def band(value: int) -> str:
        if value <= low:
            return f"<={low}"
        return f"{low + 1}-{high}" if value <= high else f">{high}"

    return band


_LENGTH, _JUDGED = _band((30, 100)), _band((25, 50))
_STRATA: Final[tuple[tuple[Stratum, Callable[[Query], str], tuple[str, ...]], ...]] = (
    ("n", lambda query: str(query.n), ()),
    ("l_min", lambda query: _LENGTH(query.strata.l_min), ("<=30", "31-100", ">100")),
    ("d_plus", lambda query: _JUDGED(query.strata.d_plus), ("<=25", "26-50", ">50")),
    ("source", source_of, ()),
    ("relaxation", lambda query: query.relaxation or STRICT, (STRICT,)),
)
