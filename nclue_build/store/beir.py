"""Folders in the layout of BEIR, as its own loader, MTEB and ``datasets`` read them.

``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv`` (with its mandatory header: without it a reader loses the
first judgment silently) and the same judgments as ``qrels/test.jsonl``, because ``datasets`` refuses a folder
that mixes JSONL and TSV data; ``qrels/gold.*`` are the golds alone; ``README.md`` names the data files, or any other
JSONL beside them breaks loading.
(N. Thakur et al., "BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models",
NeurIPS Datasets and Benchmarks, 2021.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from nclue_build.store import layout
from nclue_build.store.atomic import atomic_writer, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

QRELS_HEADER: Final = b"query-id\tcorpus-id\tscore"
"""First line of the judgments as a table; without it readers lose the first judgment silently."""
_CARD = """\
---
configs:
- config_name: corpus
  data_files:
  - split: corpus
    path: {corpus}
- config_name: queries
  data_files:
  - split: queries
    path: {queries}
- config_name: default
  data_files:
  - split: test
    path: {qrels}
  - split: gold
    path: {gold}
---

# {facts.name}: conjunctive cross-page retrieval

A query names several concepts (two or three). A document answers it only if it establishes all of them, each on a page
of its own. Retrievers are to put such documents before the many that cover a part.

**Not for redistribution.** `{corpus}` holds the full text of the documents. Pass this folder on only if you have the
rights to do so; the queries and judgments alone name documents by id.

## What a score means

The score of a document (split `test`) is its clue count: the number of the query's concepts that it establishes. A
document that has all n concepts, but all of them on one page or on too few pages for each to have its own, gets n - 1.
Every document with at least one concept is judged: what is not listed has the score 0.

## Which documents are gold

Those with the score n, the number of the query's concepts (`metadata.n` in `{queries}`). n differs between queries, so
no single threshold on scores selects the golds: use the split `gold` (the same documents, each with the score 1).

## Counts

| what | how many |
|---|---|
| documents | {facts.n_documents} |
| queries | {facts.n_queries} ({by_n}) |
| judgments | {facts.n_judgments} |
| golds | {facts.n_golds} |

## Who judged

{judge}

## Measures

With `gold`: success at k and reciprocal rank (is a document found that answers the query, and how far up), recall at k,
nDCG at k. With `test`: nDCG at k, where partial answers earn a part. Average over all queries, also those for which a
system returns nothing (in trec_eval: `-c`).
"""
_RULES: Final = """\
The concepts, their pages and the golds were checked by deterministic rules (`rules`): word lists, parts of speech and
counting. That is no language model and no person. An alias of every concept stands on every page that counts for it;
whether a passing mention answers anybody's question, no rule can see."""


@dataclass(frozen=True, slots=True)
class BeirFacts:
    """What the README of a folder says of it.

    Args:
        name: Of the benchmark.
        n_documents: Rows of the corpus.
        queries_by_n: Queries by their number of conditions.
        n_judgments: Rows of the split ``test``.
        n_golds: Rows of the split ``gold``.
        judge: Who checked the golds.
    """

    name: str
    n_documents: int
    queries_by_n: Mapping[int, int]
    n_judgments: int
    n_golds: int
    judge: str

    @property
    def n_queries(self) -> int:
        """All queries."""
        return sum(self.queries_by_n.values())

    def card(self) -> str:
        """Text of ``README.md``: it stands alone, wherever the folder goes."""
        return _CARD.format(
            facts=self,
            corpus=layout.BEIR_CORPUS,
            queries=layout.BEIR_QUERIES,
            qrels=layout.BEIR_QRELS_JSONL,
            gold=layout.BEIR_GOLD_JSONL,
            by_n=", ".join(f"{count} with n = {n}" for n, count in sorted(self.queries_by_n.items())),
            judge=_RULES if self.judge == "rules" else f"The golds were checked by `{self.judge}`.",
        )


class BeirRow(NamedTuple):
    """A row of ``corpus.jsonl`` or ``queries.jsonl``; queries have no title (None).

    ``metadata`` must have the same keys and types in every row of a file.
    """

    id: str
    title: str | None
    text: str
    metadata: Mapping[str, str | int]


class BeirQrel(NamedTuple):
    """A judgment."""

    query_id: str
    doc_id: str
    score: int


def write_beir(
    folder: Path,
    corpus: Iterable[BeirRow],
    queries: Iterable[BeirRow],
    qrels: Iterable[BeirQrel],
    golds: Iterable[BeirQrel],
    facts: BeirFacts,
) -> None:
    """Write a BEIR folder, each file atomically and a row at a time.

    Args:
        folder: Made when missing; other files in it stay.
        corpus: Documents, in the order they get written.
        queries: Queries.
        qrels: Every judgment.
        golds: The judgments of the split ``gold``.
        facts: For ``README.md``.
    """
    _write_rows(folder / layout.BEIR_CORPUS, corpus)
    _write_rows(folder / layout.BEIR_QUERIES, queries)
    _write_qrels(folder / layout.BEIR_QRELS_TSV, folder / layout.BEIR_QRELS_JSONL, qrels)
    _write_qrels(folder / layout.BEIR_GOLD_TSV, folder / layout.BEIR_GOLD_JSONL, golds)
    write_text(folder / layout.BEIR_CARD, facts.card())


def remove_beir(folder: Path) -> None:
    """Remove what :func:`write_beir` wrote: a benchmark that has no BEIR folder must not keep one of an older build."""
    for name in layout.BEIR_FILES:
        (folder / name).unlink(missing_ok=True)


def _write_qrels(table_path: Path, lines_path: Path, qrels: Iterable[BeirQrel]) -> None:
    with atomic_writer(table_path) as table, atomic_writer(lines_path) as lines:
        table.write(QRELS_HEADER + b"\n")
        for query_id, doc_id, score in qrels:
            table.write(f"{query_id}\t{doc_id}\t{score}\n".encode())
            lines.write(orjson.dumps({"query-id": query_id, "corpus-id": doc_id, "score": score}) + b"\n")


def _write_rows(path: Path, rows: Iterable[BeirRow]) -> None:
    with atomic_writer(path) as stream:
        for row in rows:
            fields: dict[str, object] = {"_id": row.id}
            if row.title is not None:
                fields["title"] = row.title
            stream.write(orjson.dumps(fields | {"text": row.text, "metadata": dict(row.metadata)}) + b"\n")
