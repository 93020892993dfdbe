"""Digests of documents that the corpus file does not give: kept in ``documents.jsonl``, and later checked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import DataError
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.pages import read_documents

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.core.progress import Progress
    from nclue_build.fetch.outcome import Outcome
    from nclue_build.fetch.wanted import Wanted
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build


def read_recorded(build: Build, progress: Progress, *, strict: bool) -> dict[str, CorpusRow]:
    """The rows of ``documents.jsonl`` by id; none when there is no such file.

    Args:
        build: The build.
        progress: Is warned of bad rows.
        strict: Whether bad rows are an error, because the file is to be written.

    Raises:
        DataError: bad rows.
    """
    if not build.documents.exists():
        return {}
    try:
        return {row.doc_id: row for row in read_documents(build.documents)}
    except DataError as error:
        if strict:
            raise
        progress.warn(f"digests recorded earlier are not compared: {error.message}")
        return {}


def write_recorded(
    build: Build, wanted: Sequence[Wanted], outcomes: Sequence[Outcome], recorded: Mapping[str, CorpusRow]
) -> int:
    """Write what is known now and was not into ``documents.jsonl``.

    A row that tells of another document gives way to the one that is listed, as another address or digest is listed
    since.

    Args:
        build: The build.
        wanted: The documents.
        outcomes: What became of each, parallel.
        recorded: The rows there are, by id.

    Returns:
        How many rows got a digest by it.
    """
    rows = dict(recorded)
    n_recorded = 0
    for one, outcome in zip(wanted, outcomes, strict=True):
        listed, known = one.listed.row, recorded.get(one.doc_id)
        is_known = known is not None and (known.sha256, known.pdf_url) == (outcome.sha256, listed.pdf_url)
        if is_known or not outcome.is_there:
            continue
        row = known if known is not None and known.sha256 in {None, outcome.sha256} else listed
        n_recorded += row.sha256 is None
        told = {"sha256": outcome.sha256, "bytes": outcome.n_bytes, "file_name": one.listed.file_name}
        rows[one.doc_id] = row.model_copy(update={**told, "pdf_url": listed.pdf_url})
    if rows != recorded:
        write_jsonl(build.documents, [rows[doc_id] for doc_id in sorted(rows)])
    return n_recorded
