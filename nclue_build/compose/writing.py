"""Writing a benchmark: queries, qrels in all their shapes, and the BEIR folder.

Composing writes the first one; a repair writes the next ones with the same code, so that what it regenerates is what
composing would have written from the new inventory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, get_args

from nclue_build.compose.emit import trec_rows
from nclue_build.core.canonical import sha256_file
from nclue_build.core.text import matching_text
from nclue_build.records.benchmark import GateOutcome, QrelsMeta
from nclue_build.store.atomic import atomic_writer
from nclue_build.store.beir import BeirFacts, BeirQrel, BeirRow, remove_beir, write_beir
from nclue_build.store.jsonl import encode, write_json, write_jsonl
from nclue_build.store.layout import (
    ARITIES,
    BEIR,
    META,
    QRELS,
    QUERIES,
    TREC,
    TREC_CONDITIONS,
    TREC_GOLD,
    TREC_PAGES,
    split_file,
)
from nclue_build.store.pages import read_documents, read_pages
from nclue_build.store.trec import TrecQrel, write_trec_qrels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from nclue_build.compose.emit import Judgment
    from nclue_build.core.progress import Progress
    from nclue_build.records.benchmark import Query
    from nclue_build.records.corpus import DocumentQuality, Role
    from nclue_build.records.inventory import InventoryVersion
    from nclue_build.store.stage import Mapper
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class BenchmarkWriting:
    """Where a benchmark goes, and what there is to say of it beside its queries and judgments.

    Args:
        build: The build it is of.
        folder: Where it goes.
        version: Of the inventory its judgments follow from.
        quality: The benchmark's documents, sorted by id.
        mapper: For the texts of the documents.
        progress: Listener.
        item_judge: Who checked the golds.
        item_model: The model, where one did.
        with_texts: Whether there is a BEIR folder, which holds the text of every document.
    """

    build: Build
    folder: Path
    version: InventoryVersion
    quality: Sequence[DocumentQuality]
    mapper: Mapper
    progress: Progress
    item_judge: str
    item_model: str | None
    with_texts: bool


def write_benchmark(
    writing: BenchmarkWriting, queries: Sequence[Query], judged: Iterable[Sequence[Judgment]]
) -> dict[str, int]:
    """Write ``queries.jsonl``, every qrels file, ``qrels.meta.json`` and the BEIR folder.

    Args:
        writing: Where, and about what.
        queries: Sorted by id.
        judged: The judgments of each query, in the order of the queries; a query at a time is in memory.

    Returns:
        Counts of queries, qrels, golds and gate outcomes.
    """
    folder = writing.folder
    trec: dict[str, list[TrecQrel]] = {name: [] for name in (TREC, TREC_GOLD, TREC_CONDITIONS, TREC_PAGES)}
    splits: dict[str, list[TrecQrel]] = {split_file(n, name): [] for n in ARITIES for name in (TREC, TREC_GOLD)}
    outcomes: Counter[str] = Counter()
    write_jsonl(folder / QUERIES, queries)
    with atomic_writer(folder / QRELS) as stream:
        for query, judgments in zip(queries, judged, strict=True):
            stream.writelines(encode(judgment.qrel) + b"\n" for judgment in judgments)
            outcomes.update(judgment.qrel.gate for judgment in judgments)
            rows = trec_rows(judgments)
            for name in trec:
                trec[name] += rows[name]
            for name in (TREC, TREC_GOLD):
                splits[split_file(query.n, name)] += rows[name]
    for name, found in (trec | splits).items():
        write_trec_qrels(folder / name, found)
    meta = QrelsMeta(
        inventory_version=writing.version.version,
        inventory_digests=writing.version.digests,
        level=writing.version.level,
        item_judge=writing.item_judge,
        item_model=writing.item_model,
        n_queries=len(queries),
        n_qrels=len(trec[TREC]),
        n_golds=len(trec[TREC_GOLD]),
        qrels_sha256=sha256_file(folder / QRELS),
    )
    write_json(folder / META, meta)
    if writing.with_texts:
        _write_beir(writing, queries, trec[TREC], trec[TREC_GOLD])
    else:
        remove_beir(folder / BEIR)
    counts = {"queries": len(queries), "qrels": len(trec[TREC]), "golds": len(trec[TREC_GOLD])}
    return counts | {f"gate_{outcome}": outcomes[outcome] for outcome in get_args(GateOutcome) if outcomes[outcome]}


def _write_beir(
    writing: BenchmarkWriting, queries: Sequence[Query], qrels: Sequence[TrecQrel], golds: Sequence[TrecQrel]
) -> None:
    facts = BeirFacts(
        name=writing.build.name,
        n_documents=len(writing.quality),
        queries_by_n=Counter(query.n for query in queries),
        n_judgments=len(qrels),
        n_golds=len(golds),
        judge=writing.item_judge,
    )
    rows = (
        BeirRow(
            query.query_id,
            None,
            query.forms.clean_v2,
            {"n": query.n, "raw": query.forms.raw, "natural": query.forms.natural},
        )
        for query in queries
    )
    scores, gold_scores = ([BeirQrel(row.query_id, row.doc_id, row.grade) for row in found] for found in (qrels, golds))
    write_beir(writing.folder / BEIR, _texts(writing), rows, scores, gold_scores, facts)


def _texts(writing: BenchmarkWriting) -> Iterator[BeirRow]:
    """Corpus rows, a document at a time."""
    build = writing.build
    titles = {row.doc_id: row.title for row in read_documents(build.documents)}
    paths = [build.page_file(row.doc_id) for row in writing.quality]
    writing.progress.start("compose: texts", len(paths), "documents")
    read = partial(_document_text, writing.version.allowed_roles)
    for row, text in zip(writing.quality, writing.mapper.map(read, paths), strict=True):
        writing.progress.advance()
        yield BeirRow(row.doc_id, titles.get(row.doc_id) or "", text, {"source": row.source, "n_pages": row.n_pages})


def _document_text(allowed_roles: tuple[Role, ...], path: Path) -> str:
    """Matching text of a document's allowed blocks and headings, a line each."""
    allowed = frozenset((*allowed_roles, "title"))
    texts = (matching_text(block.text) for page in read_pages(path) for block in page.blocks if block.role in allowed)
    return "\n".join(text for text in texts if text)
