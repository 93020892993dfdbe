"""The BEIR folder, which is there only where the pages are, against the benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import orjson

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.findings import shown
from nclue_build.rederive.version_check import Order
from nclue_build.store import layout
from nclue_build.store.beir import QRELS_HEADER, BeirFacts
from nclue_build.store.form import explain_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nclue_build.core.findings import Findings
    from nclue_build.records.benchmark import Query
    from nclue_build.rederive.qrels_check import Judged
    from nclue_build.rederive.query_check import DocumentFacts

ReadLines = Callable[[str], "Iterable[tuple[int, bytes]] | None"]
"""Gives the lines of a file of the benchmark; None when there is no such file."""


class Expected(NamedTuple):
    """What the folder has to hold.

    Args:
        name: Of the benchmark.
        judge: Who checked the golds.
        texts: SHA-256 of the text of every document of the benchmark's corpus; None where it is not known.
        documents: What is said of each of them.
        queries: By id.
        judged: The recomputed judgments.
    """

    name: str
    judge: str
    texts: Mapping[str, str | None]
    documents: Mapping[str, DocumentFacts]
    queries: Mapping[str, Query]
    judged: Judged

    def card(self, n_judgments: int, n_golds: int) -> str:
        """Text of README.md."""
        by_n = Counter(query.n for query in self.queries.values())
        return BeirFacts(self.name, len(self.documents), by_n, n_judgments, n_golds, self.judge).card()


def compare_files(read: ReadLines, shown_path: Callable[[str], str], expected: Expected, out: Findings) -> None:
    """Compare every file of the BEIR folder.

    Args:
        read: Gives the lines of a file.
        shown_path: Gives a file's path, as shown.
        expected: What they have to hold.
        out: Takes what differs.
    """
    judged = expected.judged
    grades = {(query_id, doc_id): row.grade for query_id, rows in judged.items() for doc_id, row in rows.items()}
    golds = {(query_id, doc_id): 1 for query_id, rows in judged.items() for doc_id, row in rows.items() if row.gold}
    card = expected.card(len(grades), len(golds))
    checks: dict[str, Callable[[Iterable[tuple[int, bytes]], str, Findings], None]] = {
        layout.BEIR_CORPUS: partial(compare_corpus, texts=expected.texts, documents=expected.documents),
        layout.BEIR_QUERIES: partial(compare_queries, queries=expected.queries),
        layout.BEIR_QRELS_TSV: partial(compare_tsv, grades=grades),
        layout.BEIR_QRELS_JSONL: partial(compare_jsonl, grades=grades),
        layout.BEIR_GOLD_TSV: partial(compare_tsv, grades=golds),
        layout.BEIR_GOLD_JSONL: partial(compare_jsonl, grades=golds),
        layout.BEIR_CARD: partial(_check_card, card=card),
    }
    for file, check in checks.items():
        name = f"{layout.BEIR}/{file}"
        lines = read(name)
        if lines is None:
            out.add("file-missing", "the BEIR folder is incomplete", path=shown_path(name))
        else:
            check(lines, shown_path(name), out)


def _check_card(lines: Iterable[tuple[int, bytes]], path: str, out: Findings, card: str) -> None:
    """Compare README.md: where it does not name every data file ``datasets`` guesses, and its counts are read."""
    stored = [line for _, line in lines]
    wanted = card.encode("utf-8").splitlines()
    if stored != wanted:
        pairs = zip_longest(stored, wanted, fillvalue=b"")
        line, (kept, told) = next((line, pair) for line, pair in enumerate(pairs, start=1) if pair[0] != pair[1])
        message = f"stored {shown(repr(kept.decode('utf-8', 'replace')))}, expected {shown(repr(told.decode()))}"
        out.add("beir-card-differs", message, path=path, line=line)


def _objects(lines: Iterable[tuple[int, bytes]], path: str, out: Findings) -> Iterator[tuple[int, dict[str, object]]]:
    for line, text in lines:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            out.add("bad-record", f"no JSON: {error}", path=path, line=line)
            continue
        if not isinstance(value, dict):
            out.add("bad-record", "no JSON object", path=path, line=line)
            continue
        if text != (expected := orjson.dumps(value)):
            out.add("not-canonical", explain_difference(text, expected), path=path, line=line)
        yield line, value


def compare_corpus(
    lines: Iterable[tuple[int, bytes]],
    path: str,
    out: Findings,
    texts: Mapping[str, str | None],
    documents: Mapping[str, DocumentFacts],
) -> None:
    """Compare the rows of corpus.jsonl with the benchmark's documents; rows stream, a text at a time."""
    missing = set(texts)
    order = Order(path, out)
    for line, row in _objects(lines, path, out):
        doc_id = str(row.get("_id"))
        if doc_id not in missing:
            what = "stands twice" if doc_id in texts else "is not in the benchmark's corpus"
            out.add("beir-corpus-differs", f"the document {what}", path=path, line=line, id=doc_id)
            continue
        missing.remove(doc_id)
        order.next(line, (doc_id,))
        digest = sha256_bytes(str(row.pop("text", None)).encode("utf-8"))
        if texts[doc_id] not in (None, digest):
            message = "the text is not that of the document's pages"
            out.add("beir-corpus-differs", message, path=path, line=line, id=doc_id)
        facts = documents[doc_id]
        wanted = {"_id": doc_id, "title": facts.title, "metadata": _metadata(facts)}
        if row != wanted:
            message = f"beside the text stored {shown(row)}, expected {shown(wanted)}"
            out.add("beir-corpus-differs", message, path=path, line=line, id=doc_id)
    for doc_id in sorted(missing):
        out.add("beir-corpus-differs", "the document is missing", path=path, id=doc_id)


def _metadata(facts: DocumentFacts) -> dict[str, str | int]:
    return {"source": facts.source, "n_pages": facts.n_pages}


def compare_queries(lines: Iterable[tuple[int, bytes]], path: str, out: Findings, queries: Mapping[str, Query]) -> None:
    """Compare the rows of queries.jsonl: the text is the clean form, the others are metadata."""
    missing = set(queries)
    order = Order(path, out)
    for line, row in _objects(lines, path, out):
        query_id = str(row.get("_id"))
        if query_id not in missing:
            what = "stands twice" if query_id in queries else "is not in queries.jsonl of the benchmark"
            out.add("beir-queries-differ", f"the query {what}", path=path, line=line, id=query_id)
            continue
        missing.remove(query_id)
        order.next(line, (query_id,))
        query = queries[query_id]
        metadata = {"n": query.n, "raw": query.forms.raw, "natural": query.forms.natural}
        wanted = {"_id": query_id, "text": query.forms.clean_v2, "metadata": metadata}
        if row != wanted:
            message = f"stored {shown(row)}, expected {shown(wanted)}"
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
    parsed: list[tuple[int, tuple[object, ...]]] = [
        (line, tuple(text.decode("utf-8", "replace").split("\t"))) for line, text in rows
    ]
    _compare_grades(parsed, grades, path, out)


def compare_jsonl(
    lines: Iterable[tuple[int, bytes]], path: str, out: Findings, grades: Mapping[tuple[str, str], int]
) -> None:
    """Compare judgments as JSON rows."""
    names = ("query-id", "corpus-id", "score")
    parsed: list[tuple[int, tuple[object, ...]]] = []
    for line, row in _objects(lines, path, out):
        if tuple(row) != names or type(row["score"]) is not int:
            out.add("bad-record", f"expected the fields {', '.join(names)}, a whole number last", path=path, line=line)
        else:
            parsed.append((line, (str(row["query-id"]), str(row["corpus-id"]), str(row["score"]))))
    _compare_grades(parsed, grades, path, out)


def _compare_grades(
    rows: Iterable[tuple[int, tuple[object, ...]]], grades: Mapping[tuple[str, str], int], path: str, out: Findings
) -> None:
    missing = {(query_id, doc_id, str(grade)) for (query_id, doc_id), grade in grades.items()}
    expected = frozenset(missing)
    order = Order(path, out)
    for line, row in rows:
        if row in missing:
            query_id, doc_id, grade = (str(part) for part in row)
            missing.remove((query_id, doc_id, grade))
            order.next(line, (query_id, doc_id))
        else:
            what = "stands twice" if row in expected else "was not recomputed"
            out.add(
                "beir-qrels-differ", f"{' '.join(map(str, row))!r} {what}", path=path, line=line, id=str(row[0]) or None
            )
    for query_id, doc_id, grade in sorted(missing):
        out.add("beir-qrels-differ", f"no row for {doc_id} with score {grade}", path=path, id=query_id)
