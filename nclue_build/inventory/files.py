"""Inventory versions on disk: ``P<k>/conditions.jsonl``, ``evidence.jsonl``, ``version.json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.core.findings import Findings
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import Condition, InventoryVersion
from nclue_build.store.evidence import read_evidence, write_evidence
from nclue_build.store.jsonl import read_json, read_numbered, write_json, write_jsonl
from nclue_build.store.layout import CONDITIONS, EVIDENCE, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.records.corpus import Role


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """An inventory version read back from disk."""

    version: InventoryVersion
    conditions: tuple[Condition, ...]
    inventory: Inventory


def write_version(  # noqa: PLR0913 - the fields of version.json
    folder: Path,
    conditions: Sequence[Condition],
    inventory: Inventory,
    *,
    number: int,
    allowed_roles: tuple[Role, ...],
    text_version: int,
    parent: int | None = None,
    decisions: Iterable[str] = (),
    beside: Sequence[str] = (),
) -> InventoryVersion:
    """Write a version; ``version.json`` goes last, so its presence says that the rest is whole.

    ``beside`` names files that lie in the folder already and belong to the version.
    """
    ordered = sorted(conditions, key=lambda row: row.condition_id)
    write_jsonl(folder / CONDITIONS, ordered)
    write_evidence(folder / EVIDENCE, inventory.columns())
    version = InventoryVersion(
        version=number,
        parent=parent,
        level=inventory.level,
        decisions=tuple(decisions),
        allowed_roles=allowed_roles,
        text_version=text_version,
        digests={name: sha256_file(folder / name) for name in (CONDITIONS, EVIDENCE, *beside)},
        counts={
            "conditions": len(conditions),
            "documents": len(inventory.document_ids),
            "evidence": inventory.n_rows,
            "pages": len(inventory.pages),
        },
    )
    write_json(folder / VERSION, version)
    return version


def read_version(folder: Path, document_ids: Iterable[str]) -> StoredVersion:
    """Read a version and check its digests.

    Args:
        folder: The ``P<k>`` folder.
        document_ids: All documents of the benchmark's corpus.

    Raises:
        DataError: a file is missing, has bad rows, dangling ids, or another digest than recorded.
    """
    # P0 is mined anew; a later version holds decisions that no stage of a run can make again.
    again = "run 'nclue-build mine' again" if folder.name == "P0" else "restore it, or repair its parent version again"
    version = read_json(folder / VERSION, InventoryVersion, advice=again)
    found = Findings()
    for name, digest in sorted(version.digests.items()):
        path = folder / name
        if not path.is_file():
            found.add("file-missing", f"file not found: {again}", path=str(path))
        elif sha256_file(path) != digest:
            found.add("digest-differs", f"differs from the digest in {VERSION}: {again}", path=str(path))
    found.raise_any()
    conditions: dict[str, Condition] = {}
    path = folder / CONDITIONS
    for line, row in read_numbered(path, Condition, found=found):
        if row.condition_id in conditions:
            found.add("duplicate-condition", "the id stands twice", path=str(path), line=line, id=row.condition_id)
        conditions[row.condition_id] = row
    path = folder / EVIDENCE
    columns = read_evidence(path, found)
    inventory = Inventory.from_columns(
        columns, tuple(conditions), tuple(document_ids), version.level, path=str(path), found=found
    )
    return StoredVersion(version, tuple(conditions.values()), inventory)
