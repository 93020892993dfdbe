"""Does ``documents.jsonl`` list the corpus, whole and as it is given? Asked of the corpus itself."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import DataError, UsageError
from nclue_build.core.printable import without_controls
from nclue_build.store.corpus_file import load_corpus_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nclue_build.core.findings import Findings
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build

_ALWAYS_TOLD: Final = frozenset({"n_pages", "file_name"})
"""What the PDF says of itself has precedence over what is listed, and a file's name may be made up by fetching."""


def check_corpus(build: Build, config: BuildConfig, rows: Sequence[tuple[int, CorpusRow]], out: Findings) -> None:
    """Compare documents.jsonl with the corpus file, or with the PDFs in the folder.

    Args:
        build: The build.
        config: Its configuration.
        rows: Of documents.jsonl, with their lines.
        out: Takes what differs, the corpus not being there included.
    """
    if config.corpus.file is not None:
        _compare_file(build, config.corpus.file, config.fetch.folder, rows, out)
    else:
        _compare_folder(build, config.corpus.pdfs or ".", rows, out)


def _compare_file(
    build: Build, section_file: str, fetch_folder: str, rows: Sequence[tuple[int, CorpusRow]], out: Findings
) -> None:
    try:
        corpus = load_corpus_file(build, section_file, fetch_folder)
    except UsageError as error:
        out.add("corpus-missing", error.message)
        return
    except DataError as error:
        out.extend(error.findings)
        return
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
        given = one.row.model_dump(exclude_none=True)
        for name in sorted(given.keys() - _ALWAYS_TOLD):
            if (here := getattr(row, name)) != given[name]:
                message = f"{row.doc_id}: {name} is {here!r} here, {given[name]!r} in {corpus.shown}"
                out.add("document-rows-differ", message, path=path, line=line, id=row.doc_id)
    for doc_id, (line, _) in sorted(told.items()):
        out.add("unknown-document", f"{corpus.shown} does not list it", path=path, line=line, id=doc_id)


def _compare_folder(build: Build, section_pdfs: str, rows: Sequence[tuple[int, CorpusRow]], out: Findings) -> None:
    folder = (build.workspace.root / section_pdfs).resolve()
    shown, path = build.relative(folder), build.relative(build.documents)
    there: dict[str, str] = {}
    for one in folder.rglob("*"):
        parts = one.relative_to(folder).parts
        if one.suffix.lower() == ".pdf" and one.is_file() and not any(part.startswith(".") for part in parts):
            source = without_controls(parts[0] if len(parts) > 1 else folder.name) or "corpus"
            there[one.relative_to(folder).as_posix()] = source
    if not there:
        out.add("corpus-missing", "there is no PDF", path=shown)
        return
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
