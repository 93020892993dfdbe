"""Whether a benchmark belongs to the inventory beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError, Finding
from nclue_build.records.benchmark import QrelsMeta
from nclue_build.store.jsonl import read_json
from nclue_build.store.layout import META

if TYPE_CHECKING:
    from nclue_build.store.workspace import Build
    from nclue_build.workflow.receipts import Digests


def outdated_benchmark(build: Build, digests: Digests) -> Finding | None:
    """Compare the inventory that a benchmark names with the one that is there.

    A run that fails in composing leaves the benchmark of an earlier one beside the new inventory. Whoever checks it
    then finds hundreds of differences, all of one cause: that one is to be said first.

    Args:
        build: The build.
        digests: Digests known so far.

    Returns:
        The finding, or None where they fit, or where there is no benchmark that says.
    """
    path = build.benchmark / META
    try:
        meta = read_json(path, QrelsMeta)
    except DataError:
        return None
    folder = build.version(meta.inventory_version)
    changed = [name for name, digest in sorted(meta.inventory_digests.items()) if digests.of(folder / name) != digest]
    newest = max(build.versions(), default=0)
    if not changed and meta.inventory_version == newest:
        return None
    if not changed:
        message = (
            f"the benchmark follows from {folder.name}, and the inventory has P{newest}: restore the benchmark that "
            f"belongs to it, or remove the versions after {folder.name} and repair again"
        )
        return Finding("outdated-benchmark", message, build.relative(path))
    message = (
        f"the benchmark was composed from another inventory than {build.relative(folder)} now is "
        f"({', '.join(changed)} changed): most other findings follow from that. Run 'nclue-build run'"
    )
    return Finding("outdated-benchmark", message, build.relative(path))
