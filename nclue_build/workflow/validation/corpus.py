"""The corpus, and what extraction made of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import DataError, UsageError
from nclue_build.corpus.run import file_facts
from nclue_build.corpus.sources import FileFacts, check_digests, find_pdfs, read_corpus_file, unique
from nclue_build.records.corpus import DocumentQuality, SourceQuality
from nclue_build.store import layout
from nclue_build.workflow.families import find_family
from nclue_build.workflow.validation.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nclue_build.core.findings import Findings
    from nclue_build.records.config import BuildConfig
    from nclue_build.records.corpus import CorpusRow, DuplicateGroup, PageRow
    from nclue_build.store.stage import Mapper
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class KnownDocuments:
    """Ids of all documents, and of those in the benchmark's corpus."""

    all: frozenset[str] = frozenset()
    in_benchmark: frozenset[str] = frozenset()
    n_pages: dict[str, int] = field(default_factory=dict)
    eligible: Counter[str] = field(default_factory=Counter)
    """Documents that may be golds, by source; every source of the benchmark's corpus is there."""


def check_corpus(reading: Reading, config: BuildConfig, mapper: Mapper) -> None:
    """The corpus and every PDF of it, by digest, against the corpus file and ``documents.jsonl``."""
    build, section = reading.build, config.corpus
    try:
        if section.file is not None:
            listed = read_corpus_file(build, section.file, config.fetch.folder)
            facts = _facts([one.path for one in listed], mapper)
            reading.counts["inputs"] = len(facts)
            _check_documents(
                reading,
                {one.row.doc_id: facts[one.path] for one in listed},
                {one.row.doc_id: one.row for one in listed},
            )
            check_digests(listed, facts, build.relative((build.workspace.root / section.file).resolve()))
        else:
            folder = (build.workspace.root / str(section.pdfs)).resolve()
            facts = _facts(find_pdfs(build, str(section.pdfs)).paths, mapper)
            reading.counts["inputs"] = len(facts)
            _check_documents(reading, {path.relative_to(folder).as_posix(): fact for path, fact in facts.items()})
    except UsageError as error:
        reading.add("corpus-missing", error.message)
    except DataError as error:
        reading.extend(error.findings)


def _facts(paths: list[Path], mapper: Mapper) -> dict[Path, FileFacts]:
    files = unique(paths)
    return dict(zip(files, mapper.map(file_facts, files), strict=True))


_COPIED: Final = (
    "source", "url", "pdf_url", "language", "license", "license_note", "published", "retrieved_at",
    "archive_url",
)  # fmt: skip
_COMPLETED: Final = frozenset({"language"})
"""Fields that are filled in where the corpus file says nothing; the title is not compared, it may be cleaned."""


def _check_documents(
    reading: Reading, facts: Mapping[str, FileFacts], listed: Mapping[str, CorpusRow] | None = None
) -> None:
    """Check ``documents.jsonl`` against the PDFs and the corpus file; bad rows are reported later.

    Args:
        reading: Takes what is found.
        facts: Of the PDFs, by document id or file name.
        listed: Rows of the corpus file, by document id; None where there is a folder instead.
    """
    path = reading.build.documents
    if not path.is_file():
        return
    row: CorpusRow
    for line, row in Reading(reading.build).rows(path, find_family("documents").model):
        given = (listed or {}).get(row.doc_id)
        for name in _COPIED if given else ():
            told, kept = getattr(given, name), getattr(row, name)
            if told != kept and not (told is None and name in _COMPLETED):
                message = f"{row.doc_id}: {name} is {kept!r}, {told!r} in the corpus file"
                reading.add("document-rows-differ", message, path, line, row.doc_id)
        fact = facts.get(row.doc_id) or facts.get(str(row.file_name))
        if fact is None:
            message = f"{row.doc_id}: {row.file_name}: file not found"
            reading.add("file-missing", message, path, line, row.doc_id)
        elif fact.sha256 != row.sha256:
            message = f"{row.doc_id}: {row.file_name}: SHA-256 is {fact.sha256}, not {row.sha256}"
            reading.add("digest-differs", message, path, line, row.doc_id)
        elif fact.n_bytes != row.bytes:
            message = f"{row.doc_id}: {row.file_name}: has {fact.n_bytes} bytes, not {row.bytes}"
            reading.add("size-differs", message, path, line, row.doc_id)


def check_extracted(reading: Reading, mapper: Mapper) -> KnownDocuments:
    """``documents.jsonl``, ``documents_quality.jsonl``, ``duplicates.jsonl`` and every page file."""
    build = reading.build
    path = build.documents
    rows = reading.rows(path, find_family("documents").model)
    documents = {row.doc_id for _, row in reading.ids(rows, path, "doc_id", "duplicate-document")}
    quality = _check_quality(reading, documents)
    in_benchmark = frozenset(doc_id for doc_id, row in quality.items() if row.in_benchmark)
    _check_duplicates(reading, documents, quality)
    tasks = [PageTask(build, doc_id, quality.get(doc_id)) for doc_id in sorted(documents)]
    for found, counts in mapper.map(check_page_file, tasks):
        reading.found.merge(found)
        reading.counts.update(counts)
    for path in sorted(build.pages.glob("*.jsonl")):
        if path.stem not in documents:
            reading.add("unknown-document", f"{layout.DOCUMENTS} does not have {path.stem!r}", path, None, path.stem)
    n_pages = {doc_id: row.n_pages for doc_id, row in quality.items()}
    eligible: Counter[str] = Counter()
    for row in quality.values():
        if row.in_benchmark:
            eligible[row.source] += row.gold_eligible
    return KnownDocuments(frozenset(documents), in_benchmark, n_pages, eligible)


def _check_quality(reading: Reading, documents: set[str]) -> dict[str, DocumentQuality]:
    """``documents_quality.jsonl``: its rows on documents, by id."""
    path = reading.build.quality
    rows = list(reading.rows(path, find_family("documents_quality").model))
    outcomes = [(line, row) for line, row in rows if isinstance(row, DocumentQuality)]
    quality: dict[str, DocumentQuality] = {}
    for line, row in reading.ids(outcomes, path, "doc_id", "duplicate-document"):
        if row.doc_id in documents:
            quality[row.doc_id] = row
        else:
            message = f"{row.doc_id!r} is not in {layout.DOCUMENTS}"
            reading.add("unknown-document", message, path, line, row.doc_id)
    for doc_id in sorted(documents - quality.keys()):
        reading.add("unknown-document", f"{doc_id!r} of {layout.DOCUMENTS} has no row here", path, None, doc_id)
    n_documents = Counter(row.source for _, row in outcomes)
    for line, row in rows:
        if isinstance(row, SourceQuality) and row.n_documents != n_documents.pop(row.source, 0):
            message = f"source {row.source!r}: n_documents is {row.n_documents}, the rows on documents say otherwise"
            reading.add("quality-counts-differ", message, path, line, None)
    for source in sorted(n_documents):
        reading.add("quality-counts-differ", f"source {source!r} has no row", path)
    return quality


def _check_duplicates(reading: Reading, documents: set[str], quality: Mapping[str, DocumentQuality]) -> None:
    """``duplicates.jsonl``: groups of known documents; those removed are the ones the quality file removes so."""
    path = reading.build.inventory / layout.DUPLICATES
    in_benchmark = frozenset(doc_id for doc_id, outcome in quality.items() if outcome.in_benchmark)
    removed: set[str] = set()
    row: DuplicateGroup
    rows = reading.ids(reading.rows(path, find_family("duplicates").model), path, "group_id", "duplicate-id")
    for line, row in reading.ascending(rows, path, "group_id"):
        removed.update(row.removed)
        for doc_id in sorted({*row.doc_ids, *row.removed, row.representative} - documents):
            reading.add("unknown-document", f"group {row.group_id} names {doc_id!r}", path, line, doc_id)
        if not {*row.removed, row.representative} <= {*row.doc_ids} or row.representative in row.removed:
            message = "its representative and those removed are not different documents of the group"
            reading.add("duplicates-differ", f"group {row.group_id}: {message}", path, line, row.group_id)
        ascend = all(list(ids) == sorted({*ids}) for ids in (row.doc_ids, row.removed))
        if not ascend or len(row.doc_ids) < 2:  # noqa: PLR2004 - one document is no group
            message = "doc_ids and removed must ascend without repeats, and a group has at least two documents"
            reading.add("duplicates-differ", f"group {row.group_id}: {message}", path, line, row.group_id)
        if row.group_id != (expected := f"{row.kind}_{row.representative}"):
            reading.add("duplicates-differ", f"the id must be {expected}", path, line, row.group_id)
        if (row.similarity_percent is None) != (row.kind != "near"):
            message = "near groups alone have a similarity_percent"
            reading.add("duplicates-differ", f"group {row.group_id}: {message}", path, line, row.group_id)
        for doc_id in sorted(in_benchmark.intersection(row.removed)):
            message = f"group {row.group_id}: {doc_id!r} is removed here and in the benchmark's corpus there"
            reading.add("duplicates-differ", message, path, line, row.group_id)
    for doc_id, outcome in quality.items():
        if outcome.removed == "duplicate" and doc_id not in removed:
            reading.add("duplicates-differ", f"no group removes {doc_id!r}, {layout.QUALITY} does", path, None, doc_id)


class PageTask(NamedTuple):
    """A page file to check: its document, and what extraction said of that (None when unknown)."""

    build: Build
    doc_id: str
    quality: DocumentQuality | None


def check_page_file(task: PageTask) -> tuple[Findings, Counter[str]]:
    """Check one page file (a worker's task).

    Returns:
        Findings, and the numbers of files and rows read.
    """
    reading = Reading(task.build)
    path = task.build.page_file(task.doc_id)
    pages: list[int] = []
    statuses: Counter[str] = Counter()
    row: PageRow
    for line, row in reading.rows(path, find_family("pages").model):
        pages.append(row.page)
        statuses[row.status] += 1
        if row.doc_id != task.doc_id:
            message = f"row of {row.doc_id!r} in the file of {task.doc_id!r}"
            reading.add("unknown-document", message, path, line, row.doc_id)
        if (row.status == "empty") != (row.status != "failed" and not any(block.text for block in row.blocks)):
            message = f"page {row.page}: status {row.status!r} with {len(row.blocks)} blocks"
            reading.add("page-rows-differ", message, path, line, task.doc_id)
        if sha256_bytes("\n".join(block.text for block in row.blocks).encode("utf-8")) != row.text_sha256:
            message = f"page {row.page}: text_sha256 is not that of its blocks"
            reading.add("digest-differs", message, path, line, task.doc_id)
    known = task.quality
    if reading.found.total or known is None:
        return reading.found, reading.counts
    if pages != list(range(1, known.n_pages + 1)):
        message = f"{task.doc_id}: expected the pages 1 to {known.n_pages} in order"
        reading.add("page-rows-differ", message, path, None, task.doc_id)
    elif (statuses["ok"], statuses["empty"], statuses["failed"]) != (
        known.pages_ok,
        known.pages_empty,
        known.pages_failed,
    ):
        message = f"{task.doc_id}: pages ok, empty and failed are not as many as {layout.QUALITY} says"
        reading.add("quality-counts-differ", message, path, None, task.doc_id)
    return reading.found, reading.counts
