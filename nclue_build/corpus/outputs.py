"""Reading what another program made of a document: which of its files, and what is wrong with them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import DataError
from nclue_build.core.printable import escaped
from nclue_build.corpus.imported import (
    LOST_TEXT,
    RANGE_UNKNOWN,
    failed_rows,
    given_pages,
    mineru_pages,
    pdf_pages,
    place_on,
    rows_of,
    sizes_of,
)
from nclue_build.corpus.mineru.detect import PREFERENCE, detect, read
from nclue_build.corpus.mineru.pages import GLUED, GLUED_TABLE, UNKNOWN_TYPE, UNKNOWN_VERSION
from nclue_build.corpus.output_files import MINERU, PAGE_JSON, page_number
from nclue_build.corpus.page_json import parse_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.corpus.imported import ImportedPage
    from nclue_build.corpus.mineru.detect import Format
    from nclue_build.corpus.output_files import Output
    from nclue_build.corpus.read import MadeDocument, ReadDocument

_MEMORY_PER_BYTE: Final = 4
"""Parsed JSON takes several times its size: a larger file than a fourth of the memory allowed is refused."""
_MEGABYTE: Final = 1 << 20


def import_document(output: Output, pdf: ReadDocument, memory_mb: int) -> MadeDocument:
    """Make the pages of a document out of what another program wrote.

    Whatever is wrong with that is a failure of this document alone.

    Args:
        output: Which files there are.
        pdf: What the PDF says itself.
        memory_mb: What a document may take.

    Raises:
        ChangedError: a file is no longer what it was when digests were taken.
    """
    backend = (output.reader, UNKNOWN_VERSION)
    try:
        if output.problem is not None:
            raise DataError(output.problem)  # noqa: TRY301 - every reason for a failure ends in one place
        if output.reader == MINERU:
            return _import_mineru(output, pdf, memory_mb)
        return _import_pages(output, pdf, memory_mb)
    except DataError as error:
        return failed_rows(pdf.n_pages, backend, error.message)


@contextlib.contextmanager
def _about(name: str) -> Iterator[None]:
    """Errors inside say which file they are about."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{escaped(name)}: {error.message}") from None


def _import_pages(output: Output, pdf: ReadDocument, memory_mb: int) -> MadeDocument:
    given: dict[int, ImportedPage] = {}
    for name, digest in zip(output.files, output.digests, strict=True):
        doc_id, number = Path(name).parent.name, page_number(Path(name).stem) or 0
        with _about(name):
            if number in given:
                raise DataError(f"page {number} is there twice")
            given[number] = parse_page(_load(output.folder / name, digest, memory_mb), doc_id, number)
    backend = next((page.backend for page in given.values() if page.backend), None) or (PAGE_JSON, UNKNOWN_VERSION)
    return rows_of(given_pages(given, pdf_pages(pdf)), backend, pdf.title)


def _import_mineru(output: Output, pdf: ReadDocument, memory_mb: int) -> MadeDocument:
    name, data = _best(output, memory_mb)
    known = pdf_pages(pdf)
    with _about(name):
        document = read(data, sizes_of(known), place_on(known))
        pages = mineru_pages(document, known)
        if not pages:
            raise DataError("has no pages")
    made = rows_of(pages, (MINERU, document.version), pdf.title)
    made.summary.unknown_types = sorted(document.unknown_types)
    made.summary.lost_pages = sum(LOST_TEXT in page.flags for page in pages)
    flags = set[str]().union(*(page.flags for page in pages))
    made.summary.flags += sorted(flags & {GLUED, GLUED_TABLE, UNKNOWN_TYPE, RANGE_UNKNOWN, LOST_TEXT})
    return made


def _best(output: Output, memory_mb: int) -> tuple[str, Any]:
    """The file that is to be read, of those there are, and what it holds.

    Raises:
        DataError: none can be read, or two of the best kind differ.
    """
    found, broken = _parsed(output, memory_mb)
    rank = min((PREFERENCE[one.kind] for one in found), default=None)
    if broken is not None and rank != 0:
        raise broken
    best = [one for one in found if PREFERENCE[one.kind] == rank]
    if not best:
        raise DataError(f"{escaped(output.files[0])}: is no middle file and no content list of MinerU")
    if len({one.digest for one in best}) > 1:
        names = ", ".join(escaped(one.name) for one in best)
        raise DataError(f"it cannot be told which output of MinerU is meant: {names}: leave one")
    return best[0].name, best[0].data


class _Parsed(NamedTuple):
    kind: Format
    name: str
    digest: str
    data: Any


def _parsed(output: Output, memory_mb: int) -> tuple[list[_Parsed], DataError | None]:
    """The files of MinerU's among those there are, and what is wrong with the first that is no JSON."""
    found: list[_Parsed] = []
    broken: DataError | None = None
    for name, digest in zip(output.files, output.digests, strict=True):
        try:
            with _about(name):
                data = _load(output.folder / name, digest, memory_mb)
        except DataError as error:
            broken = broken or error
            continue
        if (kind := detect(data)) is not None:
            found.append(_Parsed(kind, name, digest, data))
    return found, broken


class ChangedError(Exception):
    """A file is no longer what it was when its digest was taken; ``name`` is its name."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.name = escaped(path.name)


def _load(path: Path, digest: str, memory_mb: int) -> Any:
    """A JSON file, parsed.

    Raises:
        DataError: it is none, or too large.
        ChangedError: it is not the one whose digest was taken.
    """
    try:
        size = path.stat().st_size
        if size * _MEMORY_PER_BYTE > memory_mb * _MEGABYTE:
            limit = memory_mb // _MEMORY_PER_BYTE
            raise DataError(f"is larger than {limit} MiB, a fourth of extract.document_memory_mb: raise that")
        content = path.read_bytes()
    except FileNotFoundError:
        raise ChangedError(path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    if digest and sha256_bytes(content) != digest:
        raise ChangedError(path)
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError("is not UTF-8") from None
    except RecursionError:
        raise DataError("is nested too deep") from None
    except ValueError as error:
        reason = str(error).split(":")[0].lower()
        raise DataError(f"is no valid JSON, or cut off ({reason})") from None
