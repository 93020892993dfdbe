"""Recognising pages as tasks of their own, whose results are kept: nothing is recognised twice, whenever a run ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nclue_build.core.errors import about
from nclue_build.corpus.kept import read_kept, write_kept
from nclue_build.corpus.ocr.recognise import RecognitionError, recognise
from nclue_build.corpus.sources import check_unchanged

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.corpus.lines import FailedPage
    from nclue_build.corpus.ocr.pages import Candidate
    from nclue_build.corpus.ocr.settings import OcrSettings


class PageTask(NamedTuple):
    """A page to recognise.

    Args:
        settings: How.
        pdf: The PDF.
        shown: Its name in messages.
        sha256: Its digest as taken before any reading.
        doc_id: A document it stands for.
        password: What it is encrypted with.
        page: Which page.
    """

    settings: OcrSettings
    pdf: Path
    shown: str
    sha256: str
    doc_id: str
    password: str | None
    page: Candidate


def recognise_page(task: PageTask) -> FailedPage | None:
    """Recognise a page and keep the result (a worker's task).

    Returns:
        Why nothing came of it, None when something did.

    Raises:
        DataError: the PDF is no longer the one whose digest was taken.
    """
    try:
        with about(f"document {task.doc_id} ({task.shown}), page {task.page.page}"):
            result = recognise(task.settings, task.pdf, task.password, task.page.page, task.page.size)
    except RecognitionError as error:
        return error.failure
    check_unchanged(task.pdf, task.sha256, task.shown, task.doc_id)
    write_kept(_place(task.settings, task.sha256, task.page.page), result)
    return None


def recognised_before(settings: OcrSettings, sha256: str, page: int) -> bytes | None:
    """What was recognised on a page of a PDF with this digest; None when nothing was kept."""
    return read_kept(_place(settings, sha256, page))


def _place(settings: OcrSettings, sha256: str, page: int) -> Path:
    return settings.folder / sha256[:2] / sha256 / f"{page}.json"
