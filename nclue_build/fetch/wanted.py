"""Which documents are to be fetched: where each goes, and which digest it must have."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.store.corpus_file import fetched_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from nclue_build.records.config import FetchSection
    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.corpus_file import CorpusFile, Listed
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document to fetch.

    Args:
        listed: Its row and its place.
        shown: The place as messages name it.
        sha256: Digest it must have: as listed, else as recorded earlier; None when neither is known.
        local: Files that may be it.
        allowed: Whether the place is one that may be written to.
        rows: The rows that name this place, where there are several.
    """

    listed: Listed
    shown: str
    sha256: str | None
    local: tuple[Path, ...]
    allowed: bool
    rows: str = ""

    @property
    def doc_id(self) -> str:
        """Its id."""
        return self.listed.row.doc_id


def wanted_documents(
    build: Build,
    corpus: CorpusFile,
    chosen: Collection[str],
    recorded: Mapping[str, CorpusRow],
    settings: FetchSection,
) -> list[Wanted]:
    """The chosen documents, sorted by id.

    Args:
        build: The build.
        corpus: Its corpus file.
        chosen: Ids of the documents asked for.
        recorded: The rows of ``documents.jsonl`` by id.
        settings: Folders.
    """
    of_several = _rows_of_one_file(corpus.listed)
    # A list that somebody else made must not decide where on this machine files are written.
    homes = (corpus.path.parent, build.workspace.root, fetched_folder(build, settings.folder))
    folders = [(build.workspace.root / name).resolve() for name in settings.local_folders]
    wanted = []
    for one in sorted(corpus.listed, key=lambda listed: listed.row.doc_id):
        if one.row.doc_id not in chosen:
            continue
        place = _real(one.path)
        sha256 = _known_digest(one.row, recorded.get(one.row.doc_id))
        names = [f"{one.row.doc_id}.pdf"] if sha256 is None else [f"{sha256}.pdf", f"{one.row.doc_id}.pdf"]
        wanted.append(
            Wanted(
                listed=one,
                shown=build.relative(one.path),
                sha256=sha256,
                local=tuple(folder / name for folder in folders for name in names),
                allowed=any(place.parent.is_relative_to(home) for home in homes),
                rows=of_several.get(place, ""),
            )
        )
    return wanted


def _known_digest(row: CorpusRow, recorded: CorpusRow | None) -> str | None:
    """The digest that is listed, else the one recorded for the same address."""
    if row.sha256 is None and recorded is not None and recorded.pdf_url == row.pdf_url:
        return recorded.sha256
    return row.sha256


def _rows_of_one_file(listed: Sequence[Listed]) -> dict[Path, str]:
    """The rows of every file that several of them name, however they spell it."""
    by_path: defaultdict[Path, list[Listed]] = defaultdict(list)
    for one in listed:
        by_path[_real(one.path)].append(one)
    return {
        path: " and ".join(f"line {one.line} ({one.row.doc_id})" for one in rows)
        for path, rows in by_path.items()
        if len(rows) > 1
    }


def _real(path: Path) -> Path:
    """The one spelling of a place; a link at the place itself is the place."""
    return path.parent.resolve() / path.name
