"""JSON and JSONL files of records: strict on the way in, atomic on the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast, overload

from pydantic import TypeAdapter, ValidationError

from nclue_build.core.errors import DataError, Finding
from nclue_build.core.findings import Findings
from nclue_build.core.printable import escaped
from nclue_build.store.atomic import atomic_writer, write_bytes
from nclue_build.store.form import FormCheck, repeated_key
from nclue_build.store.keys import explain_unknown_key, explain_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import BaseModel

    from nclue_build.records.base import Record

RecordT = TypeVar("RecordT", bound="Record")
T = TypeVar("T")

_BOM = b"\xef\xbb\xbf"


def encode(record: BaseModel) -> bytes:
    """One record as compact JSON, fields in declared order, no line end."""
    return record.model_dump_json(by_alias=True).encode("utf-8")


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> int:
    """Write records a line each, atomically; returns how many."""
    count = 0
    with atomic_writer(path) as stream:
        for record in records:
            stream.write(encode(record))
            stream.write(b"\n")
            count += 1
    return count


def encode_file(record: BaseModel) -> bytes:
    """One record as an indented JSON file."""
    return record.model_dump_json(by_alias=True, indent=2).encode("utf-8") + b"\n"


def write_json(path: Path, record: BaseModel) -> None:
    """Write one record as an indented JSON file, atomically."""
    write_bytes(path, encode_file(record))


def validation_findings(
    error: ValidationError, path: Path, line: int | None, model: type[BaseModel] | None = None
) -> list[Finding]:
    """Turn pydantic's report into findings: ``field: what is wrong (got ...)``, or the keys of the model there are."""
    found = []
    for item in error.errors(include_url=False):
        field = ".".join(str(part) for part in item["loc"]) or "record"
        value = item.get("input")
        message = explain_value(item["type"], item["msg"], value)
        if item["type"] == "extra_forbidden" and model is not None:
            message = explain_unknown_key(model, item["loc"])
        elif isinstance(value, str | int | float | bool) and item["type"] != "json_invalid":
            message += f" (got {str(value)[:60]!r})"
        found.append(Finding("bad-record", f"{field}: {message}", str(path), line))
    return found


def iter_lines(path: Path, *, keep_blank: bool = False, advice: str | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based line number, line without its LF) of every line.

    Args:
        path: The file.
        keep_blank: Whether lines of white space alone count as lines too.
        advice: What to do when the file is missing.

    Raises:
        DataError: the file is missing, is a folder, or starts with a byte order mark.
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise _unreadable("file-missing", _with_advice("file not found", advice), path) from None
    except IsADirectoryError:
        raise _unreadable("bad-record", "is a folder, expected a file", path) from None
    with stream:
        for number, line in enumerate(stream, start=1):
            if number == 1 and line.startswith(_BOM):
                message = "starts with a byte order mark: save as UTF-8 without BOM"
                raise _unreadable("byte-order-mark", message, path, 1)
            if keep_blank or line.strip():
                yield number, line.removesuffix(b"\n")


def run_first(verb: str) -> str:
    """The advice where a file is missing that a verb makes."""
    return f"run 'nclue-build {verb}' first"


def _repeated(key: str, path: Path, line: int | None) -> Finding:
    return Finding("bad-record", f"{escaped(key[:60])}: stands twice in an object: keep one", str(path), line)


def _unreadable(code: str, message: str, path: Path, line: int | None = None) -> DataError:
    return DataError.from_findings([Finding(code, message, str(path), line)])


def _with_advice(message: str, advice: str | None) -> str:
    return message if advice is None else f"{message}: {advice}"


@overload
def read_numbered(
    path: Path,
    model: type[RecordT],
    *,
    found: Findings | None = None,
    form: Findings | None = None,
    advice: str | None = None,
    by_hand: bool = False,
) -> Iterator[tuple[int, RecordT]]: ...


@overload
def read_numbered(
    path: Path,
    model: TypeAdapter[T],
    *,
    found: Findings | None = None,
    form: Findings | None = None,
    advice: str | None = None,
    by_hand: bool = False,
) -> Iterator[tuple[int, T]]: ...


def read_numbered(
    path: Path,
    model: type[RecordT] | TypeAdapter[T],
    *,
    found: Findings | None = None,
    form: Findings | None = None,
    advice: str | None = None,
    by_hand: bool = False,
) -> Iterator[tuple[int, RecordT | T]]:
    """Yield the good records of a file in order, with their lines.

    Every reader of rows goes through here, so that all bad rows of a file come in one report everywhere.

    Args:
        path: The file.
        model: A record, or the adapter of any other declared type.
        found: Takes what is wrong, a missing file included; without it that is raised when the file has been read.
        form: Takes a finding where the file is not byte for byte as :func:`write_jsonl` writes its records; without
            it good records are taken in any form.
        advice: What to do when the file is missing.
        by_hand: Whether somebody wrote the file: a row in which a key stands twice is then a bad one.

    Yields:
        1-based line and record.

    Raises:
        DataError: with path, line and field of every bad row (the good ones have been yielded).
    """
    wrong = Findings() if found is None else found
    validate = model.validate_json if isinstance(model, TypeAdapter) else model.model_validate_json
    known = None if isinstance(model, TypeAdapter) else model
    check = FormCheck(path)
    try:
        for number, line in iter_lines(path, keep_blank=form is not None, advice=advice):
            if check.is_blank(number, line):
                continue
            try:
                record = validate(line)
            except ValidationError as error:
                wrong.extend(validation_findings(error, path, number, known))
                continue
            if by_hand and (key := repeated_key(line)) is not None:
                wrong.extend([_repeated(key, path, number)])
                continue
            if form is not None:
                check.compare(number, line, encode(cast("BaseModel", record)))
            yield number, record
        if form is not None:
            check.report(form)
    except DataError as error:
        if found is None:
            raise
        found.extend(error.findings)
    if found is None:
        wrong.raise_any()


def read_jsonl(path: Path, model: type[RecordT], *, advice: str | None = None) -> Iterator[RecordT]:
    """Yield the good records of a file in order; all bad rows are reported together at the end.

    Raises:
        DataError: as :func:`read_numbered`.
    """
    for _, record in read_numbered(path, model, advice=advice):
        yield record


def read_json(path: Path, model: type[RecordT], *, advice: str | None = None, by_hand: bool = False) -> RecordT:
    """Read a file that holds one record.

    Args:
        path: The file.
        model: The record.
        advice: What to do when the file is missing.
        by_hand: Whether somebody wrote the file: a key that stands twice is then refused.

    Raises:
        DataError: missing file, or path and field of what is wrong.
    """
    return read_json_as(path, TypeAdapter(model), advice=advice, by_hand=by_hand)


def read_json_as(path: Path, adapter: TypeAdapter[T], *, advice: str | None = None, by_hand: bool = False) -> T:
    """Read a file that holds one JSON value of any declared type; the rest is as in :func:`read_json`.

    Raises:
        DataError: missing file, or path and field of what is wrong.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise _unreadable("file-missing", _with_advice("file not found", advice), path) from None
    except IsADirectoryError:
        raise _unreadable("bad-record", "is a folder, expected a file", path) from None
    try:
        value = adapter.validate_json(data)
    except ValidationError as error:
        raise DataError.from_findings(validation_findings(error, path, None)) from None
    if by_hand and (key := repeated_key(data)) is not None:
        raise DataError.from_findings([_repeated(key, path, None)])
    return value
