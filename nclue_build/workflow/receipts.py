"""Receipts: what a stage read, how it was set, what it wrote, all by digest.

``.nclue/receipts/<build>/<stage>.json``. A stage whose receipt still matches is skipped;
anything else makes it stale. Time stamps are never compared.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter

from nclue_build.core.canonical import canonical_json, sha256_bytes, sha256_file
from nclue_build.core.errors import DataError
from nclue_build.records.receipt import Receipt
from nclue_build.store.jsonl import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from nclue_build.core.canonical import Json
    from nclue_build.store.workspace import Build

_SETTINGS: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def receipt_path(build: Build, stage: str) -> Path:
    """Where the receipt of a stage lies."""
    return build.receipts / f"{stage}.json"


def load_receipt(build: Build, stage: str) -> Receipt | None:
    """The receipt of a stage, or None when there is none that can be read."""
    try:
        return read_json(receipt_path(build, stage), Receipt)
    except DataError:
        return None


def save_receipt(build: Build, receipt: Receipt) -> None:
    """Write a receipt; it goes last, so its presence says that the outputs are whole."""
    write_json(receipt_path(build, receipt.stage), receipt)


def plain_settings(settings: Mapping[str, Json]) -> tuple[dict[str, JsonValue], str]:
    """Settings as plain JSON values, and the digest of their canonical text."""
    text = canonical_json(dict(settings))
    return _SETTINGS.validate_python(json.loads(text)), sha256_bytes(text)


Signature = tuple[int, int, int, int]


def signature(path: Path) -> Signature:
    """What changes whenever a file is written: inode, size, change and modification time."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_ctime_ns, status.st_mtime_ns


class Digests:
    """SHA-256 of files, each computed once per run unless the file was written since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Signature, str]] = {}

    def of(self, path: Path) -> str | None:
        """Digest of a file; None when there is no such file, or one that must not be read."""
        try:
            now = signature(path)
            known = self._known.get(path)
            if known is None or known[0] != now:
                known = (now, sha256_file(path))
                self._known[path] = known
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            return None
        return known[1]


def files_below(paths: Iterable[Path]) -> Iterator[Path]:
    """The files named, and every visible file below the folders named, sorted."""
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found.update(file for file in path.rglob("*") if not file.name.startswith(".") and file.is_file())
        else:
            found.add(path)
    yield from sorted(found)


def digest_inputs(build: Build, inputs: Iterable[Path], digests: Digests) -> dict[str, str | None]:
    """Digest of every input; a folder stands for the files that a stage wrote into it.

    Files of somebody else in such a folder do not count. A folder that no receipt knows counts whole.
    """
    made = written_files(build)
    found: dict[str, str | None] = {}
    for given in inputs:
        files = {build.relative(path): path for path in files_below([given])}
        ours = {name: path for name, path in files.items() if name in made} if given.is_dir() else {}
        found |= {name: digests.of(path) for name, path in (ours or files).items()}
    return dict(sorted(found.items()))


def written_files(build: Build) -> dict[str, tuple[str, str]]:
    """Every file that a receipt of the build lists as written: (stage, SHA-256) by workspace path."""
    receipts = (load_receipt(build, path.stem) for path in sorted(build.receipts.glob("*.json")))
    return {
        name: (receipt.stage, digest)
        for receipt in receipts
        if receipt is not None
        for name, digest in receipt.outputs.items()
    }
