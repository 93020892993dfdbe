"""What the corpus consists of: rows of a corpus file, or the PDFs of a folder."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.core.errors import DataError, Finding, UsageError
from nclue_build.core.ids import document_id
from nclue_build.core.phrases import counted
from nclue_build.core.printable import escaped, printable_problem, without_controls
from nclue_build.records.config import FetchSection
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.corpus_file import check_place, load_corpus_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.config import CorpusSection
    from nclue_build.store.corpus_file import Listed
    from nclue_build.store.workspace import Build


_SHOWN_NAME: Final = 200
"""Characters of a file name that a message shows."""
_NOT_FOUND: Final = "file not found"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Digest and size in bytes of a file; where it must not be read, no digest, and ``problem`` says so."""

    sha256: str | None
    n_bytes: int
    problem: str | None = None


def read_corpus_file(
    build: Build, section_file: str, fetch_folder: str = FetchSection().folder, *, allow_unfetched: bool = False
) -> list[Listed]:
    """Read a corpus file; file names are relative to it.

    Args:
        build: The build.
        section_file: ``corpus.file`` of its configuration.
        fetch_folder: ``fetch.folder`` of its configuration: it has the documents of rows without a file.
        allow_unfetched: Take a document that is not there yet, but could be fetched.

    Raises:
        UsageError: it is missing, lists nothing, or lies in a folder whose name no UTF-8 file can hold.
        DataError: bad rows, duplicate ids, missing files, documents that were not fetched: all in one report.
    """
    corpus = load_corpus_file(build, section_file, fetch_folder)
    found = list(corpus.found)
    for one in corpus.listed:
        problem = _file_problem(one.path)
        if problem and not (allow_unfetched and problem == _NOT_FOUND and one.can_be_fetched):
            found.append(_missing(one, problem, corpus.shown))
    found = [replace(finding, path=corpus.shown) for finding in found]
    if found:
        raise DataError.from_findings(sorted(found, key=lambda finding: finding.line or 0))
    if not corpus.listed:
        raise UsageError(f"{corpus.shown}: the corpus file lists no document")
    return corpus.listed


def _missing(one: Listed, problem: str, shown: str) -> Finding:
    """What to say of a document whose file is not there."""
    row = one.row
    if row.file_name is not None or problem != _NOT_FOUND:
        advice = ": run 'nclue-build fetch'" if problem == _NOT_FOUND and one.can_be_fetched else ""
        message = f"{row.doc_id}: {one.file_name[:_SHOWN_NAME]}: {problem}{advice}"
        return Finding("file-missing", message, shown, one.line, row.doc_id)
    what = "run 'nclue-build fetch'" if one.can_be_fetched else "give a file_name or a pdf_url (url is not downloaded)"
    return Finding("not-fetched", f"{row.doc_id}: not fetched yet: {what}", shown, one.line, row.doc_id)


def _file_problem(path: Path) -> str | None:
    """Why a path is no file that can be read, or None; a pipe or device would hold reading up for ever."""
    try:
        kind = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _NOT_FOUND
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return None if stat.S_ISREG(kind) else "is no regular file"


def is_missing(path: Path) -> bool:
    """Whether nothing is there; what cannot be looked at, such as a name that is too long, is another matter."""
    return _file_problem(path) == _NOT_FOUND


def check_unchanged(path: Path, sha256: str | None, shown: str, doc_id: str) -> None:
    """Make sure that a file that has been read still is the one whose digest was taken before.

    Args:
        path: The file.
        sha256: Its digest.
        shown: Its name in messages.
        doc_id: A document it stands for.

    Raises:
        DataError: it is another one: what was read must not be kept under that digest.
    """
    try:
        now = sha256_file(path)
    except (FileNotFoundError, PermissionError):  # moved away or locked while it was read
        now = None
    if now != sha256:
        raise DataError.from_findings(
            [Finding("digest-differs", "changed while it was read; run again", shown, id=doc_id)]
        )


def check_digests(listed: Sequence[Listed], facts: Mapping[Path, FileFacts], shown: str) -> list[CorpusRow]:
    """Complete the rows of a corpus file with digest and size.

    Args:
        listed: The rows.
        facts: Digest and size of every file.
        shown: The corpus file as named in messages.

    Raises:
        DataError: files that differ from the digest or size recorded, all in one report.
    """
    found: list[Finding] = []
    rows: list[CorpusRow] = []
    for one in listed:
        row, fact = one.row, facts[one.path]
        if fact.problem is not None:
            rows.append(row.model_copy(update={"bytes": row.bytes or fact.n_bytes, "file_name": one.file_name}))
            continue
        if row.sha256 is not None and row.sha256 != fact.sha256:
            message = f"{row.doc_id}: {one.file_name}: SHA-256 is {fact.sha256}, not {row.sha256} as listed"
            found.append(Finding("digest-differs", message, shown, one.line, row.doc_id))
        elif row.bytes is not None and row.bytes != fact.n_bytes:
            message = f"{row.doc_id}: {one.file_name}: has {fact.n_bytes} bytes, not {row.bytes} as listed"
            found.append(Finding("size-differs", message, shown, one.line, row.doc_id))
        known = {"sha256": fact.sha256, "bytes": fact.n_bytes, "file_name": one.file_name}
        rows.append(row.model_copy(update=known))
    if found:
        raise DataError.from_findings(found)
    return rows


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The PDFs of a folder and its sub-folders, sorted by their path.

    Args:
        n_hidden: How many hidden ones are left out.
        no_files: What has the name of a PDF and is no file: a broken link, a pipe.
    """

    paths: list[Path]
    n_hidden: int
    no_files: list[str]


def find_pdfs(build: Build, section_pdfs: str) -> FolderListing:
    """List the PDFs of a folder and its sub-folders.

    What starts with a dot is left out: most of it is the resource forks that macOS puts beside files (``._a.pdf``).

    Raises:
        UsageError: there is no such folder, or no PDF in it.
        DataError: names that no UTF-8 file can hold, all in one report.
    """
    folder = (build.workspace.root / section_pdfs).resolve()
    check_place(folder)
    shown = build.relative(folder)
    where = f"(corpus.pdfs in {build.relative(build.config_path)})"
    if not folder.is_dir():
        raise UsageError(f"{shown}: no such folder {where}")
    found: list[Path] = []
    no_files: list[str] = []
    for path in folder.rglob("*"):
        if path.suffix.lower() != ".pdf":
            continue
        if path.is_file():
            found.append(path)
        elif not path.is_dir():
            no_files.append(escaped(build.relative(path)))
    paths = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    n_hidden = len(found) - len(paths)
    if not paths:
        raise UsageError(f"{shown}: no PDF in this folder or below{_but_hidden(n_hidden)} {where}")
    paths.sort(key=lambda path: path.relative_to(folder).as_posix())
    bad_names = [
        Finding("bad-file-name", f"the name {problem}: rename the file or folder", escaped(build.relative(path)))
        for path in paths
        if (problem := printable_problem(path.relative_to(folder).as_posix()))
    ]
    if bad_names:
        raise DataError.from_findings(bad_names)
    return FolderListing(paths, n_hidden, sorted(no_files))


def _but_hidden(n_hidden: int) -> str:
    return f", apart from {counted(n_hidden, 'hidden file')}" if n_hidden else ""


def rows_of_folder(build: Build, section_pdfs: str, facts: Mapping[Path, FileFacts]) -> list[CorpusRow]:
    """Make corpus rows for the PDFs of a folder.

    The source of a document is the first sub-folder it is in, else the folder's name. Ids are made of
    the file's stem and digest alone, so the folder may move; files that agree in both are told apart by a
    number, in the order of their paths. For a file that must not be read, the digest of its path stands in.
    """
    folder = (build.workspace.root / section_pdfs).resolve()
    rows: dict[str, CorpusRow] = {}
    for path in sorted(facts, key=lambda path: path.relative_to(folder).as_posix()):
        relative = path.relative_to(folder)
        fact = facts[path]
        doc_id = base = document_id(path.stem, fact.sha256 or sha256_bytes(relative.as_posix().encode("utf-8")))
        number = 2
        while doc_id in rows:
            doc_id = f"{base}-{number}"
            number += 1
        rows[doc_id] = CorpusRow(
            doc_id=doc_id,
            source=_source(relative.parts[0] if len(relative.parts) > 1 else folder.name),
            sha256=fact.sha256,
            bytes=fact.n_bytes,
            file_name=relative.as_posix(),
        )
    return list(rows.values())


def _source(folder_name: str) -> str:
    return without_controls(folder_name) or "corpus"


def pdf_paths(
    build: Build, section: CorpusSection, fetch_folder: str = FetchSection().folder, *, allow_unfetched: bool = False
) -> list[Path]:
    """Every PDF the corpus names, as :func:`read_corpus_file` and :func:`find_pdfs` list them.

    Raises:
        UsageError: nothing there.
        DataError: bad rows or missing files.
    """
    if section.file is not None:
        listed = read_corpus_file(build, section.file, fetch_folder, allow_unfetched=allow_unfetched)
        return [one.path for one in listed]
    return find_pdfs(build, section.pdfs or ".").paths


def unique(paths: Iterable[Path]) -> list[Path]:
    """The paths without repeats, in order: two rows may name one file."""
    return list(dict.fromkeys(paths))
