"""Does ``documents.jsonl`` list the corpus, whole and as it is given? Asked of the corpus itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, UsageError
from nclue_build.core.printable import without_controls
from nclue_build.records.corpus import CorpusRow
from nclue_build.store.corpus_file import load_corpus_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nclue_build.core.findings import Findings
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import Mapper
    from nclue_build.store.workspace import Build

_COMPLETED: Final = frozenset({"title", "language", "sha256", "bytes"})
"""Told where nothing is listed; nobody completes any other field."""
_TOLD_OF_FOLDERS: Final = _COMPLETED | {"doc_id", "source", "n_pages", "file_name"}


def check_corpus(
    build: Build, config: BuildConfig, rows: Sequence[tuple[int, CorpusRow]], mapper: Mapper, out: Findings
) -> None:
    """Compare documents.jsonl with the corpus file, or the folder of PDFs, and with the PDFs that are there.

    Args:
        build: The build.
        config: Its configuration.
        rows: Of documents.jsonl, with their lines.
        mapper: Computes a digest per PDF.
        out: Takes what differs, the corpus not being there included.
    """
    if config.corpus.file is not None:
        files = _compare_file(build, config.corpus.file, config.fetch.folder, rows, out)
    else:
        files = _compare_folder(build, config.corpus.pdfs or ".", rows, out)
    paths = sorted(set(files.values()))
    facts = dict(zip(paths, mapper.map(_digest_and_size, paths), strict=True))
    path = build.relative(build.documents)
    for line, row in rows:
        there = facts.get(files[row.doc_id]) if row.doc_id in files else None
        if there is None:  # a build may travel without its PDFs
            continue
        sha256, n_bytes = there
        if row.sha256 != sha256:
            message = f"{row.doc_id}: SHA-256 is {row.sha256} here, {sha256} of its file"
            out.add("digest-differs", message, path=path, line=line, id=row.doc_id)
        if row.bytes != n_bytes:
            message = f"{row.doc_id}: {row.bytes} bytes here, {n_bytes} in its file"
            out.add("size-differs", message, path=path, line=line, id=row.doc_id)


def _digest_and_size(path: Path) -> tuple[str, int] | None:
    """Of a PDF (a worker's task); None of one that is not there, or must not be read."""
    try:
        return (sha256_file(path), path.stat().st_size) if path.is_file() else None
    except OSError:
        return None


def _compare_file(
    build: Build, section_file: str, fetch_folder: str, rows: Sequence[tuple[int, CorpusRow]], out: Findings
) -> Mapping[str, Path]:
    """Compare with the corpus file; returns the place of every PDF that it lists, by document."""
    try:
        corpus = load_corpus_file(build, section_file, fetch_folder)
    except UsageError as error:
        out.add("corpus-missing", error.message)
        return {}
    except DataError as error:
        out.extend(error.findings)
        return {}
    out.extend(corpus.found)
    path = build.relative(build.documents)
    if not corpus.listed:
        out.add("corpus-missing", "the corpus file lists no document", path=corpus.shown)
    told = {row.doc_id: (line, row) for line, row in reversed(rows)}
    for one in corpus.listed:
        line, row = told.pop(one.row.doc_id, (None, None))
        if row is None:
            message = (
                f"{one.row.doc_id}: {corpus.shown} lists it (line {one.line}), and {build.documents.name} does not"
            )
            out.add("unknown-document", message, path=path, id=one.row.doc_id)
            continue
        # A row without a file_name has the one that fetching gives; of its pages the PDF itself tells.
        listed = one.row.model_copy(update={"file_name": one.file_name, "n_pages": row.n_pages})
        for name in sorted(CorpusRow.model_fields):
            here, given = getattr(row, name), getattr(listed, name)
            if here != given and not (given is None and name in _COMPLETED):
                message = f"{row.doc_id}: {name} is {here!r} here, {given!r} in {corpus.shown}"
                out.add("document-rows-differ", message, path=path, line=line, id=row.doc_id)
    for doc_id, (line, _) in sorted(told.items()):
        out.add("unknown-document", f"{corpus.shown} does not list it", path=path, line=line, id=doc_id)
    return {one.row.doc_id: one.path for one in corpus.listed}


def _compare_folder(
    build: Build, section_pdfs: str, rows: Sequence[tuple[int, CorpusRow]], out: Findings
) -> Mapping[str, Path]:
    """Compare with the PDFs of the folder; returns the place of each that is there, by document."""
    folder = (build.workspace.root / section_pdfs).resolve()
    shown, path = build.relative(folder), build.relative(build.documents)
    there = _sources_by_file(folder)
    if not there:
        out.add("corpus-missing", "there is no PDF", path=shown)
        return {}
    n_rows = Counter(row.file_name for _, row in rows)
    for name in sorted(there.keys() - n_rows.keys()):
        message = f"{name}: lies in {shown}, and {build.documents.name} does not have it"
        out.add("unknown-document", message, path=path)
    for line, row in rows:
        if (by_folder := there.get(row.file_name or "")) is None:
            message = f"{row.file_name}: no such file in {shown}"
            out.add("unknown-document", message, path=path, line=line, id=row.doc_id)
        elif n_rows[row.file_name] > 1:
            out.add("document-rows-differ", f"{row.file_name}: stands in two rows", path=path, line=line, id=row.doc_id)
        elif by_folder != row.source:
            message = f"{row.doc_id}: source is {row.source!r} here, {by_folder!r} by its folder"
            out.add("document-rows-differ", message, path=path, line=line, id=row.doc_id)
        for name in sorted(CorpusRow.model_fields.keys() - _TOLD_OF_FOLDERS):
            if (here := getattr(row, name)) is not None:
                message = f"{row.doc_id}: {name} is {here!r} here, and a folder of PDFs says nothing of it"
                out.add("document-rows-differ", message, path=path, line=line, id=row.doc_id)
    return {row.doc_id: folder / row.file_name for _, row in rows if row.file_name in there}


def _sources_by_file(folder: Path) -> dict[str, str]:
    """The source of every PDF of a folder, by its path in it; what is hidden is left out."""
    sources: dict[str, str] = {}
    for one in folder.rglob("*"):
        parts = one.relative_to(folder).parts
        if one.suffix.lower() == ".pdf" and one.is_file() and not any(part.startswith(".") for part in parts):
            source = without_controls(parts[0] if len(parts) > 1 else folder.name) or "corpus"
            sources[one.relative_to(folder).as_posix()] = source
    return sources
