"""The extract stage: PDFs in, typed pages and their quality out."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_json
from nclue_build.corpus.ocr.settings import ocr_facts
from nclue_build.corpus.output_files import MINERU, PAGE_JSON, output_files, output_folder
from nclue_build.corpus.passwords import Keyed, passwords_path
from nclue_build.corpus.sources import pdf_paths, unique
from nclue_build.store.layout import DUPLICATES
from nclue_build.store.stage import Declaration

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.core.canonical import Json
    from nclue_build.records.config import BuildConfig, ExtractSection
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


READER_VERSION: Final = 14
"""Raised when the same PDF gives other pages: the page cache is keyed by it."""
IMPORT_VERSION: Final = 10
"""Raised when the same output of another program gives other pages."""


class Extract:
    """Reads every document of the corpus and decides which stay in the benchmark."""

    name = "extract"
    version = 1

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Depends on the corpus file, every PDF, and what another program made of them where that is read.

        Raises:
            UsageError: no corpus there, no outputs, no file of passwords, or no Tesseract with the languages wanted.
            DataError: bad rows or missing files.
        """
        section = config.corpus
        listing = () if section.file is None else ((build.workspace.root / section.file).resolve(),)
        settings: dict[str, Json] = {
            "corpus_file": section.file,
            "corpus_pdfs": section.pdfs,
            **_reader(config.extract),
            **_named_outputs(config.extract),
            **_ocr_limits(config.extract),
            "page_timeout_s": config.extract.page_timeout_s,
            "document_timeout_s": config.extract.document_timeout_s,
            "document_memory_mb": config.extract.document_memory_mb,
            "min_extraction_rate": str(config.extract.min_extraction_rate),
            "duplicates": config.extract.duplicates,
            **_passwords(build, config.extract.passwords_file),
        }
        return Declaration(
            inputs=(
                *listing,
                *unique(pdf_paths(build, section, config.fetch.folder)),
                *_outputs(build, config.extract),
            ),
            settings=settings,
            outputs=(build.documents, build.quality, build.inventory / DUPLICATES, build.pages),
        )

    def run(self, context: StageContext) -> StageResult:
        """Read, decide, write.

        Raises:
            DataError: files that differ from what the corpus file lists, or that change while they are read.
            OutcomeError: no document is left; what was found of each is written all the same.
        """
        from nclue_build.corpus.run import run  # noqa: PLC0415 - declaring is cheap, running is not

        return run(context)


def _outputs(build: Build, settings: ExtractSection) -> list[Path]:
    if settings.reader == "pymupdf":
        return []
    return output_files(output_folder(build, settings), settings.reader)


def _passwords(build: Build, passwords_file: str) -> dict[str, Json]:
    """What the receipt has of the passwords: not a digest of the file, which would confirm a guess."""
    path = passwords_path(build, passwords_file)
    return {} if path is None else {"passwords": Keyed(build.workspace).digest(path.read_bytes())}


def _named_outputs(settings: ExtractSection) -> dict[str, Json]:
    named = {MINERU: ("mineru_output", settings.mineru_output), PAGE_JSON: ("page_json", settings.page_json)}
    return dict([named[settings.reader]]) if settings.reader in named else {}


def _ocr_limits(settings: ExtractSection) -> dict[str, Json]:
    return {} if settings.ocr == "none" else {"ocr_page_timeout_s": settings.ocr_page_timeout_s}


def _reader(settings: ExtractSection) -> dict[str, Json]:
    known: dict[str, Json] = {
        "reader": settings.reader,
        "pymupdf": version("pymupdf"),
        "reader_version": READER_VERSION,
        **ocr_facts(settings),
    }
    return known if settings.reader == "pymupdf" else known | {"import_version": IMPORT_VERSION}


def reader_digest(settings: ExtractSection) -> str:
    """Digest of everything that decides what pages look like, apart from the PDF.

    Raises:
        UsageError: text is to be recognised, and the program or a language for it is not there.
    """
    return sha256_json(_reader(settings))
