"""What tables are made of: runs that are measured once, and which of them belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.records.scores import RunEntry
from nclue_build.records.tables import Column, Table
from nclue_build.score.scorer import MEASURES
from nclue_build.stats.bootstrap import FamilyDraws

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.records.comparison import ComparisonReport, Contrast
    from nclue_build.records.scores import Form, Measure, RunScore
    from nclue_build.records.tables import Kind, Value
    from nclue_build.score.benchmark import Benchmark
    from nclue_build.score.scorer import MeasuredRun, Scorer
    from nclue_build.stats.rankings import Ranking


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A run and everything it scores; ``values`` is float64, N x measures, in points."""

    entry: RunEntry
    ranking: Ranking
    values: NDArray[np.float64]
    score: RunScore

    def on(self, measure: Measure) -> NDArray[np.float64]:
        """Values of one measure per query."""
        return self.values[:, MEASURES.index(measure)]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that the tables of a benchmark are made of.

    Args:
        scorer: Of the benchmark.
        runs: By name, in the order given.
        form: The rendering of the queries whose runs are ranked.
        measure: What tests and influence are about.
        contrasts: All that were tried.
        comparison: What comparing them found; None without contrasts.
        blocked: Runs that could not be made, with the reason.
    """

    scorer: Scorer
    runs: Mapping[str, Measured]
    form: Form
    measure: Measure
    contrasts: tuple[Contrast, ...]
    comparison: ComparisonReport | None
    blocked: Mapping[str, str]

    @property
    def benchmark(self) -> Benchmark:
        """What the runs are scored on."""
        return self.scorer.benchmark

    def whole(self, *forms: Form) -> list[Measured]:
        """Fair runs on whole queries of some forms (by default that of the matrix), best first; equal ones by name."""
        wanted = forms or (self.form,)
        found = [
            one
            for one in self.runs.values()
            if one.entry.form in wanted and one.entry.masked_condition is None and not one.entry.privileged
        ]
        return sorted(found, key=lambda one: (-one.score.n_clue_score.value, one.entry.run_id))

    def ranked(self) -> list[Measured]:
        """Runs that the matrix ranks: beside those on raw queries also those on paraphrases of them."""
        return self.whole("raw", "paraphrase") if self.form == "raw" else self.whole()

    def label(self, one: Measured) -> str:
        """What the matrix calls a run."""
        return one.entry.system if one.entry.form == self.form else f"{one.entry.system} ({one.entry.form})"

    def of_system(self, system: str, form: Form, masked: int | None = None) -> Measured | None:
        """The run of a system, if there is one."""
        for one in self.runs.values():
            if (one.entry.system, one.entry.form, one.entry.masked_condition) == (system, form, masked):
                return one
        return None

    def draws_for(self, chosen: NDArray[np.bool_]) -> FamilyDraws:
        """Replicates over the families of some queries."""
        families = np.unique(self.scorer.families[chosen], return_inverse=True)[1].astype(np.int64)
        return FamilyDraws.of(families, seed=self.scorer.options.seed)


def scored(scorer: Scorer, runs: Sequence[MeasuredRun], entries: Mapping[str, RunEntry]) -> dict[str, Measured]:
    """Score runs, by name.

    Args:
        scorer: That measured them.
        runs: In the order wanted.
        entries: Rows of the manifest, by name.
    """
    return {
        one.run.name: Measured(entries[one.run.name], one.ranking, one.values, score)
        for one, score in zip(runs, scorer.scores(runs), strict=True)
    }


def entry_of(name: str, form: Form) -> RunEntry:
    """The row of a manifest that a run file alone stands for."""
    return RunEntry(run_id=name, file=name, system=name, category="-", form=form)


def table(
    name: str,
    catalogue: str,
    title: str,
    columns: Sequence[tuple[str, Kind]],
    rows: Iterable[tuple[Value, ...]],
    notes: Sequence[str] = (),
) -> Table:
    """A table that there is."""
    return Table(
        name=name,
        catalogue=catalogue,
        title=title,
        columns=tuple(Column(name=label, kind=kind) for label, kind in columns),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def turned(
    name: str,
    catalogue: str,
    title: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, Kind, Sequence[Value]]],
    notes: Sequence[str] = (),
) -> Table:
    """A table with a column per thing that is told of: each row has a label, a kind, and a value of every thing."""
    named = [Column(name="", kind="text"), *(Column(name=label, kind="by_row") for label in columns)]
    return Table(
        name=name,
        catalogue=catalogue,
        title=title,
        columns=tuple(named),
        rows=tuple((label, *values) for label, _, values in rows),
        row_kinds=tuple(kind for _, kind, _ in rows),
        notes=tuple(notes),
    )


def missing(name: str, catalogue: str, title: str, reason: str) -> Table:
    """A table that cannot be made, and why."""
    return Table(name=name, catalogue=catalogue, title=title, columns=(), rows=(), unavailable=reason)
