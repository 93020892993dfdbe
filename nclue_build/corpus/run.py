"""One run of extracting, with all that it reads and writes."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.core.errors import DataError, Finding, about
from nclue_build.core.phrases import counted
from nclue_build.core.printable import without_controls
from nclue_build.corpus.document import make_document
from nclue_build.corpus.kept import load_document, write_document
from nclue_build.corpus.ocr.pages import candidates, replace_pages
from nclue_build.corpus.ocr.settings import ocr_settings
from nclue_build.corpus.ocr.work import PageTask, recognise_page, recognised_before
from nclue_build.corpus.outcome import nothing_left, result_of
from nclue_build.corpus.output_files import find_outputs, output_files, output_folder
from nclue_build.corpus.outputs import ChangedError, import_document
from nclue_build.corpus.passwords import Keyed, assign_passwords, read_passwords
from nclue_build.corpus.read import MadeDocument
from nclue_build.corpus.screening import screen
from nclue_build.corpus.sources import (
    FileFacts,
    check_digests,
    check_unchanged,
    find_pdfs,
    read_corpus_file,
    rows_of_folder,
    unique,
)
from nclue_build.corpus.stage import reader_digest
from nclue_build.corpus.summary import Summary
from nclue_build.corpus.supervisor import ReadLimits, Supervisor
from nclue_build.store.atomic import atomic_writer
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.layout import DUPLICATES
from nclue_build.store.pages import read_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from nclue_build.corpus.lines import FailedPage
    from nclue_build.corpus.ocr.pages import Candidate
    from nclue_build.corpus.ocr.settings import OcrSettings
    from nclue_build.corpus.output_files import Output
    from nclue_build.corpus.read import ReadDocument
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class _Task:
    """A PDF to read, and every document it stands for (identical files are read once).

    ``sha256`` is its digest as taken before any reading, ``shown`` its name in messages. ``output`` is what another
    program made of it, where that is to be read. ``problem`` says why it must not be read. ``ocr`` says how text is
    recognised, where it is, and ``failures`` which pages this was tried on in vain; None before it is tried.
    """

    path: Path
    shown: str
    sha256: str | None
    doc_ids: tuple[str, ...]
    cached: Path
    pages: Path
    limits: ReadLimits
    output: Output | None = None
    password: str | None = field(default=None, repr=False)
    problem: str | None = None
    ocr: OcrSettings | None = None
    failures: Mapping[int, FailedPage] | None = None


def run(context: StageContext) -> StageResult:
    """Read, decide, write.

    Raises:
        DataError: files that differ from what the corpus file lists, or that change while they are read.
        OutcomeError: no document is left; what was found of each is written all the same.
    """
    build, settings = context.build, context.config.extract
    corpus = corpus_of(context)
    rows = corpus.rows
    summaries, notes = _read(context, corpus)
    screening = screen(rows, summaries, settings)
    completed = [_complete(row, summaries[row.doc_id]) for row in rows]
    _remove_pages_of_earlier_runs(build, {row.doc_id for row in rows})
    write_jsonl(build.documents, completed)
    write_jsonl(build.quality, [*screening.documents, *screening.sources])
    write_jsonl(build.inventory / DUPLICATES, screening.groups)
    result = result_of(screening, summaries, rows, settings, notes)
    if not any(document.in_benchmark for document in screening.documents):
        raise nothing_left(screening, result)
    return result


@dataclass(frozen=True, slots=True)
class Corpus:
    """The rows of a corpus, sorted by id; by id too, where the PDF of each lies, and why it must not be read."""

    rows: list[CorpusRow]
    paths: dict[str, Path]
    problems: dict[str, str]


def corpus_of(context: StageContext) -> Corpus:
    """The documents of a build, with digest and size of each.

    Raises:
        UsageError: there is no corpus.
        DataError: bad rows, missing files, or files that differ from what is listed.
    """
    build, section = context.build, context.config.corpus
    fetched = context.config.fetch.folder
    listed = read_corpus_file(build, section.file, fetched) if section.file is not None else []
    if listed:
        paths = unique(one.path for one in listed)
    else:
        listing = find_pdfs(build, section.pdfs or ".")
        paths = listing.paths
        if listing.n_hidden:
            context.progress.note(f"extract: {counted(listing.n_hidden, 'hidden file')} skipped")
        for name in listing.no_files:
            context.progress.note(f"extract: {name} skipped: no file, but a broken link, a pipe or the like")
    context.progress.start("checking files", len(paths), "files")
    facts: dict[Path, FileFacts] = {}
    for path, fact in zip(paths, context.mapper.map(file_facts, paths), strict=True):
        facts[path] = fact
        context.progress.advance()
    if listed:
        shown = build.relative((build.workspace.root / str(section.file)).resolve())
        rows = check_digests(listed, facts, shown)
        by_id = {one.row.doc_id: one.path for one in listed}
    else:
        rows = rows_of_folder(build, section.pdfs or ".", facts)
        folder = (build.workspace.root / (section.pdfs or ".")).resolve()
        by_id = {row.doc_id: folder / str(row.file_name) for row in rows}
    problems = {doc_id: problem for doc_id, path in by_id.items() if (problem := facts[path].problem) is not None}
    return Corpus(sorted(rows, key=lambda row: row.doc_id), by_id, problems)


def _read(context: StageContext, corpus: Corpus) -> tuple[dict[str, Summary], list[str]]:
    """What was read, by doc_id, and what there is to say of the passwords given."""
    rows, paths = corpus.rows, corpus.paths
    build, settings = context.build, context.config.extract
    limits = ReadLimits(settings.page_timeout_s, settings.document_timeout_s, settings.document_memory_mb)
    cache_folder = build.workspace.state / "pages" / reader_digest(settings)[:16]
    ocr = ocr_settings(settings, build.workspace.state)
    outputs = _outputs(context, rows)
    # Identical files are read once; what another program made of them may differ all the same.
    passwords, unused = assign_passwords(rows, read_passwords(build, settings.passwords_file))
    keyed = Keyed(build.workspace) if passwords else None
    same: dict[tuple[str | None, str, str | None], list[str]] = {}
    for row in rows:
        alone = row.doc_id if outputs or row.doc_id in corpus.problems else ""
        same.setdefault((row.sha256, alone, passwords.get(row.doc_id)), []).append(row.doc_id)
    tasks = []
    for (digest, _, password), ids in same.items():
        output = outputs.get(ids[0])
        key = str(digest) if output is None else sha256_bytes(f"{digest} {output.digest}".encode())
        if password is not None and keyed is not None:  # another password, another outcome
            key = keyed.digest(f"{key} password {password}".encode())
        tasks.append(
            _Task(
                path=(path := paths[ids[0]]),
                shown=build.relative(path),
                sha256=digest,
                doc_ids=tuple(ids),
                cached=cache_folder / key[:2] / f"{key}.jsonl",
                pages=build.pages,
                limits=limits,
                output=output,
                password=password,
                problem=corpus.problems.get(ids[0]),
                ocr=ocr,
            )
        )
    # The longest first: no worker is left alone with a big document at the end.
    tasks.sort(key=lambda task: (-task.path.stat().st_size, task.doc_ids))
    context.progress.start("reading", sum(len(task.doc_ids) for task in tasks), "documents")
    summaries: dict[str, Summary] = {}
    n_cached = 0
    waiting: list[tuple[_Task, tuple[Candidate, ...]]] = []
    for task, done in zip(tasks, context.mapper.map(extract_document, tasks), strict=True):
        summaries |= dict.fromkeys(task.doc_ids, done.summary)
        n_cached += len(task.doc_ids) if done.cached else 0
        if done.to_recognise:
            waiting.append((task, done.to_recognise))
        context.progress.advance(len(task.doc_ids))
    tasks = _recognise(context, waiting)
    for task, done in zip(tasks, context.mapper.map(extract_document, tasks), strict=True):
        summaries |= dict.fromkeys(task.doc_ids, done.summary)
    context.progress.note(f"extract: {len(summaries) - n_cached} read, {n_cached} taken from the cache")
    return summaries, [unused] if unused else []


def _recognise(context: StageContext, waiting: Iterable[tuple[_Task, tuple[Candidate, ...]]]) -> list[_Task]:
    """Recognise the pages that documents wait for; returns the documents, as tasks that know what failed."""
    pages = [
        (index, PageTask(task.ocr, task.path, task.shown, str(task.sha256), task.doc_ids[0], task.password, page))
        for index, (task, missing) in enumerate(waiting)
        for page in missing
        if task.ocr is not None
    ]
    failures: list[dict[int, FailedPage]] = [{} for _ in waiting]
    if pages:
        context.progress.start("recognising text", len(pages), "pages")
    work = [one for _, one in pages]
    for (index, one), failure in zip(pages, context.mapper.map(recognise_page, work), strict=True):
        if failure is not None:
            failures[index][one.page.page] = failure
        context.progress.advance()
    return [replace(task, failures=failed) for (task, _), failed in zip(waiting, failures, strict=True)]


def _outputs(context: StageContext, rows: Iterable[CorpusRow]) -> dict[str, Output]:
    """What another program made of each document; nothing where the PDFs themselves are read."""
    build, settings = context.build, context.config.extract
    if settings.reader == "pymupdf":
        return {}
    folder = output_folder(build, settings)
    files = output_files(folder, settings.reader)
    context.progress.start("checking outputs", len(files), "files")
    digests: dict[Path, str] = {}
    for path, fact in zip(files, context.mapper.map(file_facts, files), strict=True):
        digests[path] = fact.sha256 or ""
        context.progress.advance()
    names = {row.doc_id: row.file_name or row.doc_id for row in rows}
    return find_outputs(folder, settings.reader, names, digests)


def file_facts(path: Path) -> FileFacts:
    """Digest and size of a file (a worker's task); what must not be read has its problem instead."""
    n_bytes = path.stat().st_size
    try:
        return FileFacts(sha256_file(path), n_bytes)
    except OSError as error:
        return FileFacts(None, n_bytes, f"cannot be read: {(error.strerror or type(error).__name__).lower()}")


class _Done(NamedTuple):
    """What a document came to: in full, unless pages have to be recognised first."""

    summary: Summary
    cached: bool = False
    to_recognise: tuple[Candidate, ...] = ()


def extract_document(task: _Task) -> _Done:
    """Read a PDF, or take its pages from the cache, and write its page files (a worker's task).

    Returns:
        What was found. Nothing is written yet where pages have to be recognised first.

    Raises:
        DataError: the PDF is no longer the one whose digest was taken: its pages must not be kept under that.
    """
    with about(f"document {task.doc_ids[0]} ({task.shown})"):
        return _extract(task)


def _extract(task: _Task) -> _Done:
    cached = None if task.problem else load_document(task.cached)
    if task.problem is not None:
        made = MadeDocument(Summary(error=task.problem), [])
    elif cached is None:
        read = _supervisor(task.limits).read(task.path, task.password, make=task.output is None)
        check_unchanged(task.path, task.sha256, task.shown, task.doc_ids[0])
        if task.output is None:
            made, to_recognise = _assemble(task, read)
            if to_recognise:
                return _Done(made.summary, to_recognise=to_recognise)
        else:
            made = _import(task, task.output, read)
            made.summary.flags += read.flags
        if not read.hit_limit and (task.output is None or made.summary.error is None):
            write_document(task.cached, made)
    else:
        made = cached
    for doc_id in task.doc_ids:
        prefix = b'{"doc_id":"%s",' % doc_id.encode()
        with atomic_writer(task.pages / f"{doc_id}.jsonl") as stream:
            stream.writelines(prefix + row[1:] + b"\n" for row in made.rows)
    return _Done(made.summary, cached is not None)


def _assemble(task: _Task, read: ReadDocument) -> tuple[MadeDocument, tuple[Candidate, ...]]:
    """The page rows of a document, and the pages that are still to be recognised for it."""
    made = read.made or make_document(read, version("pymupdf"))
    found = candidates(made.rows, task.ocr) if task.ocr is not None else []
    if task.ocr is None or not found:
        return made, ()
    tried = task.failures
    known = {one.page: recognised_before(task.ocr, str(task.sha256), one.page) for one in found}
    if tried is None and (missing := tuple(one for one in found if known[one.page] is None)):
        return made, missing
    replace_pages(read, found, {page: (tried or {}).get(page) or result for page, result in known.items()}, task.ocr)
    made = make_document(read, version("pymupdf"))
    made.summary.flags.append("ocr")
    return made, ()


def _import(task: _Task, output: Output, read: ReadDocument) -> MadeDocument:
    try:
        return import_document(output, read, task.limits.memory_mb)
    except ChangedError as changed:
        finding = Finding("digest-differs", "changed while it was read; run again", changed.name, id=task.doc_ids[0])
        raise DataError.from_findings([finding]) from None


def _supervisor(limits: ReadLimits) -> Supervisor:
    # One reader per process and thread: pipes inherited by a fork or shared by threads would mix answers up.
    return _start_supervisor(limits, os.getpid(), threading.get_ident())


@cache
def _start_supervisor(limits: ReadLimits, _process: int, _thread: int) -> Supervisor:
    supervisor = Supervisor(limits)
    atexit.register(supervisor.close)
    return supervisor


def _complete(row: CorpusRow, known: Summary) -> CorpusRow:
    return row.model_copy(
        update={
            "n_pages": known.n_pages or row.n_pages,
            "title": row.title or known.title or _file_title(row),
            "language": row.language or known.language,
        }
    )


def _file_title(row: CorpusRow) -> str | None:
    """What to call a document that has no title which can be read."""
    return without_controls(PurePosixPath(row.file_name or "").stem) or None


def _remove_pages_of_earlier_runs(build: Build, doc_ids: set[str]) -> None:
    """Remove the pages of documents that the last run listed and this one does not; files of others stay."""
    try:
        listed = {row.doc_id for row in read_documents(build.documents)}
    except DataError:  # no earlier run, or its list is no longer what it wrote: then nothing is known to be ours
        return
    for doc_id in sorted(listed - doc_ids):
        build.page_file(doc_id).unlink(missing_ok=True)
