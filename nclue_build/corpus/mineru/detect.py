"""Which of MinerU's files a JSON value is: by what it holds, for names changed from version to version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from nclue_build.core.errors import DataError
from nclue_build.corpus.mineru.content_list import read_content_list
from nclue_build.corpus.mineru.content_list_v2 import read_content_list_v2
from nclue_build.corpus.mineru.docvortex import read_docvortex
from nclue_build.corpus.mineru.pages import one_line
from nclue_build.corpus.mineru.pdf_info import read_pdf_info
from nclue_build.corpus.values import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.mineru.content_list import Place
    from nclue_build.corpus.mineru.pages import MineruDocument

Format: TypeAlias = Literal["pdf_info", "docvortex", "content_list", "content_list_v2", "model", "failure"]
PREFERENCE: Final[dict[Format, int]] = {
    "docvortex": 0, "pdf_info": 0, "content_list_v2": 1, "content_list": 2, "model": 8, "failure": 9,
}  # fmt: skip
"""Middle files keep text on its page. Of the content lists the second has every page and its text as it was read; the
first leaves empty pages out and has Markdown in its texts."""
MODEL_HINT: Final = (
    "is MinerU's model output, which has no reading order: give the middle file (<stem>_middle.json, layout.json or "
    "middle_json.json) or a content list"
)
FAILURE_SCHEMA: Final = "nclue-build.mineru-failure"
"""What stands in the file that says why MinerU, run from here, has no output."""
_SCHEMAS: Final[dict[str, Format]] = {"docvortex.middle": "docvortex", "docvortex.model": "model"}
_LEGACY_PAGE: Final = frozenset({"preproc_blocks", "para_blocks", "discarded_blocks", "page_size"})
_MODEL_PAGE: Final = frozenset({"layout_dets", "page_info"})


def detect(data: object) -> Format | None:
    """Say which file a JSON value is; None when it is none of MinerU's that can be read."""
    if isinstance(data, dict):
        return _detect_object(data)
    if not isinstance(data, list):
        return None
    if any(isinstance(entry, dict) and _MODEL_PAGE & entry.keys() for entry in data):
        return "model"
    if not data or any("page_idx" in item for item in _items(data) if isinstance(item, dict)):
        return "content_list"
    if any(isinstance(entry, list) for entry in data):
        return _detect_pages([entry for entry in data if isinstance(entry, list)])
    return None


def _items(data: list[Any]) -> list[Any]:
    """The items of a content list, also of one that somebody has put together by page."""
    return [item for entry in data for item in (entry if isinstance(entry, list) else [entry])]


def _detect_object(data: dict[str, Any]) -> Format | None:
    if isinstance(data.get("pdf_info"), list | dict):
        return "pdf_info"
    if data.get("schema") == FAILURE_SCHEMA:
        return "failure"
    pages = data.get("pages")
    if not isinstance(pages, list):
        return "model" if _MODEL_PAGE & data.keys() else None
    schema = data.get("schema")
    if isinstance(schema, str) and schema in _SCHEMAS:
        return _SCHEMAS[schema]
    if data.get("schema_version") is not None and "schema" not in data:  # before the schema had a name
        legacy = any(isinstance(page, dict) and _LEGACY_PAGE & page.keys() for page in pages)
        return "pdf_info" if legacy else "docvortex"
    return None


def _detect_pages(pages: list[list[Any]]) -> Format | None:
    """Lists of lists: content_list_v2, or what a vision model said of every page."""
    items = [item for page in pages for item in page if isinstance(item, dict)]
    if not items:
        return "content_list_v2" if not any(pages) else None
    if any(isinstance(item.get("content"), dict) for item in items):
        return "content_list_v2"
    if all("content" in item and ("angle" in item or "bbox" in item) for item in items):
        return "model"
    return "content_list_v2" if any("type" in item for item in items) else None


def read(data: object, page_size: Callable[[int], tuple[int, int]], place: Place | None = None) -> MineruDocument:
    """Read whichever of MinerU's files a JSON value is.

    Args:
        data: The whole file, parsed.
        page_size: Width and height in 1/100 pt of the page with a 0-based number, zeros when not known; for files that
            give boxes as shares of pages of unknown size.
        place: Tells on which page of a range a text stands, for items of a content list that do not say it.

    Raises:
        DataError: it is none that can be read, or not what such a file should be.
    """
    kind = detect(data)
    if kind == "model":
        raise DataError(MODEL_HINT)
    if kind == "failure" and isinstance(data, dict):
        raise DataError(one_line(as_text(data.get("message")), 400) or "MinerU failed")
    if kind == "docvortex" and isinstance(data, dict):
        return read_docvortex(data)
    if kind == "pdf_info" and isinstance(data, dict):
        return read_pdf_info(data if "pdf_info" in data else {**data, "pdf_info": data["pages"]})
    if kind == "content_list_v2" and isinstance(data, list):
        return read_content_list_v2(data, page_size)
    if kind == "content_list" and isinstance(data, list):
        return read_content_list(_items(data), page_size, place)
    raise DataError("is no middle file and no content list of MinerU")
