"""Pages as files for other programs and for people: a JSON file per page, Markdown per document.

The folders written to are the user's: a file there that is not of the kind written is never replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from pydantic import ValidationError

from nclue_build.core.errors import UsageError
from nclue_build.corpus.markdown import MARK, markdown_lines
from nclue_build.corpus.output_files import page_number
from nclue_build.records.corpus import PageRow
from nclue_build.store.atomic import write_bytes
from nclue_build.store.pages import read_documents, read_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build


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
    n_written = 0
    for row, pages in _documents(build):
        own = folder / row.doc_id
        n_pages = 0
        for page in pages:
            _write(own / f"{page.page}.json", orjson.dumps(_as_json(page)) + b"\n", _is_our_page)
            n_pages = page.page
        n_written += n_pages
        for path in own.glob("*.json") if own.is_dir() else ():
            if (page_number(path.stem) or 0) > n_pages and path.is_file() and _is_our_page(path):
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
    n_written = 0
    for row, pages in _documents(build):
        text = "".join(line + "\n" for page in pages for line in markdown_lines(page))
        if text:
            _write(folder / f"{row.doc_id}.md", text.encode(), _is_our_markdown)
            n_written += 1
    return n_written


def _documents(build: Build) -> Iterator[tuple[CorpusRow, Iterator[PageRow]]]:
    for row in read_documents(build.documents):
        yield row, read_pages(build.page_file(row.doc_id))


def _as_json(page: PageRow) -> dict[str, object]:
    values = page.model_dump()
    return {"doc_id": values.pop("doc_id"), **values}


def _write(path: Path, content: bytes, is_ours: Callable[[Path], bool]) -> None:
    if path.exists() and not (path.is_file() and is_ours(path)):
        raise UsageError(f"{path}: is not of ours and stays: name another folder, or move it")
    write_bytes(path, content)


def _is_our_page(path: Path) -> bool:
    """Whether a file is a whole page row, field by field: pages of other programs also start with a document's id."""
    try:
        PageRow.model_validate_json(path.read_bytes())
    except ValidationError:
        return False
    return True


def _is_our_markdown(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(MARK)) == MARK.encode()
