"""Making a workspace around a user's own PDFs, which stay where they are."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import InternalError, UsageError
from nclue_build.core.ids import id_problem
from nclue_build.core.phrases import counted
from nclue_build.core.printable import escaped, is_utf8
from nclue_build.corpus.sources import pdf_paths
from nclue_build.records.config import CorpusSection, FetchSection
from nclue_build.store.atomic import write_text
from nclue_build.store.prompts import PROMPT_FILES
from nclue_build.store.workspace import MARKER, Build, Workspace
from nclue_build.workflow.assets import read_asset
from nclue_build.workflow.fetching import missing_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_BUILD: Final = "main"
FEW_DOCUMENTS: Final = 8
"""Below this many a run seldom has a query to deliver."""
TEMPLATE: Final = "configs/template.toml"
_RESERVED = ("workspace", "template")
_FILE_KEY = 'file = "corpora/demo/corpus.jsonl"     #'
_PDFS_KEY = '# pdfs = "FOLDER"                      #'
_IGNORED: Final = (".nclue/", "corpora/*/pdf/", "inventory/*/pages/", "benchmarks/*/beir/", "reading/")

_ATTRIBUTES: Final = "frozen_outputs/** -text merge=union\nprompts/** text eol=lf\n"
"""Recorded calls keep their bytes, and branches that recorded different ones merge; so do the digests of prompts."""


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A workspace made or completed.

    Args:
        build: The build that is ready to run.
        written: Files written, relative to the workspace.
        n_documents: Documents it will read.
        is_default: Whether commands that name no build mean this one.
        notes: Things the user may want to know or do.
    """

    build: Build
    written: tuple[str, ...]
    n_documents: int
    is_default: bool
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
        DataError: the corpus file has bad rows, or the folder has names that are not UTF-8.
    """
    name = build or DEFAULT_BUILD
    if problem := id_problem(name):
        raise UsageError(f"--build: {problem}")
    if name in _RESERVED:
        raise UsageError(f"--build: {name!r} is taken by configs/{name}.toml: choose another name")
    if (pdfs is None) == (corpus is None):
        raise UsageError("give either --pdfs FOLDER or --corpus FILE.jsonl")
    _check_names(folder, pdfs or corpus)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a folder")
    if corpus is not None and not corpus.is_file():
        raise UsageError(f"--corpus: there is no file {corpus}")
    if pdfs is not None and not pdfs.is_dir():
        raise UsageError(f"--pdfs: there is no folder {pdfs}")
    root = folder.resolve()
    chosen = Build(Workspace(root), name)
    section = CorpusSection(file=_from(root, corpus), pdfs=_from(root, pdfs))
    n_documents = _count(chosen, section, pdfs)
    marker = f'schema = 1\ndefault_build = "{name}"\n'
    wanted = {chosen.config_path: _configuration(section)}
    if not (root / MARKER).exists():
        wanted[root / MARKER] = marker
    wanted |= _kept_if_there(root)
    notes = _notes(root, n_documents, len(missing_documents(chosen, section, FetchSection().folder)))
    ignore = root / ".gitignore"
    if not ignore.exists():
        wanted[ignore] = "\n".join(_IGNORED) + "\n"
    elif missing := sorted(set(_IGNORED) - set(ignore.read_text(encoding="utf-8", errors="replace").split())):
        notes.append(f"{ignore} is left as it is: you may want to add {', '.join(missing)}")
    written = _write(root, wanted)
    return Scaffold(chosen, written, n_documents, _is_default(chosen), tuple(notes))


def _kept_if_there(root: Path) -> dict[Path, str]:
    """Prompts and marks that are missing; those that are there may be the user's own work, and are left alone."""
    contents = {f"prompts/{name}": read_asset(f"prompts/{name}") for name in PROMPT_FILES}
    contents[".gitattributes"] = _ATTRIBUTES
    return {root / name: text for name, text in contents.items() if not (root / name).exists()}


def _check_names(*places: Path | None) -> None:
    for place in filter(None, places):
        name = str(place.resolve())
        if not is_utf8(name):
            raise UsageError(f"{escaped(name)}: the name is not UTF-8: rename it")


def _count(build: Build, section: CorpusSection, pdfs: Path | None) -> int:
    try:
        return len(pdf_paths(build, section, allow_unfetched=True))
    except UsageError:
        if pdfs is None:
            raise
        # The configuration that the error names is not written yet.
        raise UsageError(
            f"--pdfs: there is no PDF in {pdfs} or its sub-folders: name another folder, or put PDFs into it"
        ) from None


def _is_default(build: Build) -> bool:
    try:
        return build.workspace.choose_build() == build
    except UsageError:  # several, and no default
        return False


def _notes(root: Path, n_documents: int, n_missing: int) -> list[str]:
    notes: list[str] = []
    if n_documents < FEW_DOCUMENTS:
        notes.append(
            f"little can come of {counted(n_documents, 'document')}: concepts have to occur in several of "
            "them, so a useful corpus has some dozens that share subjects"
        )
    if n_missing:
        notes.append(f"{counted(n_missing, 'document')} will be downloaded by the first run, or by: nclue-build fetch")
    around = next((folder for folder in root.parents if (folder / MARKER).is_file()), None)
    if around is not None:
        notes.append(f"this workspace lies inside another, {around}: commands in {root} mean the inner one")
    return notes


def _write(root: Path, wanted: Mapping[Path, str]) -> tuple[str, ...]:
    new = {path: text for path, text in wanted.items() if not path.exists()}
    for path in sorted(wanted.keys() - new.keys()):
        if path.read_bytes() != wanted[path].encode():
            raise UsageError(f"{path} is there already and differs: it is kept. Remove it, or use --build NAME")
    for path in sorted(new):
        write_text(path, new[path])
    return tuple(sorted(path.relative_to(root).as_posix() for path in new))


def _from(root: Path, place: Path | None) -> str | None:
    """A place as the configuration names it: relative to the workspace."""
    return None if place is None else Path(os.path.relpath(place.resolve(), root)).as_posix()


def _configuration(section: CorpusSection) -> str:
    """The annotated template with its corpus in place.

    Raises:
        InternalError: the template no longer has the lines that are to be replaced.
    """
    # A JSON string is a TOML string, but for DEL, which only TOML wants escaped.
    shown = json.dumps(section.pdfs or section.file, ensure_ascii=False).replace("\x7f", "\\u007f")
    if section.pdfs is None:
        wanted = {_FILE_KEY: f"file = {shown}"}
    else:
        wanted = {_FILE_KEY: '# file = "corpus.jsonl"', _PDFS_KEY: f"pdfs = {shown}"}
    text = read_asset(TEMPLATE)
    for key, line in wanted.items():
        if text.count(key) != 1:
            raise InternalError(f"{TEMPLATE} has no line {key!r} to put the corpus into")
        text = text.replace(key, line.ljust(len(key) - 2) + " #")
    return text
