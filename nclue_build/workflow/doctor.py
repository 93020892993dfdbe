"""The doctor: is this machine fit to run a build, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING, Final

import nclue_build
from nclue_build.core.errors import NclueError
from nclue_build.core.phrases import counted
from nclue_build.corpus.making.program import find_program
from nclue_build.corpus.sources import pdf_paths
from nclue_build.store.config_file import load_config
from nclue_build.store.workspace import ENVIRONMENT_VARIABLE, Build, Workspace
from nclue_build.workflow.doctor_ocr import missing_for_ocr, told_of_tesseract
from nclue_build.workflow.doctor_optional import FONTS, told_of_extras, told_of_mineru
from nclue_build.workflow.executors import available_cores
from nclue_build.workflow.fetching import missing_documents
from nclue_build.workflow.lock import running_process
from nclue_build.workflow.packages import PACKAGE, declared_packages, fits, installed_version

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_PYTHON: Final = (3, 11)
_GIBIBYTE = 1 << 30
_MIN_DISK_GIB = 1
_SELF_TEST_PDF: Final = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj
trailer<</Root 1 0 R>>
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at.

    Args:
        name: What.
        ok: Whether it is fine; a thing that is only told is always fine.
        value: What was found.
        advice: What to do when it is not fine; of something that is missing and not needed, what would give it.
    """

    name: str
    ok: bool
    value: str
    advice: str = ""


def examine(workspace: Path | None = None) -> tuple[Check, ...]:
    """Look at Python, packages, the reader, the machine, and the workspace if there is one.

    Args:
        workspace: A workspace that must be there; None looks for one and does without.

    Returns:
        The checks in a fixed order.
    """
    return (
        *_python(),
        *_packages(),
        *_looked_at("reader", _reader()),
        *_looked_at("optional programs", _optional()),
        *_machine(),
        *_looked_at("workspace", _workspace(workspace)),
    )


def _looked_at(name: str, checks: Iterator[Check]) -> Iterator[Check]:
    """The checks; that something cannot be looked at is found as well, and hides nothing else."""
    try:
        yield from checks
    except OSError as error:
        place = error.filename or "this folder"
        yield Check(
            name, ok=False, value="cannot be looked at", advice=f"{place}: {(error.strerror or str(error)).lower()}"
        )


def _python() -> Iterator[Check]:
    wanted = ".".join(map(str, MIN_PYTHON))
    ok = sys.version_info >= MIN_PYTHON
    yield Check("python", ok, platform.python_version(), "" if ok else f"install Python {wanted} or newer")
    yield Check(PACKAGE, ok=True, value=nclue_build.__version__)


def _packages() -> Iterator[Check]:
    try:
        declared = declared_packages()
    except PackageNotFoundError:
        yield Check("packages", ok=False, value="not installed", advice=f"install it: pip install {PACKAGE}")
        return
    for name, requirement in declared.items():
        found = installed_version(name)
        ok = found is not None and fits(requirement, found)
        value = "missing" if found is None else found if ok else f"{found}, which is another than is needed"
        yield Check(name, ok=ok, value=value, advice="" if ok else f"pip install '{requirement}'")


def _optional() -> Iterator[Check]:
    """What is needed by some alone: missing, it is a note."""
    yield Check("tesseract", *told_of_tesseract())
    value, advice = told_of_mineru()
    yield Check("mineru", ok=True, value=value, advice=advice)
    for name, value, advice in told_of_extras():
        yield Check(name, ok=True, value=value, advice=advice)
    yield Check("fonts", ok=True, value=FONTS)


def _reader() -> Iterator[Check]:
    """Read an empty page in the supervised process, exactly as extraction does."""
    from nclue_build.corpus.supervisor import ReadLimits, Supervisor  # noqa: PLC0415 - only where it is tried

    supervisor = Supervisor(ReadLimits(page_timeout_s=20, document_timeout_s=60, memory_mb=1024))
    advice = "install pymupdf again: pip install --force-reinstall pymupdf"
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.pdf"
            path.write_bytes(_SELF_TEST_PDF)
            read = supervisor.read(path)
    except NclueError as error:
        yield Check("reader", ok=False, value=error.message, advice=advice)
        return
    finally:
        supervisor.close()
    if read.n_pages != 1:
        yield Check("reader", ok=False, value=read.error or "cannot read a page", advice=advice)
        return
    yield Check("reader", ok=True, value=f"pymupdf {installed_version('pymupdf')} reads pages")


def _machine() -> Iterator[Check]:
    yield Check("cores", ok=True, value=str(available_cores()))
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        yield Check("memory", ok=True, value=f"{memory / _GIBIBYTE:.1f} GiB")


def _workspace(explicit: Path | None) -> Iterator[Check]:
    try:
        workspace = Workspace.find(explicit)
    except NclueError as error:
        if explicit is not None or os.environ.get(ENVIRONMENT_VARIABLE):
            yield Check("workspace", ok=False, value="not found", advice=error.message)
        else:
            yield Check("workspace", ok=True, value="none here")
        yield _disk(Path.cwd())
        return
    yield Check("workspace", ok=True, value=str(workspace.root))
    yield _writable(workspace)
    yield _disk(workspace.root)
    for name in workspace.builds():
        yield from _looked_at(f"build {name}", _build(Build(workspace, name)))


def _writable(workspace: Workspace) -> Check:
    """Whether the folders that runs write to can be written."""
    places = (workspace.root, workspace.state, workspace.root / "inventory", workspace.root / "benchmarks")
    for place in places:
        if place.exists() and not os.access(place, os.W_OK | os.X_OK):
            return Check("writable", ok=False, value=f"no: {place}", advice="make it writable, or work in a copy")
    return Check("writable", ok=True, value="yes")


def _build(build: Build) -> Iterator[Check]:
    """Whether a build could run right now: its configuration, its documents, and nobody else running it."""
    name = f"build {build.name}"
    try:
        with build.workspace.relative_paths():
            config = load_config(build.config_path)
    except NclueError as error:
        yield Check(name, ok=False, value="its configuration cannot be read", advice=error.message)
        return
    try:
        missing = missing_documents(build, config.corpus, config.fetch.folder)
        if missing:
            advice = f"run 'nclue-build -b {build.name} fetch', or 'run', which does it first"
            yield Check(name, ok=False, value=f"{counted(len(missing), 'document')} not fetched yet", advice=advice)
            return
        with build.workspace.relative_paths():
            n_documents = len(pdf_paths(build, config.corpus, config.fetch.folder))
    except NclueError as error:
        yield Check(name, ok=False, value="its documents are not all there", advice=error.message)
        return
    if (lacking := missing_for_ocr(config.extract)) is not None:
        yield Check(name, ok=False, value="cannot recognise text", advice=lacking)
        return
    process = running_process(build)
    if process is not None:
        advice = "wait until it ends, or stop it (a stopped run is resumed by the next one)"
        yield Check(name, ok=False, value=f"is being run by process {process}", advice=advice)
        return
    yield Check(name, ok=True, value=f"{build.relative(build.config_path)}, {counted(n_documents, 'document')}")
    if config.mineru.run:
        yield _mineru(config.mineru.program)


def _mineru(named: str) -> Check:
    """Whether the MinerU that a build has run is there."""
    try:
        program = find_program(named)
    except NclueError as error:
        return Check("mineru of the build", ok=False, value="cannot be run", advice=error.message)
    return Check("mineru of the build", ok=True, value=f"{program.kind} {program.version}")


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free / _GIBIBYTE
    ok = free >= _MIN_DISK_GIB
    return Check("disk", ok, f"{free:.1f} GiB free", "" if ok else f"make room: less than {_MIN_DISK_GIB} GiB is free")
