"""One run of extracting, with all that it reads and writes."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import orjson

from nclue_build.core.canonical import sha256_bytes, sha256_file
from nclue_build.core.errors import DataError, Finding, OutcomeError
from nclue_build.core.phrases import counted
from nclue_build.core.printable import without_controls
from nclue_build.corpus.document import DocumentPages
from nclue_build.corpus.output_files import find_outputs, output_files, output_folder
from nclue_build.corpus.outputs import ChangedError, import_document
from nclue_build.corpus.passwords import Keyed, assign_passwords, read_passwords
from nclue_build.corpus.screening import screen
from nclue_build.corpus.sources import (
    FileFacts,
    check_digests,
    find_pdfs,
    read_corpus_file,
    rows_of_folder,
    unique,
)
from nclue_build.corpus.stage import reader_digest
from nclue_build.corpus.summary import Summary
from nclue_build.corpus.supervisor import ReadLimits, Supervisor
from nclue_build.store.atomic import atomic_writer, write_bytes
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.layout import DUPLICATES
from nclue_build.store.pages import read_documents
from nclue_build.store.stage import StageContext, StageResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from nclue_build.corpus.output_files import Output
    from nclue_build.corpus.screening import Screening
    from nclue_build.corpus.supervisor import ReadDocument
    from nclue_build.records.config import ExtractSection
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class _Task:
    """A PDF to read, and every document it stands for (identical files are read once).

    ``sha256`` is its digest as taken before any reading, ``shown`` its name in messages. ``output`` is what another
    program made of it, where that is to be read. ``problem`` says why it must not be read.
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


def run(context: StageContext) -> StageResult:
    """Read, decide, write.

    Raises:
        DataError: files that differ from what the corpus file lists, or that change while they are read.
        OutcomeError: no document is readable; what was found of each is written all the same.
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
    result = _result(screening, summaries, rows, settings, notes)
    if not any(document.pages_ok for document in screening.documents):
        raise _nothing_readable(screening, result)
    return result


def _nothing_readable(screening: Screening, result: StageResult) -> OutcomeError:
    """What to say of a corpus without a readable page: the first reason for people, all of them as findings."""
    first = next((d for d in screening.documents if d.message), None)
    why = f"; {first.doc_id}: {first.message}" if first else ""
    message = f"no page of {counted(len(screening.documents), 'document')} can be read{why}"
    return OutcomeError(message, (Finding("nothing-to-deliver", message), *result.findings))


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
    cache_folder = build.workspace.state / "pages" / reader_digest(settings.reader)[:16]
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
            )
        )
    # The longest first: no worker is left alone with a big document at the end.
    tasks.sort(key=lambda task: (-task.path.stat().st_size, task.doc_ids))
    context.progress.start("reading", sum(len(task.doc_ids) for task in tasks), "documents")
    summaries: dict[str, Summary] = {}
    n_cached = 0
    for task, (summary, cached) in zip(tasks, context.mapper.map(extract_document, tasks), strict=True):
        summaries |= dict.fromkeys(task.doc_ids, summary)
        n_cached += len(task.doc_ids) if cached else 0
        context.progress.advance(len(task.doc_ids))
    context.progress.note(f"extract: {len(summaries) - n_cached} read, {n_cached} taken from the cache")
    return summaries, [unused] if unused else []


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


def extract_document(task: _Task) -> tuple[Summary, bool]:
    """Read a PDF, or take its pages from the cache, and write its page files (a worker's task).

    Returns:
        What was found, and whether it came from the cache.

    Raises:
        DataError: the PDF is no longer the one whose digest was taken: its pages must not be kept under that.
    """
    cached = None if task.problem else _load_cached(task.cached)
    if task.problem is not None:
        summary, lines = Summary(error=task.problem), []
    elif cached is None:
        read = _supervisor(task.limits).read(task.path, task.password)
        if _digest_now(task.path) != task.sha256:
            message = "changed while it was read; run again"
            raise DataError.from_findings([Finding("digest-differs", message, task.shown, id=task.doc_ids[0])])
        if task.output is None:
            document = DocumentPages(read, version("pymupdf"))
            lines = list(document.rows())
            summary = document.summary
        else:
            summary, lines = _import(task, task.output, read)
            summary.flags += read.flags
        if not read.hit_limit and (task.output is None or summary.error is None):
            _write_cached(task.cached, summary, lines)
    else:
        summary, lines = cached
    for doc_id in task.doc_ids:
        prefix = b'{"doc_id":"%s",' % doc_id.encode()
        with atomic_writer(task.pages / f"{doc_id}.jsonl") as stream:
            stream.writelines(prefix + line[1:] + b"\n" for line in lines)
    return summary, cached is not None


def _import(task: _Task, output: Output, read: ReadDocument) -> tuple[Summary, list[bytes]]:
    try:
        return import_document(output, read, task.limits.memory_mb)
    except ChangedError as changed:
        finding = Finding("digest-differs", "changed while it was read; run again", changed.name, id=task.doc_ids[0])
        raise DataError.from_findings([finding]) from None


def _digest_now(path: Path) -> str | None:
    try:
        return sha256_file(path)
    except (FileNotFoundError, PermissionError):  # moved away or locked while it was read
        return None


def _supervisor(limits: ReadLimits) -> Supervisor:
    # One reader per process and thread: pipes inherited by a fork or shared by threads would mix answers up.
    return _start_supervisor(limits, os.getpid(), threading.get_ident())


@cache
def _start_supervisor(limits: ReadLimits, _process: int, _thread: int) -> Supervisor:
    supervisor = Supervisor(limits)
    atexit.register(supervisor.close)
    return supervisor


def _write_cached(path: Path, summary: Summary, lines: Iterable[bytes]) -> None:
    """Write a summary and the pages behind it, below the digest of all that."""
    head = orjson.dumps(asdict(summary) | {"signature": summary.signature.hex()})
    body = b"".join(line + b"\n" for line in (head, *lines))
    write_bytes(path, sha256_bytes(body).encode() + b"\n" + body)


def _load_cached(path: Path) -> tuple[Summary, list[bytes]] | None:
    """What :func:`_write_cached` wrote; None when that is not what lies there: then the PDF is read again."""
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    if digest != sha256_bytes(body).encode():
        return None
    try:
        head, *lines = body.splitlines()
        row = orjson.loads(head)
        row["signature"] = bytes.fromhex(row["signature"])
        row["problems"] = [(page, flag, reason) for page, flag, reason in row["problems"]]
        return Summary(**row), lines
    except (KeyError, TypeError, ValueError):  # whole, but written by other code
        return None


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


def _result(
    screening: Screening,
    summaries: Mapping[str, Summary],
    rows: Iterable[CorpusRow],
    settings: ExtractSection,
    notes: Iterable[str],
) -> StageResult:
    findings = [Finding("password-unused", note) for note in notes]
    for document in screening.documents:
        if document.status == "failed":
            findings.append(Finding("document-failed", f"{document.doc_id}: {document.message}", id=document.doc_id))
            continue
        findings += [
            Finding("page-failed", f"{document.doc_id}: page {page}: {reason} ({flag})", id=document.doc_id)
            for page, flag, reason in summaries[document.doc_id].problems
        ]
    findings += [
        Finding(
            "page-count-differs", f"{row.doc_id}: has {known.n_pages} pages, not {row.n_pages} as listed", id=row.doc_id
        )
        for row in rows
        if (known := summaries[row.doc_id]).n_pages and row.n_pages not in {None, known.n_pages}
    ]
    if unknown := sorted({kind for known in summaries.values() for kind in known.unknown_types}):
        n_with = sum(bool(known.unknown_types) for known in summaries.values())
        message = f"{', '.join(unknown)}: blocks of unknown type in {counted(n_with, 'document')}; their text is kept"
        findings.append(Finding("unknown-item-type", message))
    shortfalls = [
        f"source {source.source}: only {source.pages_passed} of {source.n_pages} pages could be read, "
        f"less than min_extraction_rate = {settings.min_extraction_rate}: "
        + ("its documents are removed" if len(screening.sources) > 1 else "kept, because it is the only source")
        for source in screening.sources
        if not source.passed
    ]
    counts = {
        "documents": len(screening.documents),
        "documents_in_benchmark": sum(d.in_benchmark for d in screening.documents),
        "documents_failed": sum(d.status == "failed" for d in screening.documents),
        "pages": sum(d.n_pages for d in screening.documents),
        "pages_ok": sum(d.pages_ok for d in screening.documents),
        "pages_empty": sum(d.pages_empty for d in screening.documents),
        "pages_failed": sum(d.pages_failed for d in screening.documents),
        "duplicate_groups": len(screening.groups),
    }
    for reason in ("unreadable", "no_text", "source_below_rate", "duplicate"):
        counts[f"removed_{reason}"] = sum(d.removed == reason for d in screening.documents)
    return StageResult(counts, tuple(findings), tuple(shortfalls))
