"""What lies in the folders of a build and does not belong there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from nclue_build.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nclue_build.workflow.validation.reading import Reading

_BENCHMARK: Final = frozenset({
    layout.QUERIES, layout.QRELS, layout.META, layout.COMPOSITION, layout.FORMS_QA, layout.REJECTED,
    layout.GATE_REPORT, layout.CALLS, layout.AGREEMENT, *layout.REPAIR_FILES, *layout.TREC_FILES,
    *(f"{layout.BEIR}/{name}" for name in layout.BEIR_FILES),
})  # fmt: skip
_INVENTORY: Final = frozenset({
    layout.DOCUMENTS, layout.QUALITY, layout.DUPLICATES, layout.SURFACE_FORMS, layout.CLUSTERS, layout.REJECTED,
    layout.CALLS, layout.AGREEMENT,
})  # fmt: skip
_VERSION: Final = (*layout.VERSION_FILES, layout.DECISIONS, layout.PAIR_DECISIONS, layout.PAIR_OVERRIDES)
_IN_INVENTORY: Final = re.compile(rf"pages/[^/]+\.jsonl|P\d+/({'|'.join(map(re.escape, _VERSION))})")
_OLDER: Final = re.compile(r"at-P\d+/")
"""Benchmarks of older inventory versions, which a repair keeps."""


def check_strangers(reading: Reading) -> None:
    """Report every file that no stage writes, and every link, in the folders of the inventory and the benchmark.

    Hidden files are left alone: they are what a file manager or an interrupted write leaves behind.
    """
    build = reading.build
    for name, path in _visible(build.inventory):
        if not path.is_symlink() and name not in _INVENTORY and not _IN_INVENTORY.fullmatch(name):
            _report(reading, path)
    for name, path in _visible(build.benchmark):
        if not path.is_symlink() and name not in _BENCHMARK and not _OLDER.match(name):
            _report(reading, path)
    for folder in (build.inventory, build.benchmark):
        for _, path in _visible(folder):
            if path.is_symlink():
                message = f"is a link to {path.readlink()}: put the file itself in its place"
                reading.add("linked-file", message, path)


def _report(reading: Reading, path: Path) -> None:
    reading.add("unknown-file", "no stage writes this file: move it out of the build", path)


def _visible(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files and links below a folder, by their path in it, sorted; what a link leads to is not entered."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from ((f"{path.name}/{name}", below) for name, below in _visible(path))
        else:
            yield path.name, path
