"""What the doctor says of recognising text: an option, so that only a build that asks for it can lack something."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from nclue_build.core.errors import UsageError
from nclue_build.core.printable import without_controls
from nclue_build.corpus.ocr.program import PROGRAM, NoTesseractError, find_tesseract, required_tesseract

if TYPE_CHECKING:
    from nclue_build.records.config import ExtractSection


def told_of_tesseract() -> tuple[bool, str, str]:
    """Whether all is well with Tesseract, what was found, and what to do otherwise.

    Not to have it is well, or one that cannot be used: no text is recognised by default.
    """
    try:
        found = find_tesseract()
    except NoTesseractError as error:
        value = "none" if shutil.which(PROGRAM) is None else "cannot be used"
        return True, value, f"{error} (for text recognised on scanned pages, [extract] ocr)"
    languages = ", ".join(found.languages)
    if not languages:
        folder = os.environ.get("TESSDATA_PREFIX")
        advice = "install the data of a language: tesseract-ocr-eng" + (
            f", or mend TESSDATA_PREFIX, the folder where it is looked for ({without_controls(folder)})"
            if folder
            else ""
        )
        return False, f"{found.version}, without any language", advice
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
