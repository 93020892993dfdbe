"""Where the outputs of other readers lie, and which of them are about a document.

MinerU's folders have changed with its versions (``OUT/<stem>/<mode>/<stem>_middle.json``, a folder with ``layout.json``
from an archive, ``OUT/<stem>.json``), so that names only say which document a file is about; what it is shows in what
it holds (:mod:`nclue_build.corpus.mineru.detect`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import UsageError
from nclue_build.core.phrases import counted
from nclue_build.core.printable import escaped
from nclue_build.records.corpus import MAX_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nclue_build.records.config import ExtractSection
    from nclue_build.store.workspace import Build

MINERU: Final = "mineru"
PAGE_JSON: Final = "page-json"
_SUFFIXES: Final = (
    ".json", "_middle.json", "_content_list_v2.json", "_content_list.json", "_model.json", "_layout.json",
    "_middle_json.json", "_structured_content.json", "_model_output.json", ".pdf_middle.json", ".pdf.json",
)  # fmt: skip
MODEL_NAMES: Final = ("_model.json", "model.json", "model_output.json")
_MAX_DEPTH: Final = 4
"""Folders below a document's own in which its files may lie."""


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


def output_folder(build: Build, settings: ExtractSection) -> Path:
    """The folder of outputs that a configuration names.

    Raises:
        UsageError: it is not there.
    """
    key = "mineru_output" if settings.reader == MINERU else "page_json"
    named = getattr(settings, key)
    folder = (build.workspace.root / str(named)).resolve()
    if not folder.is_dir():
        raise UsageError(
            f"{build.relative(folder)}: no such folder (extract.{key} in {build.relative(build.config_path)})"
        )
    return folder


def output_files(folder: Path, reader: str) -> list[Path]:
    """Every file below a folder that may be read, sorted; MinerU's model output is not."""
    found = (path for path in _json_below(folder, _MAX_DEPTH + 1) if path.suffix == ".json")
    if reader == MINERU:
        return sorted(path for path in found if not path.name.endswith(MODEL_NAMES))
    return sorted(path for path in found if page_number(path.stem) and path.parent.parent == folder)


def find_outputs(
    folder: Path, reader: str, documents: Mapping[str, str], digests: Mapping[Path, str]
) -> dict[str, Output]:
    """What lies there of each document.

    Args:
        folder: The folder of all outputs.
        reader: ``mineru`` or ``page-json``.
        documents: File name of every document, relative to its corpus, by id.
        digests: SHA-256 of the files listed by :func:`output_files`.
    """
    stems: dict[str, list[str]] = {}
    for doc_id, file_name in documents.items():
        stems.setdefault(Path(file_name).stem, []).append(doc_id)
    return {
        doc_id: (
            _mineru_output(folder, doc_id, file_name, len(stems[Path(file_name).stem]), digests)
            if reader == MINERU
            else _page_output(folder, doc_id, digests)
        )
        for doc_id, file_name in documents.items()
    }


def _mineru_output(folder: Path, doc_id: str, file_name: str, n_same: int, digests: Mapping[Path, str]) -> Output:
    relative = Path(file_name)
    stem = relative.stem
    names = [doc_id]
    if len(relative.parts) > 1 and ".." not in relative.parts and not relative.is_absolute():
        names.append(str(relative.with_suffix("")))
    names.append(stem)
    for name in names:
        files = sorted(_candidates(folder, name))
        if not files:
            continue
        if name == stem and n_same > 1:
            problem = f"{counted(n_same, 'document')} have a file named {escaped(stem)}: name MinerU's output by doc_id"
            return Output(MINERU, folder, (), (), problem)
        known = tuple(digests.get(folder / file, "") for file in files)
        return Output(MINERU, folder, tuple(files), known)
    return Output(
        MINERU,
        folder,
        (),
        (),
        f"no output of MinerU for it: looked for {' and '.join(dict.fromkeys(map(escaped, names)))}",
    )


def _candidates(folder: Path, name: str) -> Iterator[str]:
    """Names, below the folder, of the files that are about the document with a name."""
    for suffix in _SUFFIXES:
        if (folder / f"{name}{suffix}").is_file():
            yield f"{name}{suffix}"
    for own in (folder / name, folder / f"{name}.pdf"):
        if own.is_dir():
            yield from (str(path.relative_to(folder)) for path in _json_below(own, _MAX_DEPTH))


def _json_below(folder: Path, depth: int) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():  # also behind links; the depth is bounded
                if depth > 0:
                    yield from _json_below(Path(entry.path), depth - 1)
            elif entry.name.endswith(".json") and entry.is_file():
                yield Path(entry.path)


def _page_output(folder: Path, doc_id: str, digests: Mapping[Path, str]) -> Output:
    own = folder / doc_id
    files = sorted(path.name for path in _json_below(own, 0) if page_number(path.stem)) if own.is_dir() else []
    problem = None if files else f"no page of it there: looked for {doc_id}/1.json and so on"
    known = tuple(digests.get(own / name, "") for name in files)
    return Output(PAGE_JSON, folder, tuple(f"{doc_id}/{name}" for name in files), known, problem)


def page_number(stem: str) -> int | None:
    """The page a file is about by its name (``7``, ``0007``), None when it is about none."""
    if not (stem.isascii() and stem.isdigit() and len(stem) <= len(str(MAX_PAGES))):
        return None
    number = int(stem)
    return number if 1 <= number <= MAX_PAGES else None
