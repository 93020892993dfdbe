"""Where a document may be had from, in the order it is tried."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from nclue_build.core.printable import without_controls
from nclue_build.records.config import MIRROR_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from urllib.parse import SplitResult

    from nclue_build.records.corpus import CorpusRow

WEB_SCHEMES: Final = ("http", "https")
_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Place:
    """An address a document may be had from.

    Args:
        kind: ``pdf_url``, ``mirror`` or ``archive_url``.
        address: A web address, or an id with the prefix of its resolver, such as ``pmc:PMC1234567``.
    """

    kind: str
    address: str


def places(row: CorpusRow, mirrors: Iterable[str], sha256: str | None) -> Iterator[Place]:
    """The addresses of a document: its ``pdf_url``, the mirrors, its ``archive_url``.

    Args:
        row: As listed.
        mirrors: Templates of addresses; one that names something that is not known of this document is left out.
        sha256: Digest of the document, where it is known.
    """
    if row.pdf_url:
        yield Place("pdf_url", row.pdf_url)
    known = _known(row, sha256)
    for template in mirrors:
        if (address := _filled(template, known)) is not None:
            yield Place("mirror", address)
    if row.archive_url:
        yield Place("archive_url", row.archive_url)


def _known(row: CorpusRow, sha256: str | None) -> dict[str, str | None]:
    known: dict[str, str | None] = dict.fromkeys(MIRROR_PLACES)
    known |= {"doc_id": row.doc_id, "sha256": sha256}
    if row.pdf_url and (parts := _web_parts(row.pdf_url)) is not None:
        path = parts.path.lstrip("/") + (f"?{parts.query}" if parts.query else "")
        file = PurePosixPath(parts.path).name
        known |= {"url": row.pdf_url, "host": parts.hostname, "path": path or None, "file": file or None}
    return known


def _filled(template: str, known: dict[str, str | None]) -> str | None:
    named = [name for name in known if f"{{{name}}}" in template]
    if not named:
        return f"{template}{known['doc_id']}.pdf"
    for name in named:
        value = known[name]
        if value is None:
            return None
        template = template.replace(f"{{{name}}}", value)
    return template


def scheme(address: str) -> str:
    """What stands before the first colon, in lower case."""
    return address.partition(":")[0].strip().lower()


def shown(address: str) -> str:
    """An address as messages name it: on one line, without user name, password, query and fragment.

    Queries of signed addresses are as good as passwords.
    """
    parts = _web_parts(address)
    if parts is None:
        return without_controls(address)[:_SHOWN]
    place = parts.netloc.rpartition("@")[2]
    return without_controls(f"{parts.scheme}://{place}{parts.path}")[:_SHOWN]


def _web_parts(address: str) -> SplitResult | None:
    """The parts of a web address; None when it is no such thing."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return parts if parts.scheme in WEB_SCHEMES else None


def sample(doc_ids: Sequence[str], size: int) -> list[str]:
    """``size`` of the documents, the same ones whatever their order: those whose ids have the smallest digests."""
    return sorted(doc_ids, key=lambda doc_id: hashlib.sha256(doc_id.encode()).digest())[:size]
