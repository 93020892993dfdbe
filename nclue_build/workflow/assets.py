"""Bundled copies of configurations, for ``init`` only: a run reads them from its workspace."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import nclue_build
from nclue_build.core.errors import InternalError


def read_asset(name: str) -> str:
    """Text of a bundled file.

    The wheel carries copies under ``_assets``. An editable install does not see forced copies, so
    it reads the checkout around the package.

    Args:
        name: Path as in the repository, such as ``configs/template.toml``.

    Raises:
        InternalError: the installation lacks it.
    """
    for candidate in (files(nclue_build) / "_assets" / name, Path(nclue_build.__file__).parent.parent / name):
        if candidate.is_file():
            return candidate.read_text(encoding="utf-8")
    raise InternalError(f"this installation lacks {name}: install nclue-build again")
