"""TREC qrels files: ``qid iteration docid grade``, single spaces, unique pairs, integers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from nclue_build.core.errors import DataError
from nclue_build.core.findings import Findings, shown
from nclue_build.store.atomic import atomic_writer
from nclue_build.store.form import ends_with_newline
from nclue_build.store.jsonl import iter_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ROW: Final = re.compile(rb"([!-~]+) ([!-~]+) ([!-~]+) (0|-?[1-9][0-9]{0,8})")
"""A whole line: printable ASCII without white space, single spaces. Anything else splits differently somewhere."""


class TrecQrel(NamedTuple):
    """A row of a qrels file; ``iteration`` is ``0`` or a 1-based subtopic."""

    query_id: str
    iteration: str
    doc_id: str
    grade: int


def write_trec_qrels(path: Path, rows: Iterable[TrecQrel]) -> int:
    """Write rows in the order given, atomically; returns how many."""
    count = 0
    with atomic_writer(path) as stream:
        for query_id, iteration, doc_id, grade in rows:
            stream.write(f"{query_id} {iteration} {doc_id} {grade}\n".encode())
            count += 1
    return count


def read_numbered_qrels(path: Path, found: Findings) -> Iterator[tuple[int, TrecQrel]]:
    """Yield the good rows of a qrels file in order, with their lines; everything wrong goes to ``found``.

    Wrong are a missing file, a line that is not exactly as :func:`write_trec_qrels` writes it (so also a blank
    line, a comment, a tab, CR LF, no line end at the end), and a (query, iteration, document) that stands twice.

    Yields:
        1-based line and row.
    """
    seen: set[tuple[str, str, str]] = set()
    where = str(path)
    try:
        for line, text in iter_lines(path, keep_blank=True):
            match = _ROW.fullmatch(text)
            if match is None:
                readable = shown(repr(text.decode("utf-8", "replace")))
                message = f"expected 'query iteration document grade', single spaces, a plain integer: {readable}"
                found.add("bad-qrels-row", message, path=where, line=line)
                continue
            query_id, iteration, doc_id = (match[column].decode("ascii") for column in (1, 2, 3))
            if (query_id, iteration, doc_id) in seen:
                found.add("duplicate-qrel", f"({query_id}, {doc_id}) stands twice", path=where, line=line, id=query_id)
                continue
            seen.add((query_id, iteration, doc_id))
            yield line, TrecQrel(query_id, iteration, doc_id, int(match[4]))
        if not ends_with_newline(path):
            found.add("bad-qrels-row", "the last line has no line end", path=where)
    except DataError as error:
        found.extend(error.findings)


def read_trec_qrels(path: Path) -> list[TrecQrel]:
    """Read a qrels file strictly.

    Raises:
        DataError: with the line of everything that :func:`read_numbered_qrels` finds wrong.
    """
    found = Findings()
    rows = [row for _, row in read_numbered_qrels(path, found)]
    found.raise_any()
    return rows
