"""The corpus, and what extraction made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.errors import DataError, UsageError
from nclue_build.corpus.sources import FileFacts, check_digests, find_pdfs, read_corpus_file, unique
from nclue_build.corpus.stage import file_facts
from nclue_build.store import layout
from nclue_build.workflow.families import find_family
from nclue_build.workflow.validation.reading import Reading

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping
    from pathlib import Path

    from nclue_build.core.findings import Findings
    from nclue_build.records.config import CorpusSection
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.stage import Mapper
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class KnownDocuments:
    """Ids of all documents, and of those in the benchmark's corpus."""

    all: frozenset[str] = frozenset()
    in_benchmark: frozenset[str] = frozenset()
    n_pages: dict[str, int] = field(default_factory=dict)


def check_corpus(reading: Reading, section: CorpusSection, mapper: Mapper) -> None:
    """The corpus file and every PDF it lists, by digest; for a folder of PDFs, against ``documents.jsonl``."""
    build = reading.build
    try:
        if section.file is not None:
            listed = read_corpus_file(build, section.file)
            facts = _facts([one.path for one in listed], mapper)
            check_digests(listed, facts, build.relative((build.workspace.root / section.file).resolve()))
        else:
            folder = (build.workspace.root / str(section.pdfs)).resolve()
            _check_folder(reading, folder, _facts(find_pdfs(build, str(section.pdfs)), mapper))
    except UsageError as error:
        reading.add("corpus-missing", error.message)
    except DataError as error:
        reading.extend(error.findings)


def _facts(paths: list[Path], mapper: Mapper) -> dict[Path, FileFacts]:
    files = unique(paths)
    return dict(zip(files, mapper.map(file_facts, files), strict=True))


def _check_folder(reading: Reading, folder: Path, facts: Mapping[Path, FileFacts]) -> None:
    path = reading.build.documents
    if not path.is_file():
        return
    row: CorpusRow
    for line, row in Reading(reading.build).rows(path, find_family("documents").model):  # bad rows are reported later
        fact = facts.get(folder / str(row.file_name))
        if fact is None:
            reading.add("file-missing", f"{row.doc_id}: {row.file_name}: file not found", path, line, row.doc_id)
        elif fact.sha256 != row.sha256:
            message = f"{row.doc_id}: {row.file_name}: SHA-256 is {fact.sha256}, not {row.sha256}"
            reading.add("digest-differs", message, path, line, row.doc_id)


def check_extracted(reading: Reading, mapper: Mapper) -> KnownDocuments:
    """``documents.jsonl``, ``documents_quality.jsonl``, ``duplicates.jsonl`` and every page file."""
    build = reading.build
    path = build.documents
    rows = reading.rows(path, find_family("documents").model)
    documents = {row.doc_id for _, row in reading.ids(rows, path, "doc_id", "duplicate-document")}
    in_benchmark: set[str] = set()
    n_pages: dict[str, int] = {}
    path = build.quality
    quality = [
        (line, row)
        for line, row in reading.rows(path, find_family("documents_quality").model)
        if row.kind == "document"
    ]
    for line, row in reading.ids(quality, path, "doc_id", "duplicate-document"):
        if row.doc_id not in documents:
            reading.add("unknown-document", f"{row.doc_id!r} is not in documents.jsonl", path, line, row.doc_id)
            continue
        n_pages[row.doc_id] = row.n_pages
        if row.in_benchmark:
            in_benchmark.add(row.doc_id)
    for doc_id in sorted(documents - n_pages.keys()):
        reading.add("unknown-document", f"{doc_id!r} of documents.jsonl has no row here", path, None, doc_id)
    path = build.inventory / layout.DUPLICATES
    for line, row in reading.ids(reading.rows(path, find_family("duplicates").model), path, "group_id", "duplicate-id"):
        for doc_id in sorted({*row.doc_ids, *row.removed, row.representative} - documents):
            reading.add("unknown-document", f"group {row.group_id} names {doc_id!r}", path, line, doc_id)
    tasks = [PageTask(build, doc_id, n_pages.get(doc_id)) for doc_id in sorted(documents)]
    for found, counts in mapper.map(check_page_file, tasks):
        reading.found.merge(found)
        reading.counts.update(counts)
    return KnownDocuments(frozenset(documents), frozenset(in_benchmark), n_pages)


class PageTask(NamedTuple):
    """A page file to check: its document, and how many pages that has (None when unknown)."""

    build: Build
    doc_id: str
    n_pages: int | None


def check_page_file(task: PageTask) -> tuple[Findings, Counter[str]]:
    """Check one page file (a worker's task).

    Returns:
        Findings, and the numbers of files and rows read.
    """
    reading = Reading(task.build)
    path = task.build.page_file(task.doc_id)
    pages: list[int] = []
    for line, row in reading.rows(path, find_family("pages").model):
        pages.append(row.page)
        if row.doc_id != task.doc_id:
            reading.add(
                "unknown-document", f"row of {row.doc_id!r} in the file of {task.doc_id!r}", path, line, row.doc_id
            )
    if not reading.found.total and task.n_pages is not None and pages != list(range(1, task.n_pages + 1)):
        reading.add(
            "page-rows-differ",
            f"{task.doc_id}: expected the pages 1 to {task.n_pages} in order",
            path,
            None,
            task.doc_id,
        )
    return reading.found, reading.counts
