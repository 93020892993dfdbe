"""Where the outputs of other readers lie, and which of them are about a document.

MinerU's folders have changed with its versions (``OUT/<stem>/<mode>/<stem>_middle.json``, a folder with ``layout.json``
from an archive, ``OUT/<stem>.json``), so that names only say which document a file is about; what it is shows in what
it holds (:mod:`nclue_build.corpus.mineru.detect`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import UsageError
from nclue_build.core.phrases import counted
from nclue_build.core.printable import escaped
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nclue_build.records.config import ExtractSection
    from nclue_build.store.workspace import Build

MINERU: Final = "mineru"
PAGE_JSON: Final = "page-json"
_SUFFIXES: Final = (
    ".json", "_middle.json", "_content_list_v2.json", "_content_list.json", "_model.json", "_layout.json",
    "_middle_json.json", "_structured_content.json", "_model_output.json", ".pdf_middle.json", ".pdf.json",
)  # fmt: skip
"""What follows a document's name in the name of a file about it."""
_MODELS: Final = ("model.json", "model_output.json")
_BESIDE_MODELS: Final = (
    "middle.json", "layout.json", "middle_json.json", "content_list.json", "content_list_v2.json",
    "structured_content.json",
)  # fmt: skip
_MAX_DEPTH: Final = 64
"""Folders below the outputs: more is a mistake, such as links that lead to each other."""
_NAMED: Final = 3
"""Documents that a message names."""


@dataclass(frozen=True, slots=True)
class Output:
    """What another program wrote about a document.

    Args:
        reader: ``mineru`` or ``page-json``.
        folder: The folder of all outputs.
        files: Names below it, sorted.
        digests: SHA-256 of each.
        problem: Why it cannot be told which files are the document's; None when it can.
    """

    reader: str
    folder: Path
    files: tuple[str, ...]
    digests: tuple[str, ...]
    problem: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of all that the pages are made from beside the PDF."""
        return sha256_bytes("\n".join((*self.files, *self.digests)).encode("utf-8", "surrogateescape"))


def output_folder(build: Build, settings: ExtractSection, *, must_exist: bool = True) -> Path:
    """The folder of outputs that a configuration names; for those made here, ``.nclue/mineru/<build>`` if it does not.

    Raises:
        UsageError: it is not there, and must be.
    """
    key = "mineru_output" if settings.reader == MINERU else "page_json"
    named = getattr(settings, key) or build.workspace.state / MINERU / build.name
    folder = (build.workspace.root / named).resolve()
    if must_exist and not folder.is_dir():
        raise UsageError(
            f"{build.relative(folder)}: no such folder (extract.{key} in {build.relative(build.config_path)})"
        )
    return folder


def output_files(folder: Path, reader: str) -> list[Path]:
    """Every file below a folder that may be read, sorted.

    What MinerU's models said is large and of no use: it is left out where a file that can be read lies beside it.

    Raises:
        UsageError: a folder there cannot be looked into.
    """
    if reader == PAGE_JSON:
        found = (path for path in _json_below(folder, 1, frozenset()) if path.parent.parent == folder)
        return sorted(path for path in found if page_number(path.stem))
    listed = list(_json_below(folder, _MAX_DEPTH, frozenset()))
    known = {str(path) for path in listed}
    return sorted(path for path in listed if not _is_model_beside_others(path, known))


def _is_model_beside_others(path: Path, known: set[str]) -> bool:
    for ending in _MODELS:
        if path.name == ending or path.name.endswith(f"_{ending}"):
            before = str(path).removesuffix(ending)
            return any(before + other in known for other in _BESIDE_MODELS)
    return False


def _json_below(folder: Path, depth: int, above: frozenset[tuple[int, int]]) -> Iterator[Path]:
    """Files named ``*.json``, also behind links, except those that lead to a folder above."""
    try:
        facts = folder.stat()
        if (identity := (facts.st_dev, facts.st_ino)) in above:
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    if depth > 0:
                        yield from _json_below(Path(entry.path), depth - 1, above | {identity})
                elif entry.name.endswith(".json") and entry.is_file():
                    yield Path(entry.path)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(f"{escaped(str(folder))}: cannot be looked into: {reason}") from None


def find_outputs(
    folder: Path, reader: str, documents: Mapping[str, str], digests: Mapping[Path, str]
) -> dict[str, Output]:
    """What lies there of each document.

    Args:
        folder: The folder of all outputs.
        reader: ``mineru`` or ``page-json``.
        documents: File name of every document, relative to its corpus, by id.
        digests: SHA-256 of the files listed by :func:`output_files`; no other file is an output.
    """
    known = {path.relative_to(folder).as_posix(): digest for path, digest in digests.items()}
    if reader == PAGE_JSON:
        return _page_outputs(folder, documents, known)
    return _MineruOutputs(folder, documents, known).all()


class _MineruOutputs:
    """Tells which files are about which document, by their names.

    A document's files are those of the first of its names that has any: its id, its file name with sub-folder, its
    file name alone. A file that two documents come to by that is no output of either, unless its own name says which.
    """

    def __init__(self, folder: Path, documents: Mapping[str, str], digests: Mapping[str, str]) -> None:
        self._folder = folder
        self._digests = digests
        self._names = {doc_id: _names(doc_id, file_name) for doc_id, file_name in documents.items()}
        self._by_name = _by_name(digests)
        self._called: dict[str, list[str]] = {}
        """Documents by name; one whose id it is stands apart, for it comes to the files by that first."""
        for doc_id, names in self._names.items():
            for name in names:
                if name != doc_id:
                    self._called.setdefault(name, []).append(doc_id)

    def all(self) -> dict[str, Output]:
        chosen = {
            doc_id: next((name for name in names if name in self._by_name), None)
            for doc_id, names in self._names.items()
        }
        claims: dict[str, list[str]] = {}
        for doc_id, name in chosen.items():
            for file in self._by_name[name] if name is not None else ():
                claims.setdefault(file, []).append(doc_id)
        return {doc_id: self._output(doc_id, name, claims) for doc_id, name in chosen.items()}

    def _output(self, doc_id: str, name: str | None, claims: Mapping[str, list[str]]) -> Output:
        files: list[str] = []
        for file in sorted(self._by_name[name]) if name is not None else ():
            owners = _owners(file, claims[file], self._names)
            if name is not None and name != doc_id and owners == [doc_id]:
                # Somebody of the same name with an output of its own: this one could still be of either.
                owners = sorted(self._called[name])
            if doc_id in owners and len(owners) > 1:
                shown = ", ".join(owners[:_NAMED]) + (", ..." if len(owners) > _NAMED else "")
                problem = (
                    f"{escaped(file)} could be MinerU's output of {counted(len(owners), 'document')} ({shown}): "
                    "let the name of each output be the doc_id"
                )
                return Output(MINERU, self._folder, (), (), problem)
            if doc_id in owners:
                files.append(file)
        if files:
            return Output(MINERU, self._folder, tuple(files), tuple(self._digests[file] for file in files))
        looked_for = " and ".join(map(escaped, self._names[doc_id]))
        return Output(MINERU, self._folder, (), (), f"no output of MinerU for it: looked for {looked_for}")


def _names(doc_id: str, file_name: str) -> list[str]:
    """What the output of a document may be called, most telling first, each once."""
    relative = PurePosixPath(file_name)
    names = [doc_id]
    if len(relative.parts) > 1 and ".." not in relative.parts and not relative.is_absolute():
        names.append(str(relative.with_suffix("")))
    return list(dict.fromkeys((*names, relative.stem)))


def _by_name(files: Iterable[str]) -> dict[str, list[str]]:
    """The files about a document by what it may be called: a folder they are in, or what their own name begins with."""
    found: dict[str, list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        folders = [str(folder) for folder in path.parents][:-1]
        stems = [file.removesuffix(suffix) for suffix in _SUFFIXES if file.endswith(suffix)]
        for name in dict.fromkeys((*stems, *folders, *(one.removesuffix(".pdf") for one in folders))):
            if name and not name.endswith("/"):
                found.setdefault(name, []).append(file)
    return found


def _owners(file: str, claimed_by: list[str], names: Mapping[str, list[str]]) -> list[str]:
    """Of the documents that come to a file, those whose name is the longest beginning of the file's own; else all."""
    if len(claimed_by) == 1:
        return claimed_by
    own = PurePosixPath(file).name
    stems = {own.removesuffix(suffix) for suffix in _SUFFIXES if own.endswith(suffix)}
    fitting = {
        doc_id: max((len(name) for one in names[doc_id] if (name := PurePosixPath(one).name) in stems), default=0)
        for doc_id in claimed_by
    }
    longest = max(fitting.values())
    return sorted(doc_id for doc_id, length in fitting.items() if length == longest)


def _page_outputs(folder: Path, documents: Mapping[str, str], digests: Mapping[str, str]) -> dict[str, Output]:
    by_document: dict[str, list[str]] = {}
    for name in sorted(digests):
        by_document.setdefault(str(PurePosixPath(name).parent), []).append(name)
    outputs = {}
    for doc_id in documents:
        files = by_document.get(doc_id, [])
        problem = None if files else f"no page of it there: looked for {doc_id}/1.json and so on"
        known = tuple(digests[name] for name in files)
        outputs[doc_id] = Output(PAGE_JSON, folder, tuple(files), known, problem)
    return outputs


def page_number(stem: str) -> int | None:
    """The page a file is about by its name (``7``, ``0007``), None when it is about none."""
    if not (stem.isascii() and stem.isdigit() and len(stem) <= len(str(MAX_PAGES))):
        return None
    number = int(stem)
    return number if 1 <= number <= MAX_PAGES else None
