"""Folders in the layout of BEIR, as its own loader, MTEB and ``datasets`` read them.

``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv`` (with its mandatory header: without it a reader loses the
first judgment silently) and the same judgments as ``qrels/test.jsonl``, because ``datasets`` refuses a folder
that mixes JSONL and TSV data; ``README.md`` names the data files, or any other JSONL beside them breaks loading.
(N. Thakur et al., "BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models",
NeurIPS Datasets and Benchmarks, 2021.)
"""

from __future__ import annotations

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
    path: corpus.jsonl
- config_name: queries
  data_files:
  - split: queries
    path: queries.jsonl
- config_name: default
  data_files:
  - split: test
    path: qrels/test.jsonl
---

# {title}

{text}
"""


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
    card: tuple[str, str],
) -> None:
    """Write a BEIR folder, each file atomically and a row at a time.

    Args:
        folder: Made when missing; other files in it stay.
        corpus: Documents, in the order they get written.
        queries: Queries.
        qrels: Judgments.
        card: Title and text of ``README.md``.
    """
    _write_rows(folder / layout.BEIR_CORPUS, corpus)
    _write_rows(folder / layout.BEIR_QUERIES, queries)
    with (
        atomic_writer(folder / layout.BEIR_QRELS_TSV) as table,
        atomic_writer(folder / layout.BEIR_QRELS_JSONL) as lines,
    ):
        table.write(QRELS_HEADER + b"\n")
        for query_id, doc_id, score in qrels:
            table.write(f"{query_id}\t{doc_id}\t{score}\n".encode())
            lines.write(orjson.dumps({"query-id": query_id, "corpus-id": doc_id, "score": score}) + b"\n")
    title, text = card
    write_text(folder / layout.BEIR_CARD, _CARD.format(title=title, text=text))


def remove_beir(folder: Path) -> None:
    """Remove what :func:`write_beir` wrote: a benchmark that has no BEIR folder must not keep one of an older build."""
    for name in (
        layout.BEIR_CORPUS,
        layout.BEIR_QUERIES,
        layout.BEIR_QRELS_TSV,
        layout.BEIR_QRELS_JSONL,
        layout.BEIR_CARD,
    ):
        (folder / name).unlink(missing_ok=True)


def _write_rows(path: Path, rows: Iterable[BeirRow]) -> None:
    with atomic_writer(path) as stream:
        for row in rows:
            fields: dict[str, object] = {"_id": row.id}
            if row.title is not None:
                fields["title"] = row.title
            stream.write(orjson.dumps(fields | {"text": row.text, "metadata": dict(row.metadata)}) + b"\n")
