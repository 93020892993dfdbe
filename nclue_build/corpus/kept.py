"""Files that are kept to save work: each starts with its own digest, and one that is damaged is as good as none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_bytes
from nclue_build.corpus.read import MadeDocument
from nclue_build.store.atomic import write_bytes

if TYPE_CHECKING:
    from pathlib import Path


def write_kept(path: Path, body: bytes) -> None:
    """Write a body below its digest.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_bytes(path, sha256_bytes(body).encode() + b"\n" + body)


def read_kept(path: Path) -> bytes | None:
    """The body that :func:`write_kept` wrote; None when that is not what lies there."""
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
    except FileNotFoundError:
        return None
    return body if digest == sha256_bytes(body).encode() else None


def write_document(path: Path, made: MadeDocument) -> None:
    """Keep a document's page rows and what they sum up to.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_kept(path, b"".join(line + b"\n" for line in made.lines()))


def load_document(path: Path) -> MadeDocument | None:
    """What :func:`write_document` wrote; None when that is not what lies there: then the PDF is read again."""
    body = read_kept(path)
    if body is None:
        return None
    try:
        return MadeDocument.of_lines(body.splitlines())
    except (KeyError, TypeError, ValueError):  # whole, but written by other code
        return None
