"""What decides how a page is recognised, and where results are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nclue_build.core.canonical import sha256_json
from nclue_build.corpus.ocr.program import required_tesseract

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from nclue_build.core.canonical import Json
    from nclue_build.records.config import ExtractSection

OCR_VERSION: Final = 2
"""Raised when the same page gives other lines."""
BACKEND: Final = "tesseract"


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """How pages are recognised.

    Args:
        mode: Which pages: those without a usable text layer, or all that are not blank.
        program: Path of Tesseract.
        version: Its version.
        languages: Codes of the languages it is to expect.
        dpi: Dots per inch of the picture it gets.
        max_megapixels: The picture never has more.
        page_timeout_s: Seconds for rendering and recognising a page.
        memory_mb: Address space of the process that does it.
        folder: Where recognised pages are kept; what they depend on, apart from the PDF, is in its name.
    """

    mode: Literal["missing", "force"]
    program: str
    version: str
    languages: tuple[str, ...]
    dpi: int
    max_megapixels: int
    page_timeout_s: float
    memory_mb: int
    folder: Path

    @property
    def backend(self) -> tuple[str, str]:
        """Name and version of the reader, as page rows have it."""
        return BACKEND, self.version


def ocr_facts(settings: ExtractSection) -> dict[str, Json]:
    """All that decides what recognised pages look like, apart from the PDF; nothing where none is recognised.

    Raises:
        UsageError: Tesseract is not there, or not with these languages.
    """
    if settings.ocr == "none":
        return {}
    program = required_tesseract(settings.ocr_languages)
    return {
        "ocr": settings.ocr,
        "ocr_languages": list(settings.ocr_languages),
        "ocr_data": list(program.digests(settings.ocr_languages)),
        "ocr_dpi": settings.ocr_dpi,
        "ocr_max_megapixels": settings.ocr_max_megapixels,
        "ocr_version": OCR_VERSION,
        "tesseract": program.version,
    }


def ocr_settings(settings: ExtractSection, state: Path) -> OcrSettings | None:
    """How pages are recognised; None where none is.

    Args:
        settings: The configuration.
        state: The folder of what can be made again.

    Raises:
        UsageError: Tesseract is not there, or not with these languages.
    """
    if settings.ocr == "none":
        return None
    program = required_tesseract(settings.ocr_languages)
    # Which pages are chosen does not change what is recognised on one.
    facts = {key: value for key, value in ocr_facts(settings).items() if key != "ocr"}
    return OcrSettings(
        mode=settings.ocr,
        program=program.path,
        version=program.version,
        languages=settings.ocr_languages,
        dpi=settings.ocr_dpi,
        max_megapixels=settings.ocr_max_megapixels,
        page_timeout_s=settings.ocr_page_timeout_s,
        memory_mb=settings.document_memory_mb,
        folder=state / "ocr" / sha256_json(facts)[:16],
    )
