"""What the last repair says it did, against the benchmark it left."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nclue_build.store import layout
from nclue_build.store.form import ends_with_newline
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.records.benchmark import QrelsMeta, Query
    from nclue_build.records.repair import QrelChange, QrelState, Repair, Transitions
    from nclue_build.workflow.validation.reading import Reading


def check_repair(reading: Reading, meta: QrelsMeta | None, queries: Sequence[Query]) -> None:
    """``transitions.json``, ``changes.jsonl``, ``changes.md`` and ``repairs.jsonl``."""
    folder = reading.build.benchmark
    found: Transitions | None = reading.file(folder / layout.TRANSITIONS, find_family("transitions").model)
    changes: list[QrelChange] = [row for _, row in reading.rows(folder / layout.CHANGES, find_family("changes").model)]
    repairs: list[Repair] = [row for _, row in reading.rows(folder / layout.REPAIRS, find_family("repairs").model)]
    path = folder / layout.CHANGES_TEXT
    if not path.is_file():
        reading.add("file-missing", "file not found: a repair leaves it", path)
    elif not ends_with_newline(path):
        reading.add("not-canonical", "the last line has no line end", path)
    if found is None or meta is None:
        return
    last = [row for row in repairs if row.version == found.to_version]
    effects = Counter(row.effect for row in last)
    moved = [(_grade(row.before), _grade(row.after)) for row in changes]
    grades = Counter(f"{before}->{after}" for before, after in moved if before != after)
    for name, told, counted in (
        ("versions", (found.from_version, found.to_version), (meta.inventory_version - 1, meta.inventory_version)),
        ("queries", found.queries[1], len(queries)),
        ("qrels", found.qrels[1], meta.n_qrels),
        ("golds", found.golds[1], meta.n_golds),
        ("decisions", found.decisions, len(last)),
        ("effects", dict(found.effects), dict(sorted(effects.items()))),
        ("grades", dict(found.grades), dict(sorted(grades.items()))),
        ("net_grade", found.net_grade, sum(after - before for before, after in moved)),
        ("unaudited_changes", found.unaudited_changes, sum(not row.audited for row in changes)),
    ):
        if told != counted:
            message = f"{name}: stored {told}, counted again {counted}"
            reading.add("repair-differs", message, folder / layout.TRANSITIONS)
    versions = [row.version for row in repairs]
    if versions != sorted(versions):
        reading.add("not-sorted", "versions must ascend", folder / layout.REPAIRS)


def _grade(state: QrelState | None) -> int:
    return 0 if state is None else state.grade
