"""Having MinerU read the documents that have no output of it yet, one program a document.

An output is made in a folder of its own and takes its place ``<doc_id>`` when it is whole, with a note of what it was
made from. What somebody else put among the outputs is left alone and counts as theirs to keep.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_file
from nclue_build.core.errors import DataError, UsageError
from nclue_build.core.phrases import counted
from nclue_build.corpus.making.process import run_program
from nclue_build.corpus.making.program import PLAIN, arguments, command, find_program
from nclue_build.corpus.making.said import last_line
from nclue_build.corpus.mineru.detect import FAILURE_SCHEMA, PREFERENCE, detect
from nclue_build.corpus.output_files import MINERU, find_outputs, output_files, output_folder
from nclue_build.corpus.run import corpus_of
from nclue_build.records.made import MadeOutput
from nclue_build.store.atomic import write_bytes
from nclue_build.store.jsonl import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nclue_build.core.progress import Progress
    from nclue_build.corpus.making.program import MineruProgram
    from nclue_build.corpus.mineru.detect import Format
    from nclue_build.corpus.run import Corpus
    from nclue_build.records.config import MineruSection
    from nclue_build.store.stage import StageContext

NOTE: Final = ".made.json"
FAILURE: Final = "failure.json"
_PREFIX: Final = ".making-"
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that MinerU is to read: its id, where its PDF lies, and the PDF's digest."""

    doc_id: str
    path: Path
    sha256: str


def wanted_outputs(context: StageContext) -> list[Wanted]:
    """The documents without an output of MinerU, or with one that was made from another PDF or in another way.

    Raises:
        UsageError: there is no corpus.
        DataError: bad rows or missing files.
    """
    build, config = context.build, context.config
    folder = output_folder(build, config.extract, must_exist=False)
    corpus = corpus_of(context)
    theirs = _of_others(folder, corpus)
    return [
        Wanted(row.doc_id, corpus.paths[row.doc_id], row.sha256)
        for row in corpus.rows
        if row.sha256 is not None
        and row.doc_id not in theirs
        and not _is_current(folder / row.doc_id, row.sha256, config.mineru)
    ]


def _of_others(folder: Path, corpus: Corpus) -> set[str]:
    """The documents whose output somebody else put there."""
    if not folder.is_dir():
        return set()
    files = dict.fromkeys(output_files(folder, MINERU), "")
    found = find_outputs(folder, MINERU, {row.doc_id: row.file_name or row.doc_id for row in corpus.rows}, files)
    with_files = {doc_id for doc_id, output in found.items() if output.files and not _is_ours(folder / doc_id)}
    return with_files | {row.doc_id for row in corpus.rows if _is_in_the_way(folder / row.doc_id)}


def _is_ours(own: Path) -> bool:
    return (own / NOTE).is_file()


def _is_in_the_way(own: Path) -> bool:
    """Whether something lies at an output's place that is none of ours: it is never replaced."""
    return own.is_symlink() or (own.exists() and not _is_ours(own))


def _is_current(own: Path, pdf_sha256: str, settings: MineruSection) -> bool:
    """Whether an output is whole and made from the same PDF in the same way."""
    try:
        note = read_json(own / NOTE, MadeOutput)
        return (
            bool(note.files)
            and note.pdf_sha256 == pdf_sha256
            and list(note.arguments) == arguments(note.program, settings)
            and all(sha256_file(own / name) == digest for name, digest in note.files.items())
        )
    except (DataError, OSError):
        return False


def make_outputs(context: StageContext) -> None:
    """Have MinerU read what it has not read yet; a document it cannot read gets a file that says why.

    Raises:
        UsageError: no MinerU is installed, or another run writes to the same folder.
        DataError: bad rows or missing files.
        OSError: the folder cannot be written.
    """
    settings, progress = context.config.mineru, context.progress
    program = find_program(settings.program)
    progress.note(f"mineru: {program.kind} {program.version}")
    folder = output_folder(context.build, context.config.extract, must_exist=False)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder, context.build.relative(folder)):
        for left in folder.glob(f"{_PREFIX}*"):  # of a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        wanted = wanted_outputs(context)
        progress.start("reading with MinerU", len(wanted), "documents")
        maker = _Maker(folder, program, settings)
        n_failed = sum(
            problem is not None for problem in _in_threads(maker.make, wanted, settings.workers, maker.stop, progress)
        )
        failed = f", {n_failed} of them failed" if n_failed else ""
        progress.note(f"mineru: {counted(len(wanted), 'document')} read{failed}")


def _in_threads(
    make: Callable[[Wanted], str | None],
    wanted: list[Wanted],
    n_workers: int,
    stop: threading.Event,
    progress: Progress,
) -> Iterator[str | None]:
    """Make every output, some at a time; whatever ends this early ends the programs, too."""
    with ThreadPoolExecutor(n_workers) as pool:
        futures = [pool.submit(make, one) for one in wanted]
        try:
            for future in futures:
                yield future.result()
                progress.advance()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class _Maker:
    """Makes the output of one document after the other; several threads may."""

    def __init__(self, folder: Path, program: MineruProgram, settings: MineruSection) -> None:
        self._folder = folder
        self._program = program
        self._settings = settings
        self.stop = threading.Event()

    def make(self, one: Wanted) -> str | None:
        """Make an output, or a file that says why there is none; returns that reason."""
        own = self._folder / one.doc_id
        making = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._folder))
        try:
            kept = making / "kept"
            kept.mkdir()
            try:
                names = self._made(one, making, kept)
                problem = None
            except DataError as error:
                if self.stop.is_set():
                    return error.message
                names, problem = {}, error.message
                failure = {"schema": FAILURE_SCHEMA, "message": problem}
                write_bytes(kept / FAILURE, json.dumps(failure).encode() + b"\n")
            note = MadeOutput(
                pdf_sha256=one.sha256,
                program=self._program.kind,
                version=self._program.version,
                arguments=tuple(arguments(self._program.kind, self._settings)),
                files=names,
            )
            write_json(kept / NOTE, note)
            if _is_in_the_way(own):
                return "somebody else put an output there meanwhile"
            if own.exists():
                own.rename(making / "earlier")
            kept.rename(own)
        finally:
            shutil.rmtree(making, ignore_errors=True)
        return problem

    def _made(self, one: Wanted, making: Path, kept: Path) -> dict[str, str]:
        """Run MinerU and move the files that are read out of what it wrote; their digests by name.

        Raises:
            DataError: it failed, or what it wrote is no output.
        """
        pdf, written = making / f"{one.doc_id}.pdf", making / "written"
        pdf.symlink_to(one.path.resolve())  # the file may have any name; this one can stand on a command line
        written.mkdir()
        asked = command(self._program, self._settings, pdf, written)
        limit = self._settings.document_timeout_s
        ended = run_program(asked, making, limit, environment=PLAIN, stop=self.stop)
        said = last_line(ended.said, str(making), str(one.path.parent), str(one.path.parent.resolve()))
        if ended.timed_out:
            raise DataError(f"MinerU took longer than mineru.document_timeout_s = {limit}")
        if ended.code != 0:
            how = f"exit code {ended.code}" if ended.code is None or ended.code >= 0 else f"signal {-ended.code}"
            raise DataError(f"MinerU failed ({how}): {said or 'it said nothing'}")
        names: dict[str, str] = {}
        for path in output_files(written, MINERU):
            kind = _kind(path)
            if kind is not None and PREFERENCE[kind] == 0:
                path.rename(kept / path.name)
                names[path.name] = sha256_file(kept / path.name)
        if not names:
            raise DataError(f"MinerU ended well and wrote no whole middle file: {said or 'it said nothing'}")
        if len(names) > 1:
            raise DataError(f"MinerU wrote several middle files: {', '.join(sorted(names))}")
        return names


def _kind(path: Path) -> Format | None:
    """Which of MinerU's files this is, None for another or one that is not whole."""
    try:
        return detect(json.loads(path.read_bytes().decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return None


@contextlib.contextmanager
def _locked(folder: Path, shown: str) -> Iterator[None]:
    """Hold the folder for the length of the block; the kernel lets it go when the process ends in whatever way."""
    with (folder / _LOCK).open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{shown}: another run has MinerU write there: wait until it ends, or stop it") from None
        yield
