"""JSON and JSONL files of records: strict on the way in, atomic on the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from nclue_build.core.errors import DataError, Finding
from nclue_build.store.atomic import atomic_writer, write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import BaseModel

    from nclue_build.records.base import Record

RecordT = TypeVar("RecordT", bound="Record")
T = TypeVar("T")

_BOM = b"\xef\xbb\xbf"
_MAX_FINDINGS = 1000


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


def write_json(path: Path, record: BaseModel) -> None:
    """Write one record as an indented JSON file, atomically."""
    write_bytes(path, record.model_dump_json(by_alias=True, indent=2).encode("utf-8") + b"\n")


def validation_findings(error: ValidationError, path: Path | str, line: int | None, code: str) -> list[Finding]:
    """Turn pydantic's report into findings: ``field: what is wrong (got ...)``."""
    found = []
    for item in error.errors(include_url=False):
        field = ".".join(str(part) for part in item["loc"]) or "record"
        message = item["msg"].removeprefix("Value error, ")
        value = item.get("input")
        if isinstance(value, str | int | float | bool) and item["type"] != "json_invalid":
            message += f" (got {str(value)[:60]!r})"
        found.append(Finding(code, f"{field}: {message}", str(path), line))
    return found


def iter_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based line number, line without its end) of every non-blank line.

    Raises:
        DataError: the file is missing or starts with a byte order mark.
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        raise DataError(f"{path}: file not found", [Finding("file-missing", "file not found", str(path))]) from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, expected a file") from None
    with stream:
        for number, line in enumerate(stream, start=1):
            if number == 1 and line.startswith(_BOM):
                raise DataError.from_findings(
                    [
                        Finding(
                            "byte-order-mark", "starts with a byte order mark: save as UTF-8 without BOM", str(path), 1
                        )
                    ]
                )
            if line.strip():
                yield number, line.rstrip(b"\r\n")


def read_jsonl(path: Path, model: type[RecordT], code: str = "bad-record") -> Iterator[RecordT]:
    """Yield the records of a file in order; all bad rows are reported together at the end.

    Raises:
        DataError: with path, line and field of every bad row (the good ones have been yielded).
    """
    found: list[Finding] = []
    for number, line in iter_lines(path):
        try:
            record = model.model_validate_json(line)
        except ValidationError as error:
            found.extend(validation_findings(error, path, number, code))
            if len(found) > _MAX_FINDINGS:
                break
            continue
        if not found:
            yield record
    if found:
        raise DataError.from_findings(found)


def read_json(path: Path, model: type[RecordT], code: str = "bad-record") -> RecordT:
    """Read a file that holds one record.

    Raises:
        DataError: missing file, or path and field of what is wrong.
    """
    return read_json_as(path, TypeAdapter(model), code)


def read_json_as(path: Path, adapter: TypeAdapter[T], code: str = "bad-record") -> T:
    """Read a file that holds one JSON value of any declared type."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: file not found", [Finding("file-missing", "file not found", str(path))]) from None
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        raise DataError.from_findings(validation_findings(error, path, None, code)) from None
