"""Inventory versions on disk: ``P<k>/conditions.jsonl``, ``evidence.jsonl``, ``version.json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import Condition, EvidenceRow, InventoryVersion
from nclue_build.store.jsonl import read_json, read_jsonl, write_json, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.records.corpus import Role

CONDITIONS = "conditions.jsonl"
EVIDENCE = "evidence.jsonl"
VERSION = "version.json"


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
) -> InventoryVersion:
    """Write a version; ``version.json`` goes last, so its presence says that the rest is whole."""
    ordered = sorted(conditions, key=lambda row: row.condition_id)
    write_jsonl(folder / CONDITIONS, ordered)
    write_jsonl(folder / EVIDENCE, inventory.rows())
    version = InventoryVersion(
        version=number,
        parent=parent,
        level="document" if inventory.level == "document" else "page",
        decisions=tuple(decisions),
        allowed_roles=allowed_roles,
        text_version=text_version,
        digests={name: sha256_file(folder / name) for name in (CONDITIONS, EVIDENCE)},
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
    version = read_json(folder / VERSION, InventoryVersion)
    for name, digest in sorted(version.digests.items()):
        if not (folder / name).is_file():
            raise DataError(f"{folder / name}: file not found: run 'nclue-build mine' again")
        if sha256_file(folder / name) != digest:
            raise DataError(f"{folder / name}: differs from the digest in {VERSION}: run 'nclue-build mine' again")
    conditions = tuple(read_jsonl(folder / CONDITIONS, Condition))
    inventory = Inventory.from_rows(
        read_jsonl(folder / EVIDENCE, EvidenceRow),
        [row.condition_id for row in conditions],
        tuple(document_ids),
        version.level,
    )
    return StoredVersion(version, conditions, inventory)
