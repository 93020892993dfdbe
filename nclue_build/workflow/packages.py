"""The packages that this one declares, and which of them are installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

PACKAGE: Final = "nclue-build"
_EXTRA: Final = re.compile(r"""\bextra\s*==\s*["']([^"']+)["']""")


def declared_packages() -> dict[str, str]:
    """Requirement by name of every package that each installation needs, sorted; extras are left out.

    Raises:
        PackageNotFoundError: this package itself is not installed.
    """
    needed = [line for line in requires(PACKAGE) or [] if not _EXTRA.search(line)]
    return {_name(line): line for line in sorted(needed)}


def declared_extras() -> dict[str, tuple[str, ...]]:
    """Names of the packages of every extra, sorted; out of the metadata, which a checkout and a wheel both have.

    Raises:
        PackageNotFoundError: this package itself is not installed.
    """
    extras: dict[str, list[str]] = {}
    for line in sorted(requires(PACKAGE) or []):
        for extra in _EXTRA.findall(line):
            extras.setdefault(extra, []).append(_name(line))
    return {extra: tuple(extras[extra]) for extra in sorted(extras)}


def fits(requirement: str, found: str) -> bool:
    """Whether an installed version is one that a requirement allows."""
    from packaging.requirements import Requirement  # noqa: PLC0415 - only the doctor asks

    return Requirement(requirement).specifier.contains(found, prereleases=True)


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]


def installed_version(name: str) -> str | None:
    """The version of a package, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
