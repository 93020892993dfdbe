"""What the files of a build say of each other: order, counts and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.text import TEXT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nclue_build.records.benchmark import QrelsMeta
    from nclue_build.records.inventory import InventoryVersion
    from nclue_build.rederive.differences import Differences
    from nclue_build.rederive.qrels_check import Judged


def check_order(keys: Iterable[tuple[int, tuple[str, ...]]], path: str, out: Differences) -> None:
    """Report the first row of a file that comes after a greater one; repeats are no matter of order.

    Args:
        keys: Line and ids of every row.
        path: Of the file, as shown.
        out: Takes the difference.
    """
    previous: tuple[str, ...] = ()
    for line, key in keys:
        if key < previous:
            out.add("not-sorted", f"{' '.join(key)} comes after {' '.join(previous)}", path=path, line=line, id=key[0])
            return
        previous = key


def compare_version(
    version: InventoryVersion, allowed_roles: Sequence[str], counts: Mapping[str, int], path: str, out: Differences
) -> None:
    """Compare version.json with the configured roles, this program's text rules, and what the files hold."""
    if sorted(version.allowed_roles) != sorted(allowed_roles):
        out.add("allowed-roles-differ", f"stored {version.allowed_roles}, configured {tuple(allowed_roles)}", path=path)
    if version.text_version != TEXT_VERSION:
        out.add("text-version-differs", f"stored {version.text_version}, here {TEXT_VERSION}", path=path)
    for name, count in counts.items():
        if (kept := version.counts.get(name)) != count:
            out.add("version-counts-differ", f"{name}: stored {kept}, the files hold {count}", path=path)


def compare_meta(meta: QrelsMeta, version: InventoryVersion, judged: Judged, path: str, out: Differences) -> None:
    """Compare qrels.meta.json with the recomputed judgments and the inventory version."""
    judgments = [judgment for rows in judged.values() for judgment in rows.values()]
    expected: dict[str, object] = {
        "inventory_version": version.version,
        "inventory_digests": version.digests,
        "level": version.level,
        "n_queries": len(judged),
        "n_qrels": len(judgments),
        "n_golds": sum(1 for judgment in judgments if judgment.gold),
    }
    for name, value in expected.items():
        if (kept := getattr(meta, name)) != value:
            out.add("meta-differs", f"{name}: stored {kept}, recomputed {value}", path=path)
