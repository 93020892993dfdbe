"""What mining kept, and the inventory versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.inventory.files import CONDITIONS, EVIDENCE, VERSION
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.workflow.validation.corpus import KnownDocuments
    from nclue_build.workflow.validation.report import Report

SEEN = (("surface_forms", "form"), ("clusters", "cluster_id"))
"""What mining saw: families and the field that must be unique."""


def check_mined(report: Report) -> None:
    """``surface_forms.jsonl``, ``clusters.jsonl`` and ``rejected.jsonl``."""
    for name, attribute in SEEN:
        path = report.build.inventory / f"{name}.jsonl"
        for _ in report.ids(report.rows(path, find_family(name).model), path, attribute, "duplicate-id"):
            pass
    for _ in report.rows(report.build.inventory / "rejected.jsonl", find_family("rejected").model):
        pass


def versions(inventory: Path) -> list[int]:
    """Numbers of the inventory versions there are, ascending."""
    return sorted(int(path.name[1:]) for path in inventory.glob("P*") if path.name[1:].isdecimal() and path.is_dir())


def check_version(report: Report, number: int, documents: KnownDocuments) -> frozenset[str]:
    """One ``P<k>``: its files by digest, unique and known ids.

    Returns:
        Ids of its conditions.
    """
    folder = report.build.version(number)
    version = report.file(folder / VERSION, find_family("version").model)
    for name, digest in sorted(version.digests.items()) if version is not None else ():
        path = folder / name
        if path.is_file() and sha256_file(path) != digest:
            report.add("digest-differs", f"differs from the digest in {VERSION}", path)
    path = folder / CONDITIONS
    rows = report.rows(path, find_family("conditions").model)
    conditions = {row.condition_id for _, row in report.ids(rows, path, "condition_id", "duplicate-condition")}
    path = folder / EVIDENCE
    seen: dict[tuple[str, str], int] = {}
    for line, row in report.rows(path, find_family("evidence").model):
        pair = (row.condition_id, row.doc_id)
        if (first := seen.setdefault(pair, line)) != line:
            report.add(
                "duplicate-evidence", f"{pair} stands twice (first in line {first})", path, line, row.condition_id
            )
        if row.condition_id not in conditions:
            message = f"condition {row.condition_id!r} is not in {CONDITIONS}"
            report.add("unknown-condition", message, path, line, row.condition_id)
        if row.doc_id not in documents.in_benchmark:
            message = f"document {row.doc_id!r} is not in the benchmark's corpus"
            report.add("unknown-document", message, path, line, row.doc_id)
    return frozenset(conditions)
