"""Pages as files for other programs and for people: a JSON file per page, Markdown per document.

The folders written to are the user's: a file there is replaced only when it is what was written, unchanged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import orjson
from pydantic import ValidationError

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import UsageError
from nclue_build.corpus.markdown import markdown_lines
from nclue_build.corpus.output_files import page_number
from nclue_build.records.corpus import PageRow
from nclue_build.store.atomic import write_bytes
from nclue_build.store.pages import read_documents, read_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build

_SEAL: Final = b"<!-- nclue-build, sha256 of what follows: %b -->\n"


def write_page_json(build: Build, folder: Path) -> int:
    """Write every page as ``<doc_id>/<page>.json``; pages a document no longer has go.

    Args:
        build: A build whose pages were extracted.
        folder: Where to.

    Returns:
        Number of pages.

    Raises:
        UsageError: a file of somebody else is in the way.
        DataError: the pages are not there, or damaged.
    """
    for row in read_documents(build.documents):
        _check_folder(folder / row.doc_id)
    n_written = 0
    for row, pages in _documents(build):
        own = folder / row.doc_id
        n_pages = 0
        for page in pages:
            write_bytes(own / f"{page.page}.json", orjson.dumps(_as_json(page)) + b"\n")
            n_pages = page.page
        n_written += n_pages
        for path in own.glob("*.json") if own.is_dir() else ():
            if (page_number(path.stem) or 0) > n_pages:
                path.unlink()
    return n_written


def write_markdown(build: Build, folder: Path) -> int:
    """Write every document as ``<doc_id>.md``, with a mark at the start of each page.

    Args:
        build: A build whose pages were extracted.
        folder: Where to.

    Returns:
        Number of documents.

    Raises:
        UsageError: a file of somebody else is in the way.
        DataError: the pages are not there, or damaged.
    """
    for row in read_documents(build.documents):
        path = folder / f"{row.doc_id}.md"
        if os.path.lexists(path) and not _is_our_markdown(path):
            raise _in_the_way(path, "was changed since, or is not of ours")
    n_written = 0
    for row, pages in _documents(build):
        text = "".join(line + "\n" for page in pages for line in markdown_lines(page)).encode()
        if text:
            write_bytes(folder / f"{row.doc_id}.md", _SEAL % sha256_bytes(text).encode() + text)
            n_written += 1
    return n_written


def _documents(build: Build) -> Iterator[tuple[CorpusRow, Iterator[PageRow]]]:
    for row in read_documents(build.documents):
        yield row, read_pages(build.page_file(row.doc_id))


def _as_json(page: PageRow) -> dict[str, object]:
    return page.model_dump()


def _check_folder(own: Path) -> None:
    """Refuse to write beside pages of others: whoever reads the folder would take them for pages of the document.

    Raises:
        UsageError: a file there is about a page, and not of ours.
    """
    for path in sorted(own.iterdir()) if own.is_dir() else ():
        number = page_number(path.stem) if path.suffix == ".json" else None
        if number is not None and not (path.stem == str(number) and path.is_file() and _is_our_page(path)):
            raise _in_the_way(path, "is not of ours, or was changed since,")


def _in_the_way(path: Path, what: str) -> UsageError:
    return UsageError(f"{path}: {what} and stays: name another folder, or move it")


def _is_our_page(path: Path) -> bool:
    """Whether a file is a whole page row with the text it had: pages of other programs also start with an id."""
    try:
        page = PageRow.model_validate_json(path.read_bytes())
    except ValidationError:
        return False
    return sha256_bytes("\n".join(block.text for block in page.blocks).encode("utf-8")) == page.text_sha256


def _is_our_markdown(path: Path) -> bool:
    """Whether a file is what was written here, to the byte: its first line has the digest of the others."""
    if not path.is_file():
        return False
    first, line_end, text = path.read_bytes().partition(b"\n")
    return first + line_end == _SEAL % sha256_bytes(text).encode()
