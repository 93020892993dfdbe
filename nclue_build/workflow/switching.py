"""From one inventory version and its benchmark to the next: a kill at any point leaves the old pair whole, or the new.

Both are written under names that nothing reads. Then the version takes its name, marked as unfinished; the folder of
the benchmark is exchanged, which is the step that decides; and the mark goes. Whoever holds the lock of the build next
finishes what was exchanged, and takes back what was not.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.records.benchmark import QrelsMeta
from nclue_build.records.inventory import InventoryVersion
from nclue_build.store import layout
from nclue_build.store.atomic import TEMPORARY_SUFFIX, sync_folder, write_bytes
from nclue_build.store.exchange import exchange_folders, folder_in_the_making, leftover_folders, restore_folder
from nclue_build.store.jsonl import read_json
from nclue_build.workflow.receipts import load_receipt, save_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nclue_build.store.workspace import Build

_REGENERATED = frozenset({
    layout.QUERIES, layout.QRELS, layout.META, layout.COMPOSITION, layout.FORMS_QA, layout.REJECTED, layout.CALLS,
    layout.AGREEMENT, layout.GATE_REPORT, *layout.TREC_FILES, *layout.REPAIR_FILES,
})  # fmt: skip
"""Files of a benchmark that belong to its version; whatever else lies in the folder goes along."""


def staged_version(build: Build, number: int) -> Path:
    """Where the next inventory version is written."""
    return build.inventory / f".P{number}{TEMPORARY_SUFFIX}"


def staged_benchmark(build: Build) -> Path:
    """Where the next benchmark is written."""
    return folder_in_the_making(build.benchmark)


def keep_older(build: Build, folder: Path, number: int) -> None:
    """Give a staged benchmark the one it replaces, as ``at-P<number>``, and whatever else lies beside that.

    Files are linked, not copied, where the system can: nothing writes into a file that is there. The texts of the BEIR
    folder are not kept twice.
    """
    for name, path in _files(build.benchmark):
        if name.startswith(f"{layout.BEIR}/"):
            continue
        target = folder / f"at-P{number}" / name if name in _REGENERATED else folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target, follow_symlinks=False)
        except OSError:  # a file system without links
            shutil.copy2(path, target, follow_symlinks=False)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if path.name.endswith(TEMPORARY_SUFFIX):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from ((f"{path.name}/{name}", below) for name, below in _files(path))
        else:
            yield path.name, path


def switch(build: Build, number: int) -> None:
    """Put a staged version and its staged benchmark in place. The lock of the build is held."""
    staged = staged_version(build, number)
    write_bytes(staged / layout.UNFINISHED, b"")
    staged.rename(build.version(number))
    sync_folder(build.inventory)
    old = exchange_folders(build.benchmark, staged_benchmark(build))
    _finish(build, number)
    shutil.rmtree(old)


def recover(build: Build) -> None:
    """Finish or take back a repair that was killed. The lock of the build is held."""
    restore_folder(build.benchmark)
    for mark in sorted(build.inventory.glob(f"P*/{layout.UNFINISHED}")):
        number = int(mark.parent.name[1:])
        if _belong_together(build, number):
            _finish(build, number)
        else:
            shutil.rmtree(mark.parent)
    for folder in leftover_folders(build.benchmark):
        shutil.rmtree(folder)


def _belong_together(build: Build, number: int) -> bool:
    """Whether the benchmark that is there follows from a version."""
    try:
        meta = read_json(build.benchmark / layout.META, QrelsMeta)
        version = read_json(build.version(number) / layout.VERSION, InventoryVersion)
    except DataError:
        return False
    return (meta.inventory_version, meta.inventory_digests) == (number, version.digests)


def _finish(build: Build, number: int) -> None:
    """What comes after the exchange: the composed benchmark lies elsewhere now, and its receipt has to say so."""
    receipt = load_receipt(build, "compose")
    if receipt is not None:
        here, kept = build.relative(build.benchmark) + "/", build.relative(build.older(0)) + "/"
        outputs = {
            name if name.startswith(kept) else kept + name.removeprefix(here): digest
            for name, digest in receipt.outputs.items()
            if not name.startswith(f"{here}{layout.BEIR}/")
        }
        if outputs != receipt.outputs:
            save_receipt(build, receipt.model_copy(update={"outputs": outputs}))
    (build.version(number) / layout.UNFINISHED).unlink()
    sync_folder(build.version(number))
