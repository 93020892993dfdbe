"""The BEIR folder, which is there only where the pages are, against the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import orjson

from nclue_build.core.canonical import sha256_bytes
from nclue_build.store import layout
from nclue_build.store.beir import QRELS_HEADER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nclue_build.core.findings import Findings
    from nclue_build.records.benchmark import Query
    from nclue_build.rederive.qrels_check import Judged

ReadLines = Callable[[str], "Iterable[tuple[int, bytes]] | None"]
"""Gives the lines of a file of the benchmark; None when there is no such file."""


def compare_files(
    read: ReadLines,
    shown_path: Callable[[str], str],
    texts: Mapping[str, str | None],
    queries: Mapping[str, Query],
    judged: Judged,
    out: Findings,
) -> None:
    """Compare every file of the BEIR folder.

    Args:
        read: Gives the lines of a file.
        shown_path: Gives a file's path, as shown.
        texts: SHA-256 of the text of every document of the benchmark's corpus; None where it is not known.
        queries: By id.
        judged: The recomputed judgments.
        out: Takes what differs.
    """
    grades = {(query_id, doc_id): row.grade for query_id, rows in judged.items() for doc_id, row in rows.items()}
    golds = {(query_id, doc_id): 1 for query_id, rows in judged.items() for doc_id, row in rows.items() if row.gold}
    checks: dict[str, Callable[[Iterable[tuple[int, bytes]], str, Findings], None]] = {
        layout.BEIR_CORPUS: partial(compare_corpus, texts=texts),
        layout.BEIR_QUERIES: partial(compare_queries, queries=queries),
        layout.BEIR_QRELS_TSV: partial(compare_tsv, grades=grades),
        layout.BEIR_QRELS_JSONL: partial(compare_jsonl, grades=grades),
        layout.BEIR_GOLD_TSV: partial(compare_tsv, grades=golds),
        layout.BEIR_GOLD_JSONL: partial(compare_jsonl, grades=golds),
        layout.BEIR_CARD: _check_card,
    }
    for file, check in checks.items():
        name = f"{layout.BEIR}/{file}"
        lines = read(name)
        if lines is None:
            out.add("file-missing", "the BEIR folder is incomplete", path=shown_path(name))
        else:
            check(lines, shown_path(name), out)


def _check_card(lines: Iterable[tuple[int, bytes]], path: str, out: Findings) -> None:
    """Check that README.md names every data file: where it does not, ``datasets`` guesses, and fails."""
    text = b"\n".join(line for _, line in lines).decode("utf-8", "replace")
    for file in (layout.BEIR_CORPUS, layout.BEIR_QUERIES, layout.BEIR_QRELS_JSONL, layout.BEIR_GOLD_JSONL):
        if f"path: {file}" not in text:
            out.add("beir-card-differs", f"no configuration names {file}", path=path)


def _objects(lines: Iterable[tuple[int, bytes]], path: str, out: Findings) -> Iterator[tuple[int, dict[str, object]]]:
    for line, text in lines:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            out.add("bad-record", f"no JSON: {error}", path=path, line=line)
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            out.add("bad-record", "no JSON object", path=path, line=line)


def compare_corpus(
    lines: Iterable[tuple[int, bytes]], path: str, out: Findings, texts: Mapping[str, str | None]
) -> None:
    """Compare ids and texts of corpus.jsonl with the benchmark's documents; rows stream, a text at a time."""
    missing = set(texts)
    for line, row in _objects(lines, path, out):
        doc_id = str(row.get("_id"))
        if doc_id in missing:
            missing.remove(doc_id)
            digest = sha256_bytes(str(row.get("text")).encode("utf-8"))
            if texts[doc_id] not in (None, digest):
                message = "the text is not that of the document's pages"
                out.add("beir-corpus-differs", message, path=path, line=line, id=doc_id)
        else:
            what = "stands twice" if doc_id in texts else "is not in the benchmark's corpus"
            out.add("beir-corpus-differs", f"the document {what}", path=path, line=line, id=doc_id)
    for doc_id in sorted(missing):
        out.add("beir-corpus-differs", "the document is missing", path=path, id=doc_id)


def compare_queries(lines: Iterable[tuple[int, bytes]], path: str, out: Findings, queries: Mapping[str, Query]) -> None:
    """Compare ids and texts of queries.jsonl: a text is one of the query's forms."""
    missing = set(queries)
    for line, row in _objects(lines, path, out):
        query_id = str(row.get("_id"))
        if query_id not in missing:
            what = "stands twice" if query_id in queries else "is not in queries.jsonl of the benchmark"
            out.add("beir-queries-differ", f"the query {what}", path=path, line=line, id=query_id)
            continue
        missing.remove(query_id)
        if row.get("text") not in queries[query_id].forms.model_dump().values():
            message = f"{row.get('text')!r} is no form of the query"
            out.add("beir-queries-differ", message, path=path, line=line, id=query_id)
    for query_id in sorted(missing):
        out.add("beir-queries-differ", "the query is missing", path=path, id=query_id)


def compare_tsv(
    lines: Iterable[tuple[int, bytes]], path: str, out: Findings, grades: Mapping[tuple[str, str], int]
) -> None:
    """Compare a table of judgments; without its header line loaders lose the first judgment silently."""
    rows = iter(lines)
    first = next(rows, None)
    if first is None or first[1] != QRELS_HEADER:
        message = f"the first line must be {QRELS_HEADER.decode()!r}"
        out.add("beir-qrels-differ", message, path=path, line=1)
    parsed: list[tuple[int, tuple[str, ...]]] = [
        (line, tuple(text.decode("utf-8", "replace").split("\t"))) for line, text in rows
    ]
    _compare_grades(parsed, grades, path, out)


def compare_jsonl(
    lines: Iterable[tuple[int, bytes]], path: str, out: Findings, grades: Mapping[tuple[str, str], int]
) -> None:
    """Compare judgments as JSON rows."""
    names = ("query-id", "corpus-id", "score")
    parsed = [(line, tuple(str(row.get(name)) for name in names)) for line, row in _objects(lines, path, out)]
    _compare_grades(parsed, grades, path, out)


def _compare_grades(
    rows: Iterable[tuple[int, tuple[str, ...]]], grades: Mapping[tuple[str, str], int], path: str, out: Findings
) -> None:
    missing = {(query_id, doc_id, str(grade)) for (query_id, doc_id), grade in grades.items()}
    expected = frozenset(missing)
    for line, row in rows:
        if row in missing:
            missing.remove((row[0], row[1], row[2]))
        else:
            what = "stands twice" if row in expected else "was not recomputed"
            out.add("beir-qrels-differ", f"{' '.join(row)!r} {what}", path=path, line=line, id=row[0])
    for query_id, doc_id, grade in sorted(missing):
        out.add("beir-qrels-differ", f"no row for {doc_id} with score {grade}", path=path, id=query_id)
