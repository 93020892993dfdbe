"""The extract stage: PDFs in, typed pages and their quality out."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_json
from nclue_build.corpus.sources import pdf_paths, unique
from nclue_build.store.layout import DUPLICATES
from nclue_build.store.stage import Declaration

if TYPE_CHECKING:
    from nclue_build.core.canonical import Json
    from nclue_build.records.config import BuildConfig
    from nclue_build.store.stage import StageContext, StageResult
    from nclue_build.store.workspace import Build


READER_VERSION: Final = 4
"""Raised when the same PDF gives other pages: the page cache is keyed by it."""


class Extract:
    """Reads every document of the corpus and decides which stay in the benchmark."""

    name = "extract"
    version = 1

    def declare(self, build: Build, config: BuildConfig) -> Declaration:
        """Depends on the corpus file and every PDF.

        Raises:
            UsageError: no corpus there.
            DataError: bad rows or missing files.
        """
        section = config.corpus
        listing = () if section.file is None else ((build.workspace.root / section.file).resolve(),)
        settings: dict[str, Json] = {
            "corpus_file": section.file,
            "corpus_pdfs": section.pdfs,
            **_reader(config.extract.reader),
            "page_timeout_s": config.extract.page_timeout_s,
            "document_timeout_s": config.extract.document_timeout_s,
            "document_memory_mb": config.extract.document_memory_mb,
            "min_extraction_rate": str(config.extract.min_extraction_rate),
            "duplicates": config.extract.duplicates,
        }
        return Declaration(
            inputs=(*listing, *unique(pdf_paths(build, section, config.fetch.folder))),
            settings=settings,
            outputs=(build.documents, build.quality, build.inventory / DUPLICATES, build.pages),
        )

    def run(self, context: StageContext) -> StageResult:
        """Read, decide, write.

        Raises:
            DataError: files that differ from what the corpus file lists, or that change while they are read.
            OutcomeError: no document is readable; what was found of each is written all the same.
        """
        from nclue_build.corpus.run import run  # noqa: PLC0415 - declaring is cheap, running is not

        return run(context)


def _reader(reader: str) -> dict[str, Json]:
    return {"reader": reader, "pymupdf": version("pymupdf"), "reader_version": READER_VERSION}


def reader_digest(reader: str) -> str:
    """Digest of everything that decides what pages look like, apart from the PDF."""
    return sha256_json(_reader(reader))
