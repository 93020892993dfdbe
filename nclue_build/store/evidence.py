"""``evidence.jsonl`` in bulk: a file of a million rows goes into arrays, and back, in seconds.

An object per row would cost ten times the time and memory. So rows are parsed some hundred at a time and checked as
columns; only where that finds something wrong does the record itself
(:class:`~nclue_build.records.inventory.EvidenceRow`) say of each row what it is.
"""

from __future__ import annotations

import contextlib
import gc
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import orjson
from pydantic import ValidationError

from nclue_build.core.arrays import offsets
from nclue_build.core.errors import DataError
from nclue_build.core.ids import document_id_problem, id_problem
from nclue_build.records.base import MAX_INT32
from nclue_build.records.inventory import EvidenceRow
from nclue_build.store.atomic import atomic_writer
from nclue_build.store.form import FormCheck
from nclue_build.store.jsonl import iter_lines, validation_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from nclue_build.core.findings import Findings

_FIELDS: Final = tuple(EvidenceRow.model_fields)
_fields_of: Final = itemgetter(*_FIELDS)
_BLOCK_ROWS: Final = 1024
"""Rows checked together: enough to make numpy worth it, few enough that one bad row does not slow others down."""

RawRow = tuple[str, str, "list[int] | None", "list[int]", "list[bool]"]
"""The fields of a row in declared order: condition, document, pages, mentions, heading marks."""


class EvidenceItem(NamedTuple):
    """A row with its line, for those who go row by row."""

    line: int
    condition_id: str
    doc_id: str
    pages: tuple[int, ...] | None
    mentions: tuple[int, ...]
    in_heading: tuple[bool, ...]


@dataclass(frozen=True, eq=False, slots=True)
class EvidenceColumns:
    """Evidence rows in the order of a file, as columns.

    Row ``r`` is about condition ``condition_ids[condition_of[r]]`` and document ``document_ids[document_of[r]]``;
    its pages are ``pages[starts[r]:starts[r + 1]]``, with ``mentions`` and ``in_heading`` parallel to them.

    Args:
        condition_ids: Ids in any order, each once.
        document_ids: Ids in any order, each once.
        condition_of: int32, one per row.
        document_of: int32, one per row.
        starts: int64, rows + 1.
        pages: int32, ascending within a row.
        mentions: int32.
        in_heading: bool.
        has_pages: bool, one per row; false where ``pages`` is null.
        lines: int64, 1-based line of each row.
    """

    condition_ids: Sequence[str]
    document_ids: Sequence[str]
    condition_of: NDArray[np.int32]
    document_of: NDArray[np.int32]
    starts: NDArray[np.int64]
    pages: NDArray[np.int32]
    mentions: NDArray[np.int32]
    in_heading: NDArray[np.bool_]
    has_pages: NDArray[np.bool_]
    lines: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.lines)

    def items(self) -> Iterator[EvidenceItem]:
        """Yield the rows one by one."""
        for first in range(0, self.n_rows, _BLOCK_ROWS):
            block = slice(first, first + _BLOCK_ROWS)
            bounds = self.starts[first : first + _BLOCK_ROWS + 1]
            flat = slice(int(bounds[0]), int(bounds[-1]))
            edges = (bounds - bounds[0]).tolist()
            pages, mentions = self.pages[flat].tolist(), self.mentions[flat].tolist()
            in_heading = self.in_heading[flat].tolist()
            for line, condition, document, has_pages, begin, end in zip(
                self.lines[block].tolist(),
                self.condition_of[block].tolist(),
                self.document_of[block].tolist(),
                self.has_pages[block].tolist(),
                edges[:-1],
                edges[1:],
                strict=True,
            ):
                yield EvidenceItem(
                    line,
                    self.condition_ids[condition],
                    self.document_ids[document],
                    tuple(pages[begin:end]) if has_pages else None,
                    tuple(mentions[begin:end]),
                    tuple(in_heading[begin:end]),
                )


def write_evidence(path: Path, columns: EvidenceColumns) -> int:
    """Write rows in the order given, atomically, as the record would be written; returns how many."""
    with atomic_writer(path) as stream:
        for row in columns.items():
            stream.write(_encode(row[1:]))
            stream.write(b"\n")
    return columns.n_rows


def read_evidence(
    path: Path, found: Findings, *, form: Findings | None = None, advice: str | None = None
) -> EvidenceColumns:
    """Read ``evidence.jsonl``.

    Args:
        path: The file.
        found: Takes what is wrong, with the line of every bad row; a missing file is one of these things.
        form: Takes a finding where the file is not byte for byte as :func:`write_evidence` writes its rows; without it
            good rows are taken in any form.
        advice: What to do when the file is missing.

    Returns:
        The good rows, in file order. Whether their ids exist, repeat or fit the level is for the caller to say.
    """
    table = _Table()
    check = FormCheck(path)
    try:
        lines = iter_lines(path, keep_blank=form is not None, advice=advice)
        with _collector_paused():
            while block := list(islice(lines, _BLOCK_ROWS)):
                block = [(number, text) for number, text in block if not check.is_blank(number, text)]
                numbers = [number for number, _ in block]
                rows = _parse([text for _, text in block])
                if rows is None or not table.take(rows, numbers):
                    rows, numbers = _explain(path, block, found)
                    table.take(rows, numbers)
                if form is not None:
                    _compare_form(check, dict(block), rows, numbers)
        if form is not None:
            check.report(form)
    except DataError as error:
        found.extend(error.findings)
    return table.columns()


def _compare_form(check: FormCheck, texts: Mapping[int, bytes], rows: Sequence[RawRow], numbers: Sequence[int]) -> None:
    for number, row in zip(numbers, rows, strict=True):
        check.compare(number, texts[number], _encode(row))


def _encode(row: Sequence[object]) -> bytes:
    return orjson.dumps(dict(zip(_FIELDS, row, strict=True)))


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    # Lists by the million and never a cycle among them: looking for cycles would take half of the time.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def columns_of(rows: Iterable[EvidenceRow]) -> EvidenceColumns:
    """Records as columns; the first is line 1."""
    table = _Table()
    plain = [_plain(row) for row in rows]
    table.take(plain, list(range(1, len(plain) + 1)))
    return table.columns()


def _plain(row: EvidenceRow) -> RawRow:
    pages = None if row.pages is None else list(row.pages)
    return row.condition_id, row.doc_id, pages, list(row.mentions), list(row.in_heading)


def _parse(texts: Sequence[bytes]) -> list[RawRow] | None:
    """The fields of every row, of whatever type they are; None when one is no object with exactly these fields."""
    try:
        rows = [orjson.loads(text) for text in texts]
        if set(map(type, rows)) == {dict} and set(map(len, rows)) == {len(_FIELDS)}:
            return list(map(_fields_of, rows))
    except (orjson.JSONDecodeError, KeyError):
        pass
    return None


def _explain(path: Path, block: Sequence[tuple[int, bytes]], found: Findings) -> tuple[list[RawRow], list[int]]:
    """The rows that are good after all and their lines; what is wrong with the others becomes findings."""
    rows: list[RawRow] = []
    lines: list[int] = []
    for line, text in block:
        try:
            rows.append(_plain(EvidenceRow.model_validate_json(text)))
        except ValidationError as error:
            found.extend(validation_findings(error, path, line))
        else:
            lines.append(line)
    return rows, lines


@dataclass(slots=True)
class _Index:
    """Numbers ids in the order they come."""

    problem: Callable[[str], str | None]
    number: dict[str, int] = field(default_factory=dict)

    def codes(self, ids: Sequence[str]) -> NDArray[np.int32] | None:
        """The number of each id; None when one is no id."""
        if not _have_types(ids, str):
            return None
        for new in dict.fromkeys(key for key in ids if key not in self.number):
            if self.problem(new) is not None:
                return None
            self.number[new] = len(self.number)
        return np.array([self.number[key] for key in ids], dtype=np.int32)


class _Table:
    """Columns that grow a block of rows at a time."""

    def __init__(self) -> None:
        self._conditions, self._documents = _Index(id_problem), _Index(document_id_problem)
        self._blocks: list[tuple[NDArray[np.generic], ...]] = []

    def take(self, rows: Sequence[RawRow], lines: Sequence[int]) -> bool:
        """Take rows in if all of them are good."""
        if not rows:
            return True
        condition_ids, doc_ids, pages, mentions, in_heading = zip(*rows, strict=True)
        if not (_have_types(pages, list, type(None)) and _have_types([*mentions, *in_heading], list)):
            return False
        has_pages = np.array([row is not None for row in pages], dtype=np.bool_)
        lengths = np.array([len(row or ()) for row in pages], dtype=np.int64)
        parallel = all(np.array_equal(lengths, list(map(len, column))) for column in (mentions, in_heading))
        flat_pages = _integers(chain.from_iterable(row for row in pages if row is not None))
        flat_mentions = _integers(chain.from_iterable(mentions))
        flags = list(chain.from_iterable(in_heading))
        if not parallel or flat_pages is None or flat_mentions is None or not _have_types(flags, bool):
            return False
        ascends = np.diff(flat_pages, prepend=0) > 0
        ascends[offsets(lengths)[:-1][has_pages & (lengths > 0)]] = True
        condition_of, document_of = self._conditions.codes(condition_ids), self._documents.codes(doc_ids)
        if condition_of is None or document_of is None or not ascends.all() or (lengths[has_pages] == 0).any():
            return False
        self._blocks.append(
            (
                condition_of,
                document_of,
                lengths,
                flat_pages,
                flat_mentions,
                np.array(flags, dtype=np.bool_),
                has_pages,
                np.array(lines, dtype=np.int64),
            )
        )
        return True

    def columns(self) -> EvidenceColumns:
        """Everything taken in."""
        types = (np.int32, np.int32, np.int64, np.int32, np.int32, np.bool_, np.bool_, np.int64)
        condition_of, document_of, lengths, pages, mentions, in_heading, has_pages, lines = (
            np.concatenate([np.empty(0, dtype), *parts])
            for dtype, parts in zip(types, zip(*self._blocks, strict=True) if self._blocks else [()] * 8, strict=True)
        )
        return EvidenceColumns(
            tuple(self._conditions.number),
            tuple(self._documents.number),
            condition_of,
            document_of,
            offsets(lengths),
            pages,
            mentions,
            in_heading,
            has_pages,
            lines,
        )


def _have_types(values: Iterable[object], *types: type) -> bool:
    """Whether every value has exactly one of these types; a bool is no int here."""
    return set(map(type, values)) <= set(types)


def _integers(values: Iterable[object]) -> NDArray[np.int32] | None:
    """Whole numbers from 1 that fit 32 bits; None when a value is something else."""
    flat = list(values)
    if not _have_types(flat, int):
        return None
    try:
        array = np.array(flat, dtype=np.int64)
    except OverflowError:
        return None
    if len(array) and not 1 <= array.min() <= array.max() <= MAX_INT32:
        return None
    return array.astype(np.int32)
