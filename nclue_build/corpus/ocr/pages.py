"""Which pages of a document are recognised, and how their text takes the place of what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from nclue_build.corpus.lines import FailedPage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nclue_build.corpus.ocr.settings import OcrSettings
    from nclue_build.corpus.read import ReadDocument

_NO_TEXT: Final = "no text was recognised, although the page has a text layer"
_GONE: Final = "what was recognised cannot be read: run extract --fresh"
_REFUSED: Final = "render_too_large"
"""The one failure that every machine has to report alike."""


class Candidate(NamedTuple):
    """A page whose text is to be recognised.

    Args:
        page: 1-based.
        size: Width and height as shown, in 1/100 pt.
        has_text: Whether it has a text layer, of use or not.
    """

    page: int
    size: tuple[int, int]
    has_text: bool


def candidates(rows: Iterable[bytes], settings: OcrSettings) -> list[Candidate]:
    """The pages of a document whose text is to be recognised.

    Those that show something and have no text layer, or one whose characters have no meaning; with ``force`` all that
    are not blank. A page that could not be read cannot be drawn either.

    Args:
        rows: The page rows as read.
        settings: How pages are recognised.
    """
    found = []
    for raw in rows:
        row = orjson.loads(raw)
        is_picture = row["status"] == "empty" and "no_text_layer" in row["flags"]
        is_broken = row["status"] == "failed" and "unusable_text" in row["flags"]
        if is_picture or is_broken or (settings.mode == "force" and row["status"] == "ok"):
            found.append(Candidate(row["page"], (row["width"], row["height"]), bool(row["blocks"])))
    return found


def replace_pages(
    read: ReadDocument,
    found: Iterable[Candidate],
    recognised: Mapping[int, bytes | FailedPage | None],
    settings: OcrSettings,
) -> None:
    """Put recognised text, or the reason why there is none, in the place of what was read.

    Args:
        read: The document; changed.
        found: The candidates among its pages.
        recognised: What :func:`nclue_build.corpus.ocr.recognise.recognise` gave for each of them, by page, or
            the reason why nothing came of it; None where it is gone.
        settings: How pages were recognised.
    """
    for candidate in found:
        result = recognised[candidate.page] or FailedPage(candidate.page, "ocr_failed", _GONE)
        payload = read.payloads[candidate.page - 1]
        if isinstance(result, FailedPage):
            payload = result
            # Another machine could do better, so that this is not to be kept.
            read.hit_limit |= result.flag != _REFUSED
        elif isinstance(payload, bytes):
            page: dict[str, Any] = orjson.loads(payload) | orjson.loads(result)
            if page["lines"] or not candidate.has_text:
                payload = orjson.dumps(page | {"pictures": True, "backend": settings.backend})
            else:
                payload = FailedPage(candidate.page, "ocr_failed", _NO_TEXT)
        read.payloads[candidate.page - 1] = payload
    read.made = None  # it is of what was there before
