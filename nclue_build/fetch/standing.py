"""What stands at the place of a document before it is fetched."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from nclue_build.core.canonical import sha256_file
from nclue_build.fetch.outcome import Outcome
from nclue_build.store.partial import forget_origin

if TYPE_CHECKING:
    from nclue_build.fetch.wanted import Wanted


def already_there(one: Wanted) -> Outcome | None:
    """What to say of a document without fetching it; None when it is to be fetched.

    A file that the corpus file names is the user's own and never replaced; neither is one that only differs from a
    digest recorded earlier. One in the folder of fetched documents gives way to the listed document.
    """
    path, row = one.listed.path, one.listed.row
    is_there, problem = _state(one)
    if problem is not None:
        return Outcome(one.doc_id, "failed", one.shown, message=f"not fetched: {problem}")
    if not is_there:
        return None
    try:
        sha256, n_bytes = sha256_file(path), path.stat().st_size
    except OSError as error:
        message = f"{one.shown} is there, and cannot be read: {_reason(error)}"
        return Outcome(one.doc_id, "failed", one.shown, message=message)
    if one.sha256 in (None, sha256) and row.bytes in (None, n_bytes):
        forget_origin(path)
        return Outcome(one.doc_id, "already-there", one.shown, sha256, n_bytes)
    if row.file_name is None and row.sha256 is not None:
        return None
    listed = f"SHA-256 {one.sha256}" if one.sha256 not in (None, sha256) else f"{row.bytes} bytes"
    message = (
        f"{one.shown} is there with SHA-256 {sha256} and {n_bytes} bytes, not with {listed}: remove it to fetch it"
    )
    return Outcome(one.doc_id, "mismatch", one.shown, sha256, n_bytes, message=message)


def _state(one: Wanted) -> tuple[bool, str | None]:
    """Whether a file is there, and what keeps one from being put there."""
    path, is_named = one.listed.path, one.listed.row.file_name is not None
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            return False, f"{one.shown} is in the way: a link to what is not there"
        if not one.allowed:
            return False, "its file_name leads out of the workspace and the corpus file's folder"
        # Nor must such a list decide what else comes to lie in a workspace: programs and settings have other names.
        return False, "its file_name does not end in .pdf" if path.suffix.lower() != ".pdf" else None
    except OSError as error:  # such as a name that is too long; what is in the way of all documents ends the run later
        return False, _reason(error) if is_named else None
    return True, None if stat.S_ISREG(kind) else f"{one.shown} is in the way: no regular file"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
