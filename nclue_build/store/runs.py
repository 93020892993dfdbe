"""Run files: TREC's six columns or JSON lines, plain or gzipped, as columns in the order of the file.

Both engines for TREC files give the same columns. The CSV engine (``pyarrow``, the extra ``fast``) reads only files
without any irregularity; at the first one the file is read again line by line, which says what is wrong and where.
"""

from __future__ import annotations

import gzip
import math
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from pydantic import Field, ValidationError

from nclue_build.core.errors import DataError, Finding
from nclue_build.core.findings import Findings, shown
from nclue_build.records.base import Record
from nclue_build.store.jsonl import validation_findings

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_GZIP_MAGIC: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_N_COLUMNS: Final = 6

PageScores = tuple[tuple[int, float], ...]


class RunRow(Record):
    """A row of a JSONL run; ``pages`` makes the run page-aware."""

    query_id: Annotated[str, Field(min_length=1)]
    doc_id: Annotated[str, Field(min_length=1)]
    score: float
    pages: tuple[tuple[Annotated[int, Field(ge=1)], float], ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """The rows of a run file, in its order.

    Args:
        query_ids: Distinct ids, in no order that means anything.
        doc_ids: The same.
        queries: int64, a row each: index into ``query_ids``.
        docs: int64, a row each: index into ``doc_ids``.
        scores: float64, finite.
        lines: int64, 1-based line of each row.
        pages: Of each row, (page, score) as the run gives them; None where no row has pages.
    """

    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    queries: NDArray[np.int64]
    docs: NDArray[np.int64]
    scores: NDArray[np.float64]
    lines: NDArray[np.int64]
    pages: tuple[PageScores, ...] | None = None


def has_fast_engine() -> bool:
    """Whether the CSV engine of the extra ``fast`` is installed."""
    return find_spec("pyarrow") is not None


def read_run(path: Path, *, fast: bool | None = None) -> RunColumns:
    """Read a run file; ``.jsonl`` (and ``.jsonl.gz``) holds JSON rows, anything else TREC's columns.

    Args:
        path: The file.
        fast: Use the CSV engine for TREC files; None: where it is installed.

    Raises:
        DataError: with the line of every row that is malformed, has a score that is no finite number, or repeats a
            document of its query; or the file is missing, empty, or no text.
    """
    data = _read_bytes(path)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return _read_jsonl(path, data)
    if has_fast_engine() if fast is None else fast:
        columns = _read_with_arrow(data)
        if columns is not None:
            return columns
    return _read_plainly(path, data)


def _read_bytes(path: Path) -> bytes:
    def unreadable(code: str, message: str) -> DataError:
        return DataError.from_findings([Finding(code, message, str(path))])

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise unreadable("file-missing", "file not found") from None
    except IsADirectoryError:
        raise unreadable("bad-run-row", "is a folder, expected a run file") from None
    if data.startswith(_GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise unreadable("bad-run-row", f"not a whole gzip file: {error}") from None
    if data.startswith(_BOM):
        raise unreadable("byte-order-mark", "starts with a byte order mark: save as UTF-8 without BOM")
    if not data or data.isspace():
        raise unreadable("bad-run-row", "has no rows")
    return data


class _Coder:
    """Numbers ids by their first appearance."""

    def __init__(self) -> None:
        self.codes: dict[bytes, int] = {}

    def code(self, value: bytes) -> int:
        return self.codes.setdefault(value, len(self.codes))

    def ids(self) -> tuple[str, ...]:
        return tuple(value.decode("utf-8") for value in self.codes)


class _Rows:
    """Takes in rows one after the other, and what is wrong with them."""

    def __init__(self, path: Path) -> None:
        self.found = Findings()
        self._path = str(path)
        self._queries, self._docs = _Coder(), _Coder()
        self._columns: tuple[list[int], list[int], list[float], list[int]] = ([], [], [], [])
        self._pages: list[PageScores] = []
        self._has_pages = False
        self._lines_of: dict[tuple[int, int], int] = {}

    def wrong(self, line: int, message: str, code: str = "bad-run-row") -> None:
        self.found.add(code, message, path=self._path, line=line)

    def add(self, line: int, query_id: bytes, doc_id: bytes, score: float, pages: PageScores | None = None) -> None:
        if not math.isfinite(score):
            self.wrong(line, f"score: {score} is no finite number", "bad-run-score")
            return
        query, doc = self._queries.code(query_id), self._docs.code(doc_id)
        first = self._lines_of.setdefault((query, doc), line)
        if first != line:
            pair = f"({query_id.decode()}, {doc_id.decode()})"
            self.wrong(line, f"{pair} stands in line {first} already: keep one", "duplicate-run-row")
            return
        queries, docs, scores, lines = self._columns
        queries.append(query)
        docs.append(doc)
        scores.append(score)
        lines.append(line)
        self._has_pages |= pages is not None
        self._pages.append(pages or ())

    def finish(self) -> RunColumns:
        self.found.raise_any()
        queries, docs, scores, lines = self._columns
        return RunColumns(
            self._queries.ids(),
            self._docs.ids(),
            np.array(queries, dtype=np.int64),
            np.array(docs, dtype=np.int64),
            np.array(scores, dtype=np.float64),
            np.array(lines, dtype=np.int64),
            tuple(self._pages) if self._has_pages else None,
        )


def _read_plainly(path: Path, data: bytes) -> RunColumns:
    rows = _Rows(path)
    for line, text in enumerate(data.split(b"\n"), start=1):
        parts = text.split()
        if not parts:
            continue
        if len(parts) != _N_COLUMNS:
            readable = shown(repr(text.decode("utf-8", "replace")))
            rows.wrong(line, f"expected 6 columns (query Q0 document rank score tag), got {len(parts)}: {readable}")
            continue
        try:
            parts[0].decode("utf-8"), parts[2].decode("utf-8")
            score = _number(parts[4])
        except UnicodeDecodeError:
            rows.wrong(line, "ids: not UTF-8")
        except ValueError:
            rows.wrong(line, f"score: {parts[4].decode('utf-8', 'replace')!r} is no number", "bad-run-score")
        else:
            rows.add(line, parts[0], parts[2], score)
    return rows.finish()


def _number(text: bytes) -> float:
    if b"_" in text:  # which Python takes between digits, and no other tool does
        raise ValueError(text)
    return float(text)


def _read_jsonl(path: Path, data: bytes) -> RunColumns:
    rows = _Rows(path)
    for line, text in enumerate(data.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            row = RunRow.model_validate_json(text)
        except ValidationError as error:
            rows.found.extend(validation_findings(error, path, line, RunRow))
            continue
        rows.add(line, row.query_id.encode(), row.doc_id.encode(), row.score, row.pages)
    return rows.finish()


def _read_with_arrow(data: bytes) -> RunColumns | None:
    """The columns of a file without any irregularity; None for any other."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and slow to load
    from pyarrow import csv  # noqa: PLC0415 - an extra, and slow to load

    # Only spaces and line feeds: any other white space splits differently in the line-by-line reader.
    if any(mark in data for mark in (b"\t", b"\r", b"\v", b"\f")):
        return None
    # One thread: two take a third more processor time, and no less time where other runs are read beside this one.
    names = ["query", "iteration", "doc", "rank", "score", "tag"]
    ids = pa.dictionary(pa.int32(), pa.string())
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(
                delimiter=" ", quote_char=False, escape_char=False, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                column_types={"query": ids, "doc": ids, "score": pa.float64()},
                include_columns=["query", "doc", "score"],
                null_values=[],
                strings_can_be_null=False,
                check_utf8=True,
            ),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    query_ids, queries = _codes(table.column("query"))
    doc_ids, docs = _codes(table.column("doc"))
    scores = np.asarray(np.from_dlpack(table.column("score").combine_chunks()), dtype=np.float64)
    keys = queries * len(doc_ids) + docs
    if "" in query_ids or "" in doc_ids or not np.isfinite(scores).all() or _has_repeats(keys):
        return None
    return RunColumns(query_ids, doc_ids, queries, docs, scores, np.arange(1, len(scores) + 1))


def _codes(column: Any) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Distinct values, and the index of each row's."""
    whole = column.combine_chunks()
    # Not to_numpy, which loads pandas where that is installed.
    return tuple(whole.dictionary.to_pylist()), np.from_dlpack(whole.indices).astype(np.int64)


def _has_repeats(keys: NDArray[np.int64]) -> bool:
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())
