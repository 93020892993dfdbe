"""The corpus file: its rows, and where the PDF of each lies or will lie."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nclue_build.core.errors import Finding, UsageError
from nclue_build.core.findings import Findings
from nclue_build.core.printable import escaped, is_utf8
from nclue_build.records.config import BUILD_PLACE
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.jsonl import read_numbered

if TYPE_CHECKING:
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of a corpus file.

    Args:
        row: As given.
        path: Its PDF: the file that the row names, else ``<doc_id>.pdf`` in the folder that fetching fills.
        file_name: The same, relative to the corpus file.
        line: 1-based line in the corpus file.
    """

    row: CorpusRow
    path: Path
    file_name: str
    line: int

    @property
    def can_be_fetched(self) -> bool:
        """Whether the row says where the document could be fetched from."""
        return bool(self.row.pdf_url or self.row.archive_url)


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A corpus file as it was read.

    Args:
        path: Where it lies.
        shown: The same as messages name it.
        listed: Its good rows, in order; whether their files are there is not looked at.
        found: What is wrong with the others.
    """

    path: Path
    shown: str
    listed: list[Listed]
    found: list[Finding]


def load_corpus_file(build: Build, section_file: str, fetch_folder: str) -> CorpusFile:
    """Read a corpus file.

    Args:
        build: The build.
        section_file: ``corpus.file`` of its configuration.
        fetch_folder: ``fetch.folder`` of its configuration.

    Raises:
        UsageError: it is missing, or lies in a folder whose name no UTF-8 file can hold.
    """
    path = (build.workspace.root / section_file).resolve()
    check_place(path)
    shown = build.relative(path)
    if not path.is_file():
        raise UsageError(f"{shown}: no such corpus file (corpus.file in {build.relative(build.config_path)})")
    fetched = fetched_folder(build, fetch_folder)
    bad_rows = Findings()
    found: list[Finding] = []
    listed: list[Listed] = []
    first_line: dict[str, int] = {}
    for number, row in read_numbered(path, CorpusRow, found=bad_rows, by_hand=True):
        if (seen := first_line.setdefault(row.doc_id, number)) != number:
            message = f"doc_id {row.doc_id!r} stands twice (first in line {seen}): ids must be unique"
            found.append(Finding("duplicate-document", message, shown, number, row.doc_id))
        elif row.file_name is None:
            place = fetched / f"{row.doc_id}.pdf"
            listed.append(Listed(row, place, Path(os.path.relpath(place, path.parent)).as_posix(), number))
        else:
            listed.append(Listed(row, path.parent / row.file_name, row.file_name, number))
    return CorpusFile(path, shown, listed, [*found, *bad_rows.kept])


def fetched_folder(build: Build, fetch_folder: str) -> Path:
    """The folder that fetching fills, as ``fetch.folder`` names it."""
    return (build.workspace.root / fetch_folder.replace(BUILD_PLACE, build.name)).resolve()


def check_place(place: Path) -> None:
    """Refuse a corpus in a folder whose name no UTF-8 file can hold.

    Raises:
        UsageError: it is one.
    """
    if not is_utf8(str(place)):
        raise UsageError(f"{escaped(str(place))}: the name is not UTF-8: rename the folder, or move the corpus")
