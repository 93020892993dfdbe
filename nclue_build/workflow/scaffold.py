"""Making a workspace around a user's own PDFs, which stay where they are."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.ids import id_problem
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.atomic import write_text
from nclue_build.store.jsonl import read_jsonl
from nclue_build.store.workspace import MARKER, Build, Workspace
from nclue_build.workflow.assets import read_asset

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_BUILD: Final = "main"
_RESERVED = ("workspace", "template")
_TEMPLATE_CORPUS = 'file = "corpora/demo/corpus.jsonl"     #'
_TEMPLATE_PDFS = '# pdfs = "FOLDER"                      #'
_KEY_WIDTH = 38
_IGNORED: Final = (".nclue/", "inventory/*/pages/", "benchmarks/*/beir/")


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A workspace made or completed.

    Args:
        build: The build that is ready to run.
        written: Files written, relative to the workspace.
        n_documents: Documents it will read.
        notes: Things the user may want to do.
    """

    build: Build
    written: tuple[str, ...]
    n_documents: int
    notes: tuple[str, ...] = ()


def init_workspace(
    folder: Path, *, pdfs: Path | None = None, corpus: Path | None = None, build: str | None = None
) -> Scaffold:
    """Make a workspace for a folder of PDFs or a corpus file; nothing is copied or moved.

    Everything is checked before the first file is written, and no file that differs is
    overwritten, so it can be repeated, and adds a build to an existing workspace.

    Args:
        folder: The workspace, made when missing.
        pdfs: Folder of PDFs, searched with its sub-folders.
        corpus: Corpus file (``corpus.jsonl``), its file names relative to its folder.
        build: Name of the build, ``main`` by default.

    Returns:
        What was made.

    Raises:
        UsageError: not exactly one of ``pdfs`` and ``corpus``, nothing there to read, a bad name, or a file in the way.
        DataError: the corpus file has bad rows.
    """
    name = build or DEFAULT_BUILD
    if problem := id_problem(name):
        raise UsageError(f"--build: {problem}")
    if name in _RESERVED:
        raise UsageError(f"--build: {name!r} is taken by configs/{name}.toml: choose another name")
    if (pdfs is None) == (corpus is None):
        raise UsageError("give either --pdfs FOLDER or --corpus FILE.jsonl")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder")
    n_documents = _count_pdfs(pdfs) if pdfs is not None else _count_rows(corpus or Path())
    root = folder.resolve()
    chosen = Build(Workspace(root), name)
    marker = f'schema = 1\ndefault_build = "{name}"\n'
    wanted = {chosen.config_path: _configuration(root, pdfs, corpus)}
    if not (root / MARKER).exists():
        wanted[root / MARKER] = marker
    notes: list[str] = []
    ignore = root / ".gitignore"
    if not ignore.exists():
        wanted[ignore] = "\n".join(_IGNORED) + "\n"
    elif missing := sorted(set(_IGNORED) - set(ignore.read_text(encoding="utf-8").split())):
        notes.append(f"{ignore} is left as it is: you may want to add {', '.join(missing)}")
    return Scaffold(chosen, _write(root, wanted), n_documents, tuple(notes))


def _write(root: Path, wanted: Mapping[Path, str]) -> tuple[str, ...]:
    new = {path: text for path, text in wanted.items() if not path.exists()}
    for path in sorted(wanted.keys() - new.keys()):
        if path.read_text(encoding="utf-8") != wanted[path]:
            raise UsageError(f"{path} is there already and differs: it is kept. Remove it, or use --build NAME")
    for path in sorted(new):
        write_text(path, new[path])
    return tuple(sorted(path.relative_to(root).as_posix() for path in new))


def _configuration(root: Path, pdfs: Path | None, corpus: Path | None) -> str:
    """The annotated template with its corpus in place."""
    key, place = ("pdfs", pdfs) if pdfs is not None else ("file", corpus or Path())
    shown = json.dumps(Path(os.path.relpath(place.resolve(), root)).as_posix(), ensure_ascii=False)
    text = read_asset("configs/template.toml")
    other = _TEMPLATE_CORPUS if key == "pdfs" else _TEMPLATE_PDFS
    line = _TEMPLATE_PDFS if key == "pdfs" else _TEMPLATE_CORPUS
    before, _, after = text.partition(line)
    text = before + f"{key} = {shown}".ljust(_KEY_WIDTH) + " #" + after
    return text.replace(other, '# file = "corpus.jsonl"'.ljust(_KEY_WIDTH) + " #") if key == "pdfs" else text


def _count_pdfs(folder: Path) -> int:
    if not folder.is_dir():
        raise UsageError(f"--pdfs: {folder} is no folder")
    count = sum(1 for path in folder.rglob("*") if path.suffix.lower() == ".pdf" and path.is_file())
    if not count:
        raise UsageError(f"--pdfs: there is no PDF in {folder} or below")
    return count


def _count_rows(path: Path) -> int:
    if not path.is_file():
        raise UsageError(f"--corpus: there is no file {path}")
    seen: set[str] = set()
    repeated: list[Finding] = []
    for row in read_jsonl(path, CorpusRow):
        if row.doc_id in seen:
            repeated.append(Finding("duplicate-id", f"doc_id {row.doc_id!r} stands twice", str(path), id=row.doc_id))
        seen.add(row.doc_id)
    if repeated:
        raise DataError.from_findings(repeated)
    if not seen:
        raise UsageError(f"--corpus: {path} lists no document")
    return len(seen)
