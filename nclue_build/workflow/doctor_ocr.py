"""What the doctor says of recognising text: an option, so that only a build that asks for it can lack something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.corpus.ocr.program import NoTesseractError, find_tesseract, required_tesseract

if TYPE_CHECKING:
    from nclue_build.records.config import ExtractSection


def told_of_tesseract() -> tuple[bool, str, str]:
    """Whether all is well with Tesseract, what was found, and what to do otherwise.

    Not to have it is well: no text is recognised by default.
    """
    try:
        found = find_tesseract()
    except NoTesseractError as error:
        return True, "none", f"{error} (for text recognised on scanned pages, [extract] ocr)"
    languages = ", ".join(found.languages)
    if not languages:
        return False, f"{found.version}, without any language", "install the data of a language: tesseract-ocr-eng"
    return True, f"{found.version}, for {languages}", ""


def missing_for_ocr(settings: ExtractSection) -> str | None:
    """What a build lacks to recognise text as its configuration says; None when it lacks nothing."""
    if settings.ocr == "none":
        return None
    try:
        required_tesseract(settings.ocr_languages)
    except UsageError as error:
        return error.message
    return None
