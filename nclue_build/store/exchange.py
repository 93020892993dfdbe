"""Two folders change places: at one stroke where the system can, else so that the next run can put it right."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Final

from nclue_build.store.atomic import TEMPORARY_SUFFIX, sync_folder

if TYPE_CHECKING:
    from pathlib import Path

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2


def folder_in_the_making(folder: Path) -> Path:
    """Where the next state of a folder is written; hidden, beside it."""
    return folder.parent / f".{folder.name}{TEMPORARY_SUFFIX}"


def _set_aside(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.before{TEMPORARY_SUFFIX}"


def exchange_folders(folder: Path, new: Path) -> Path:
    """Put a new folder in the place of one that is there.

    Linux exchanges the two names in one step (``renameat2``). Where it cannot, the old folder is renamed first, and
    :func:`restore_folder` puts it back if that is as far as it got.

    Args:
        folder: The place.
        new: On the same file system.

    Returns:
        Where the old folder is now.
    """
    if _exchange(folder, new):
        sync_folder(folder.parent)
        return new
    aside = _set_aside(folder)
    folder.rename(aside)
    new.rename(folder)
    sync_folder(folder.parent)
    return aside


def restore_folder(folder: Path) -> None:
    """Put back a folder that was set aside when its successor had not taken its place yet."""
    aside = _set_aside(folder)
    if not folder.exists() and aside.is_dir():
        aside.rename(folder)


def leftover_folders(folder: Path) -> tuple[Path, ...]:
    """What an exchange that was killed may have left beside a folder."""
    return tuple(path for path in (folder_in_the_making(folder), _set_aside(folder)) if path.is_dir())


def _exchange(one: Path, other: Path) -> bool:
    """Whether the system exchanged two names."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # an old or other C library
        return False
    done: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_RENAME_EXCHANGE))
    return done == 0
