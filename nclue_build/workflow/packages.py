"""The packages that this one declares, and which of them are installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

PACKAGE: Final = "nclue-build"


def declared_packages() -> dict[str, str]:
    """Requirement by name of every package that each installation needs, sorted; extras are left out.

    Raises:
        PackageNotFoundError: this package itself is not installed.
    """
    needed = [line for line in requires(PACKAGE) or [] if "extra ==" not in line]
    return {re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]: line for line in sorted(needed)}


def installed_version(name: str) -> str | None:
    """The version of a package, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
