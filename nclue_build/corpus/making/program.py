"""Which MinerU is installed, and how each generation is asked to read a document."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from nclue_build.core.errors import UsageError
from nclue_build.corpus.making.process import run_program
from nclue_build.corpus.making.said import last_line

if TYPE_CHECKING:
    from nclue_build.records.config import MineruSection

Kind: TypeAlias = Literal["mineru-kit", "mineru"]
INSTALL: Final = "install it with: pip install 'nclue-build[mineru]'"
_KINDS: Final[tuple[Kind, ...]] = ("mineru-kit", "mineru")
"""Of 4.x, and of 2.0 to 3.4; where both are there they are of one installation, of 4.x."""
_MAJORS: Final[dict[Kind, tuple[int, ...]]] = {"mineru-kit": (4,), "mineru": (2, 3)}
_VERSION: Final = re.compile(r"\bversion:?\s+v?(\d+)\.(\d[\w.]*)", re.IGNORECASE)
_TIMEOUT_S: Final = 120.0
_OWN_PROGRAMS: Final = str(Path(sys.executable).parent)
"""Where an extra's programs are installed, on PATH or not."""
PLAIN: Final = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "400", "PYTHONIOENCODING": "utf-8"}
"""No colours and no lines broken at the width of a terminal: one of them may be shown as the reason of a failure."""


@dataclass(frozen=True, slots=True)
class MineruProgram:
    """A MinerU that can be run.

    Args:
        path: Where it lies.
        kind: Which command line it has.
        version: As it says itself.
    """

    path: Path
    kind: Kind
    version: str


def find_program(named: str = "") -> MineruProgram:
    """Find MinerU and ask for its version.

    Args:
        named: ``mineru.program`` of a configuration: a path or a name; empty for whichever is installed.

    Raises:
        UsageError: there is none, or none that is known; says what to install.
    """
    names = [named] if named else list(_KINDS)
    path = next(filter(None, map(_which, names)), None)
    if path is None:
        if named:
            raise UsageError(f"{named}: no such program (mineru.program): {INSTALL}, or name another")
        old = " (magic-pdf is, of a version before 2.0, which is not run from here)" if _which("magic-pdf") else ""
        raise UsageError(f"MinerU is not installed{old}: no mineru-kit and no mineru on PATH: {INSTALL}")
    kind: Kind = "mineru-kit" if path.name.removesuffix(".exe") == "mineru-kit" else "mineru"
    with tempfile.TemporaryDirectory() as folder:
        ended = run_program([str(path), "--version"], Path(folder), _TIMEOUT_S, environment=PLAIN)
    found = _VERSION.search(ended.said)
    if ended.code != 0 or found is None:
        why = "takes too long" if ended.timed_out else last_line(ended.said) or f"ends with exit code {ended.code}"
        raise UsageError(f"{path} does not say its version: {why}: {INSTALL}")
    version = f"{found[1]}.{found[2]}"
    if kind == "mineru" and int(found[1]) in _MAJORS["mineru-kit"]:  # its own `mineru` is another program
        beside = path.with_name("mineru-kit" + path.suffix)
        if not beside.is_file():
            raise UsageError(f"{path} is MinerU {version} without its mineru-kit: {INSTALL}")
        return MineruProgram(beside, "mineru-kit", version)
    if int(found[1]) not in _MAJORS[kind]:
        raise UsageError(f"{path} is version {version}; MinerU 2.0 to 3.4 and 4.x can be run: {INSTALL}")
    return MineruProgram(path, kind, version)


def _which(name: str) -> Path | None:
    """A program by its name, on PATH or beside our own interpreter, or by its path."""
    found = shutil.which(name) or shutil.which(name, path=_OWN_PROGRAMS)
    return Path(found).absolute() if found else None


def arguments(kind: str, settings: MineruSection) -> list[str]:
    """What a document is read with, apart from where it lies and where the output goes."""
    if kind == "mineru-kit":
        ocr_mode = [] if settings.method == "auto" else ["--ocr-mode", settings.method]
        return ["-f", "middle_json", "--tier", settings.tier, *ocr_mode]
    language = ["-l", settings.language] if settings.language else []
    return ["-b", settings.backend, "-m", settings.method, *language]  # its default for -b changed from 2.6 to 2.7


def command(program: MineruProgram, settings: MineruSection, pdf: Path, output: Path) -> list[str]:
    """The whole command line."""
    asked = ["parse", str(pdf)] if program.kind == "mineru-kit" else ["-p", str(pdf)]
    return [str(program.path), *asked, "-o", str(output), *arguments(program.kind, settings)]
