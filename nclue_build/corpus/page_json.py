"""Pages as JSON, one file a page: exchange with other programs that read pages, such as OCR.

A file holds what a page row does. Only ``blocks`` has to be there, or ``text`` instead; a block needs its ``text``
alone. Sums and digests are made anew, keys that are not known are ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, get_args

from nclue_build.core.errors import DataError
from nclue_build.core.printable import escaped
from nclue_build.core.text import clean_raw
from nclue_build.corpus.imported import ImportedPage
from nclue_build.corpus.lines import FailedPage
from nclue_build.corpus.mineru.pages import UNKNOWN_VERSION
from nclue_build.corpus.summary import MadeBlock
from nclue_build.corpus.values import PROGRAM_LENGTH, as_box, as_level, as_number, as_object, as_text, program_word
from nclue_build.records.corpus import Role

if TYPE_CHECKING:
    from nclue_build.corpus.values import Box

_ROLES: Final[dict[str, Role]] = {role: role for role in get_args(Role)}
_ROTATIONS: Final = frozenset({0, 90, 180, 270})
_FLAG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,59}")
_MAX_FLAGS: Final = 64
_MAX_LABEL: Final = 200


def parse_page(data: object, doc_id: str, page: int) -> ImportedPage:
    """Make a page out of its file.

    Args:
        data: The file, parsed.
        doc_id: The document, from the folder's name.
        page: 1-based number, from the file's name.

    Raises:
        DataError: it is no page, or another one, or a field is not what it should be.
    """
    if not isinstance(data, dict):
        raise DataError("is no JSON object")
    if (named := data.get("doc_id")) not in (None, doc_id):
        what = f"is {escaped(named[:_MAX_LABEL])}" if isinstance(named, str) else "is no text"
        raise DataError(f"doc_id {what}, and the folder says {doc_id}: move the page to the folder of its document")
    stated = data.get("page")
    if stated is not None and as_number(stated) is None:
        raise DataError("page is no number")
    if stated is not None and as_number(stated) != page:
        raise DataError(f"says it is page {as_text(stated)[:20]}, and its name says {page}")
    made = ImportedPage(
        page,
        label=_label(data.get("page_label")),
        width=_size(data.get("width")),
        height=_size(data.get("height")),
        rotation=int(rotation) if (rotation := as_number(data.get("rotation"))) in _ROTATIONS else 0,
        flags=_flags(data.get("flags")),
        backend=_backend(data),
    )
    made.pictures = "no_text_layer" in made.flags
    blocks = data.get("blocks")
    if blocks is None and isinstance(data.get("text"), str):
        blocks = [{"text": data["text"]}]
    if blocks is None and data.get("status") != "failed":
        raise DataError("has no blocks")
    if not isinstance(blocks or [], list):
        raise DataError("blocks is no list")
    for position, block in enumerate(blocks or []):
        made.blocks += _block(block, position, made.flags)
    if data.get("status") == "failed" and not made.blocks:
        flag = min(made.flags, default="page_error")
        made.failure = FailedPage(page, flag, f"whoever read it could not: {flag}")
    return made


def _label(value: object) -> str | None:
    """The printed number of a page, which a PDF may have as any text."""
    label = clean_raw(as_text(value))[0].strip()
    if len(label) > _MAX_LABEL:
        raise DataError(f"page_label has more than {_MAX_LABEL} characters")
    return label or None


def _flags(value: object) -> set[str]:
    if value is None:
        return set()
    if not isinstance(value, list) or len(value) > _MAX_FLAGS:
        raise DataError(f"flags is no list of at most {_MAX_FLAGS} words")
    for position, flag in enumerate(value):
        if not isinstance(flag, str) or not _FLAG.fullmatch(flag):
            raise DataError(f"flags: entry {position} is no word of at most 60 letters, digits and _.:+-")
    return set(value)


def _backend(data: dict[str, Any]) -> tuple[str, str] | None:
    """Name and version of the program that read the page, None where it does not say."""
    for key in ("backend", "backend_version"):
        if data.get(key) not in (None, "") and program_word(data[key]) is None:
            raise DataError(f"{key} is no text of at most {PROGRAM_LENGTH} printable ASCII characters")
    name = program_word(data.get("backend"))
    return None if name is None else (name, program_word(data.get("backend_version")) or UNKNOWN_VERSION)


def _size(value: object) -> int:
    number = as_number(value)
    return 0 if number is None or number < 0 else round(number)


def _block(given: object, position: int, flags: set[str]) -> list[MadeBlock]:
    """A block, none when its text is blank.

    Raises:
        DataError: it has no text.
    """
    block = as_object(given)
    if not isinstance(block.get("text"), str):
        raise DataError(f"block {position} has no text")
    text, removed = clean_raw(block["text"])
    flags |= removed
    if not text.strip():
        return []
    given_role = as_text(block.get("role")) or "text"
    role = _ROLES.get(given_role)
    if role is None:
        raise DataError(f"block {position}: there is no role {given_role[:40]!r}")
    bbox: Box | None = as_box(block.get("bbox"), 1, 1)
    html = block.get("html")
    if html is not None and not isinstance(html, str):
        raise DataError(f"block {position}: html is no text")
    kept = clean_raw(html)[0].strip() or None if html else None
    return [MadeBlock(role, as_level(block.get("level")), text, bbox, kept)]
