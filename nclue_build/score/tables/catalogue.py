"""All tables in the order of the catalogue, and whether they still are what was declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import Finding
from nclue_build.score.tables import contrasts, queries, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nclue_build.records.benchmark import Qrel
    from nclue_build.records.tables import Kind, Table, TablesReport, Value
    from nclue_build.score.tables.material import Material

_OF_RUNS: Final[dict[str, Callable[[Material], Table]]] = {
    "matrix": runs.matrix,
    "controls": runs.controls,
    "contrasts": contrasts.contrasts,
    "ordering": contrasts.ordering,
    "dependence": contrasts.dependence,
    "bounds": contrasts.bounds,
    "graph": contrasts.graph,
    "strata": runs.strata,
    "paraphrases": runs.paraphrases,
    "forms": runs.forms,
    "contrasts_by_form": contrasts.by_form,
    "masking": runs.masking,
    "diagnostics": runs.diagnostics,
    "curve": runs.curve,
    "pages": runs.pages,
    "difficulty": queries.difficulty,
    "difficulty_matched": queries.difficulty_matched,
    "shortcuts": queries.shortcuts,
    "agreement_of_measures": queries.measures_agree,
}
TABLES: Final = (*_OF_RUNS, "agreement_of_copies", "example")
"""Names of all tables, in the order in which they are made."""
TOLERANCE: Final = 0.05
"""Points by which a value may differ from a declared one."""
_AS_SHARES: Final[frozenset[Kind]] = frozenset({"number", "p", "shares", "estimate"})
"""Kinds whose values are not in points: 1 is 100 points."""
_EXACT: Final[frozenset[Kind]] = frozenset({"text", "count", "counts", "counted"})
_SECOND: Final[dict[Kind, Kind]] = {"tested": "p", "left": "count"}
"""What the second of two values is, where that is something else than the first."""


def all_tables(material: Material, other: Material | None, example: tuple[str, Sequence[Qrel]]) -> tuple[Table, ...]:
    """Make every table.

    Args:
        material: Measured runs.
        other: The same runs on another copy of the judgments, if there is one.
        example: The query to show, and its judgments.
    """
    return (
        *(make(material) for make in _OF_RUNS.values()),
        queries.copies_agree(material, other),
        queries.example(material, *example),
    )


def drift(declared: TablesReport, found: TablesReport, path: str) -> Iterator[Finding]:
    """Everything that is no longer as declared.

    Numbers may differ by 0.05 points (shares and p by 0.0005); counts, texts and everything else not at all.

    Args:
        declared: What was stored.
        found: What was made now.
        path: Of the stored file.
    """
    for name in ("build", "qrels_sha256", "k", "ties", "measure", "form", "seed", "n_bootstrap", "n_flips"):
        old, new = getattr(declared, name), getattr(found, name)
        if old != new:
            yield Finding("table-drift", f"{name} is {new}, declared is {old}", path, id=name)
    tables = {one.name: one for one in found.tables}
    for one in declared.tables:
        if (now := tables.pop(one.name, None)) is None:
            yield Finding("table-drift", f"table {one.name} is not made any more", path, id=one.name)
        else:
            yield from _table_drift(one, now, path)
    for name in tables:
        yield Finding("table-drift", f"table {name} is not declared", path, id=name)


def _table_drift(declared: Table, found: Table, path: str) -> Iterator[Finding]:
    if any(getattr(declared, part) != getattr(found, part) for part in ("unavailable", "columns", "row_kinds")):
        yield Finding("table-drift", f"table {declared.name} has other columns, or is made now", path, id=declared.name)
        return
    if len(declared.rows) != len(found.rows):
        message = f"table {declared.name} has {len(found.rows)} rows, declared are {len(declared.rows)}"
        yield Finding("table-drift", message, path, id=declared.name)
        return
    for place, (old, new) in enumerate(zip(declared.rows, found.rows, strict=True), start=1):
        kinds = declared.kinds(place - 1)
        for column, kind, before, after in zip(declared.columns, kinds, old, new, strict=True):
            if not _agrees(kind, before, after):
                where = f"table {declared.name}, row {place} ({old[0]}), {column.name}"
                yield Finding("table-drift", f"{where}: {after}, declared {before}", path, id=declared.name)


def _agrees(kind: Kind, before: Value, after: Value) -> bool:
    if isinstance(before, tuple) and isinstance(after, tuple):
        return len(before) == len(after) and all(
            _agrees(_SECOND.get(kind, kind) if place else kind, old, new)
            for place, (old, new) in enumerate(zip(before, after, strict=True))
        )
    if kind in _EXACT or not isinstance(before, int | float) or not isinstance(after, int | float):
        return before == after
    return abs(before - after) * (100 if kind in _AS_SHARES else 1) <= TOLERANCE
