"""The inventory versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.core.findings import Findings
from nclue_build.inventory.table import place_rows
from nclue_build.store import layout
from nclue_build.store.evidence import read_evidence
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from nclue_build.records.base import Level
    from nclue_build.records.inventory import Condition
    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.reading import Reading


@dataclass(frozen=True, slots=True)
class KnownInventory:
    """What an inventory version holds."""

    level: Level = "page"
    conditions: tuple[Condition, ...] = ()
    n_evidence: int = 0

    @property
    def condition_ids(self) -> frozenset[str]:
        """Ids of its conditions."""
        return frozenset(row.condition_id for row in self.conditions)


def check_version(reading: Reading, number: int, documents: KnownDocuments) -> KnownInventory:
    """One ``P<k>``: its files by digest, unique and known ids."""
    folder = reading.build.version(number)
    version = reading.file(folder / layout.VERSION, find_family("version").model)
    if version is not None and (version.version, version.parent) != (number, number - 1 if number else None):
        message = f"{folder.name} says it is version {version.version}, made from {version.parent}"
        reading.add("version-counts-differ", message, folder / layout.VERSION)
    for name, digest in sorted(version.digests.items()) if version is not None else ():
        path = folder / name
        if path.is_file() and sha256_file(path) != digest:
            reading.add("digest-differs", f"differs from the digest in {layout.VERSION}", path)
    path = folder / layout.CONDITIONS
    rows = reading.rows(path, find_family("conditions").model)
    conditions = [row for _, row in reading.ids(rows, path, "condition_id", "duplicate-condition")]
    ids = sorted(row.condition_id for row in conditions)
    path = folder / layout.EVIDENCE
    found = Findings()
    columns = read_evidence(path, found, form=found)
    reading.counts.update(files=path.is_file(), rows=columns.n_rows)
    for name in (layout.DECISIONS, layout.PAIR_DECISIONS, layout.PAIR_OVERRIDES) if number else ():
        if name == layout.DECISIONS or (folder / name).is_file():
            family = "pair_overrides" if name == layout.PAIR_OVERRIDES else "decisions"
            list(reading.rows(folder / name, find_family(family).model))
    level: Level = "page" if version is None else version.level
    place_rows(columns, ids, sorted(documents.in_benchmark), level, found, str(path))
    reading.take(found)
    return KnownInventory(level, tuple(conditions), columns.n_rows)
