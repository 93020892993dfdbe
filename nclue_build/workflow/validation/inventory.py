"""What mining kept, and the inventory versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.store import layout
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.reading import Reading

_SEEN: Final = ((layout.SURFACE_FORMS, "surface_forms", "form"), (layout.CLUSTERS, "clusters", "cluster_id"))
"""What mining saw: files, their families and the field that must be unique."""


def check_mined(reading: Reading) -> None:
    """``surface_forms.jsonl``, ``clusters.jsonl`` and ``rejected.jsonl``."""
    for file, name, attribute in _SEEN:
        path = reading.build.inventory / file
        for _ in reading.ids(reading.rows(path, find_family(name).model), path, attribute, "duplicate-id"):
            pass
    for _ in reading.rows(reading.build.inventory / layout.REJECTED, find_family("rejected").model):
        pass


def versions(inventory: Path) -> list[int]:
    """Numbers of the inventory versions there are, ascending."""
    return sorted(int(path.name[1:]) for path in inventory.glob("P*") if path.name[1:].isdecimal() and path.is_dir())


def check_version(reading: Reading, number: int, documents: KnownDocuments) -> frozenset[str]:
    """One ``P<k>``: its files by digest, unique and known ids.

    Returns:
        Ids of its conditions.
    """
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
    conditions = {row.condition_id for _, row in reading.ids(rows, path, "condition_id", "duplicate-condition")}
    path = folder / layout.EVIDENCE
    seen: dict[tuple[str, str], int] = {}
    for line, row in reading.rows(path, find_family("evidence").model):
        pair = (row.condition_id, row.doc_id)
        if (first := seen.setdefault(pair, line)) != line:
            reading.add(
                "duplicate-evidence", f"{pair} stands twice (first in line {first})", path, line, row.condition_id
            )
        if row.condition_id not in conditions:
            message = f"condition {row.condition_id!r} is not in {layout.CONDITIONS}"
            reading.add("unknown-condition", message, path, line, row.condition_id)
        if row.doc_id not in documents.in_benchmark:
            message = f"document {row.doc_id!r} is not in the benchmark's corpus"
            reading.add("unknown-document", message, path, line, row.doc_id)
    return frozenset(conditions)
