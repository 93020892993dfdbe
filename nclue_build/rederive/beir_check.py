"""The BEIR folder, which is there only where the pages are, against the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from nclue_build.records.benchmark import Query
    from nclue_build.rederive.differences import Differences

CORPUS: Final = "corpus.jsonl"
QUERIES: Final = "queries.jsonl"
QRELS_TSV: Final = "qrels/test.tsv"
QRELS_JSONL: Final = "qrels/test.jsonl"
TSV_HEADER: Final = b"query-id\tcorpus-id\tscore"


def _objects(
    lines: Iterable[tuple[int, bytes]], path: str, out: Differences
) -> Iterator[tuple[int, dict[str, object]]]:
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


def compare_corpus(lines: Iterable[tuple[int, bytes]], path: str, out: Differences, documents: Collection[str]) -> None:
    """Compare the ids of corpus.jsonl with the benchmark's documents; rows stream, since they hold whole texts."""
    missing = set(documents)
    for line, row in _objects(lines, path, out):
        doc_id = str(row.get("_id"))
        if doc_id in missing:
            missing.remove(doc_id)
        else:
            what = "stands twice" if doc_id in documents else "is not in the benchmark's corpus"
            out.add("beir-corpus-differs", f"the document {what}", path=path, line=line, id=doc_id)
    for doc_id in sorted(missing):
        out.add("beir-corpus-differs", "the document is missing", path=path, id=doc_id)


def compare_queries(
    lines: Iterable[tuple[int, bytes]], path: str, out: Differences, queries: Mapping[str, Query]
) -> None:
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
    lines: Iterable[tuple[int, bytes]], path: str, out: Differences, grades: Mapping[tuple[str, str], int]
) -> None:
    """Compare qrels/test.tsv; without its header line loaders lose the first judgment silently."""
    rows = iter(lines)
    first = next(rows, None)
    if first is None or first[1] != TSV_HEADER:
        message = f"the first line must be {TSV_HEADER.decode()!r}"
        out.add("beir-qrels-differ", message, path=path, line=1)
    parsed: list[tuple[int, tuple[str, ...]]] = [
        (line, tuple(text.decode("utf-8", "replace").split("\t"))) for line, text in rows
    ]
    _compare_grades(parsed, grades, path, out)


def compare_jsonl(
    lines: Iterable[tuple[int, bytes]], path: str, out: Differences, grades: Mapping[tuple[str, str], int]
) -> None:
    """Compare qrels/test.jsonl."""
    names = ("query-id", "corpus-id", "score")
    parsed = [(line, tuple(str(row.get(name)) for name in names)) for line, row in _objects(lines, path, out)]
    _compare_grades(parsed, grades, path, out)


def _compare_grades(
    rows: Iterable[tuple[int, tuple[str, ...]]], grades: Mapping[tuple[str, str], int], path: str, out: Differences
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
