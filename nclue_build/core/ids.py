"""Ids: what they may look like, and how ours are made.

Ids never depend on a folder or build name, and carry nothing that correlates
with relevance (trec_eval breaks ties by document id).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_ID = re.compile(ID_PATTERN)
_PAGE_SUFFIX = re.compile(r"_p\d+$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_ID_LENGTH = 200


def id_problem(value: str) -> str | None:
    """Say what is wrong with an id, or None when it is safe everywhere.

    Safe means: no white space, ``#`` or path separator (four evaluation tools and
    every file system agree on what is left), and usable as a file name.
    """
    if not _ID.match(value) or value.endswith("\n"):
        return f"id {value!r} is not safe: use letters, digits, '.', '_' and '-' only, starting with a letter or digit"
    if len(value) > _MAX_ID_LENGTH:
        return f"id {value[:40]!r}... is longer than {_MAX_ID_LENGTH} characters"
    return None


def document_id_problem(value: str) -> str | None:
    """Like :func:`id_problem`, and no clash with the page ids of the page-level corpus."""
    problem = id_problem(value)
    if problem is None and _PAGE_SUFFIX.search(value):
        problem = f"document id {value!r} ends like a page id ('_p' and digits): rename it"
    return problem


def document_id(stem: str, sha256: str) -> str:
    """Make a document id from a file stem: the cleaned stem and 8 hex of the file's digest."""
    cleaned = _UNSAFE.sub("-", stem).strip("-._")[:80].rstrip("-._") or "document"
    return f"{cleaned}_{sha256[:8]}"


def page_id(doc_id: str, page: int) -> str:
    """Id of a page in the page-level corpus: ``<doc_id>_p0007`` (1-based physical page)."""
    return f"{doc_id}_p{page:04d}"


def slug(text: str, length: int = 40) -> str:
    """ASCII, lower-case, hyphenated form of a text; may be empty."""
    ascii_text = text.lower().encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:length].strip("-")


def named_id(name: str, key: str) -> str:
    """Readable slug of a name, and 8 hex of the digest of what identifies the thing."""
    return f"{slug(name) or 'unnamed'}_{sha256_bytes(key.encode('utf-8'))[:8]}"


def condition_id(name: str) -> str:
    """Id of a condition: slug and digest of its canonical name."""
    return named_id(name, name)


def query_id(condition_ids: Iterable[str]) -> str:
    """Id of a query: a digest of its condition set, so it is stable across selections and repairs."""
    return "q_" + sha256_bytes("\n".join(sorted(condition_ids)).encode("utf-8"))[:10]
