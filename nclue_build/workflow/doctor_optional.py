"""What the doctor says of things that nobody has to have: extras, MinerU, fonts. That one is missing is no problem."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import NclueError
from nclue_build.corpus.making.program import INSTALL, find_program
from nclue_build.workflow.packages import PACKAGE, declared_extras, installed_version

if TYPE_CHECKING:
    from collections.abc import Iterator

_PURPOSES: Final = {
    "dask": 'work on a cluster of machines ([run] executor = "dask")',
    "fast": "run files read faster by score and compare",
    "plots": "plots beside the tables of runs",
    "mineru": "pages read by MinerU from here ([mineru] run = true), 645 MB",
}
FONTS: Final = (
    "none needed: text is read without any; pages whose fonts are not embedded are drawn, for recognition alone, with "
    "the standard fonts and the fallback for other scripts that PyMuPDF brings"
)


def told_of_extras() -> Iterator[tuple[str, str, str]]:
    """Name, what was found, and what to install for what, of every extra; nothing to do where it is there."""
    try:
        extras = declared_extras()
    except PackageNotFoundError:  # the packages say so
        return
    for extra, names in extras.items():
        found = {name: installed_version(name) for name in names}
        value = ", ".join(f"{name} {version or 'missing'}" for name, version in found.items())
        purpose = f" (for {_PURPOSES[extra]})" if extra in _PURPOSES else ""
        advice = "" if all(found.values()) else f"pip install '{PACKAGE}[{extra}]'{purpose}"
        yield f"extra {extra}", value, advice


def told_of_mineru() -> tuple[str, str]:
    """Which MinerU can be run, and what to install where there is none, or why the one that is there cannot be."""
    try:
        program = find_program()
    except NclueError as error:
        advice = error.message if INSTALL in error.message else f"{error.message}: {INSTALL}"
        return "none", f"{advice} (for {_PURPOSES['mineru']})"
    return f"{program.kind} {program.version}", ""
