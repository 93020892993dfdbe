"""Passwords of encrypted PDFs: read from a file of the user's own, and written nowhere."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import UsageError
from nclue_build.core.phrases import counted
from nclue_build.store.atomic import TEMPORARY_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nclue_build.records.corpus import CorpusRow
    from nclue_build.store.workspace import Build, Workspace

_KEY: Final = "extract.passwords_file"
_LINE: Final = re.compile(r"at line (\d+)")
_KEY_FILE: Final = "digest.key"
_KEY_BYTES: Final = 32
_PUBLISHED: Final = ("inventory", "benchmarks", "frozen_outputs", "prompts")
"""Folders of a workspace that are meant to be handed on."""


class Keyed:
    """Digests that tell one password from another, and tell nobody which it is.

    A plain digest would confirm a guess, and passwords of PDFs can be guessed. The key is a random one of the
    workspace's own, in ``.nclue``, which only its owner may read.
    """

    def __init__(self, workspace: Workspace) -> None:
        """Read the key; without one, make it.

        Raises:
            OSError: it cannot be read or written.
        """
        path = workspace.state / _KEY_FILE
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            own = path.with_name(f".{_KEY_FILE}-{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
            descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(secrets.token_bytes(_KEY_BYTES))
            try:
                os.link(own, path)  # unlike a rename, it fails where another process has just made one
            except FileExistsError:
                pass
            finally:
                own.unlink()
        self._secret = path.read_bytes()

    def digest(self, data: bytes) -> str:
        """64 hexadecimal digits."""
        return hmac.new(self._secret, data, hashlib.sha256).hexdigest()


def passwords_path(build: Build, passwords_file: str) -> Path | None:
    """Where the file of passwords lies; None when there is none.

    Raises:
        UsageError: it is not there, or in a folder that is meant to be handed on.
    """
    if not passwords_file:
        return None
    root = build.workspace.root.resolve()
    path = (root / passwords_file).resolve()
    shown = build.relative(path)
    # As it is written and as it lies there: either may be a link.
    places = [path, Path(os.path.normpath(root / passwords_file))]
    published = [folder for name in _PUBLISHED for folder in (root / name, (root / name).resolve())]
    if any(place.is_relative_to(folder) for place in places for folder in published):
        raise UsageError(f"{shown}: passwords do not belong into a folder that is published: move the file ({_KEY})")
    if not path.is_file():
        raise UsageError(f"{shown}: no such file ({_KEY})")
    return path


def read_passwords(build: Build, passwords_file: str) -> dict[str, str]:
    """The passwords, by doc_id, file name or SHA-256.

    No message quotes the file: what stands in it is secret, also where it is written wrongly.

    Args:
        build: The build.
        passwords_file: A TOML file of lines ``"name" = "password"``, relative to the workspace; empty: none.

    Raises:
        UsageError: it is not there or no such file.
    """
    path = passwords_path(build, passwords_file)
    if path is None:
        return {}
    shown = build.relative(path)
    try:
        entries = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(f"{shown}: {reason} ({_KEY})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{shown}: is not UTF-8 ({_KEY})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = _LINE.search(str(error))
        where = f" in line {line[1]}" if line else ""
        raise UsageError(f'{shown}: is not valid TOML{where}: write "name" = "password" ({_KEY})') from None
    for number, value in enumerate(entries.values(), 1):
        if not isinstance(value, str):
            advice = 'write "name" = "password", both in quotes'
            raise UsageError(f"{shown}: entry {number} is no text: {advice} ({_KEY})")
    return entries


def assign_passwords(rows: Iterable[CorpusRow], passwords: dict[str, str]) -> tuple[dict[str, str], str | None]:
    """Which document has which password.

    Args:
        rows: The corpus.
        passwords: As :func:`read_passwords` gives them.

    Returns:
        Passwords by doc_id; and, where entries belong to no document, one line that says so.
    """
    given: dict[str, str] = {}
    used: set[str] = set()
    for row in rows if passwords else ():
        file_name = row.file_name or ""
        for name in (row.doc_id, row.sha256 or "", file_name, PurePosixPath(file_name).name):
            if name in passwords:
                used.add(name)
                given.setdefault(row.doc_id, passwords[name])
    left = [number for number, name in enumerate(passwords, 1) if name not in used]
    if not left:
        return given, None
    numbers = ", ".join(map(str, left[:5])) + (", ..." if len(left) > 5 else "")  # noqa: PLR2004 - enough to find them
    return given, f"{_KEY}: {counted(len(left), 'entry')} without a document in the corpus (number {numbers})"
