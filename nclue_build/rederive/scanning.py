"""Every page of a build, read once: P0 as the pages give it, and whether quotes stand there."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import about
from nclue_build.records.inventory import Condition
from nclue_build.rederive.documents import DocumentScan, QuoteCheck, QuoteToCheck, scan_document
from nclue_build.rederive.inventory_check import DerivedInventory
from nclue_build.rederive.windows import FormTable
from nclue_build.store import layout
from nclue_build.store.jsonl import read_jsonl
from nclue_build.store.pages import read_pages

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from nclue_build.core.findings import Findings
    from nclue_build.rederive.qrels_check import DecidedPlace, PlacedQuote
    from nclue_build.rederive.stored import Stored
    from nclue_build.store.stage import StageContext


class _ScanTask(NamedTuple):
    """One document for a worker: everything to find its own inputs, nothing big."""

    doc_id: str
    page_file: Path
    conditions_file: Path
    conditions_sha256: str
    allowed_roles: tuple[str, ...]
    quotes: tuple[QuoteToCheck, ...]


@lru_cache(maxsize=1)
def _form_table(path: Path, sha256: str) -> FormTable:  # noqa: ARG001 - the digest makes a changed file a new table
    return FormTable(list(read_jsonl(path, Condition)))


def _scan(task: _ScanTask) -> DocumentScan | None:
    """Work on one document; None when its page file is missing."""
    if not task.page_file.is_file():
        return None
    table = _form_table(task.conditions_file, task.conditions_sha256)
    pages = read_pages(task.page_file)
    with about(f"document {task.doc_id}"):
        return scan_document(task.doc_id, pages, frozenset(task.allowed_roles), table, task.quotes)


def _to_check(item: PlacedQuote, position: Mapping[str, int], people: Collection[DecidedPlace]) -> QuoteToCheck:
    quote = item.quote
    decided = (quote.condition_id, item.doc_id, quote.page, quote.quote) in people
    return QuoteToCheck(position[quote.condition_id], quote.page or 0, quote.quote, decided)


def derive(
    context: StageContext,
    stored: Stored,
    quotes: Sequence[PlacedQuote],
    people: Collection[DecidedPlace],
    out: Findings,
) -> tuple[DerivedInventory, dict[int, QuoteCheck], int, dict[str, str]]:
    """Derive P0 from the pages, a document at a time, and look every quote up on the way.

    Returns:
        P0, what is true of each quote, the number of pages, and the digest of each document's text.
    """
    build = context.build
    position: dict[str, int] = {}
    for index, (_, condition) in enumerate(stored.conditions):
        position.setdefault(condition.condition_id, index)
    quotes_of_document: dict[str, list[int]] = {}
    for index, item in enumerate(quotes):
        if item.quote.page is not None and item.quote.condition_id in position:
            quotes_of_document.setdefault(item.doc_id, []).append(index)
    conditions_file = build.version(0) / layout.CONDITIONS
    digest = sha256_file(conditions_file)
    tasks = (
        _ScanTask(
            doc_id=doc_id,
            page_file=build.page_file(doc_id),
            conditions_file=conditions_file,
            conditions_sha256=digest,
            allowed_roles=context.config.extract.allowed_roles,
            quotes=tuple(_to_check(quotes[index], position, people) for index in quotes_of_document.get(doc_id, ())),
        )
        for doc_id in stored.documents
    )
    derived = DerivedInventory()
    checks: dict[int, QuoteCheck] = {}
    texts: dict[str, str] = {}
    n_pages = 0
    context.progress.start("re-derive pages", len(stored.documents), "documents")
    for doc_id, scan in zip(stored.documents, context.mapper.map(_scan, tasks), strict=True):
        context.progress.advance()
        path = build.relative(build.page_file(doc_id))
        if scan is None:  # which is found where all pages are counted
            continue
        if scan.n_pages != stored.documents[doc_id].n_pages:
            message = f"{scan.n_pages} page rows, {stored.documents[doc_id].n_pages} in {build.quality.name}"
            out.add("page-rows-differ", message, path=path, id=doc_id)
        n_pages += scan.n_pages
        texts[doc_id] = scan.text_sha256
        derived.add(scan)
        checks.update(zip(quotes_of_document.get(doc_id, ()), scan.quotes, strict=True))
    return derived, checks, n_pages, texts
