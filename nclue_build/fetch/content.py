"""Whether what came is a PDF."""

from __future__ import annotations

import html
import re
from typing import Final

from nclue_build.core.printable import without_controls

MAGIC_WITHIN: Final = 1024
"""Bytes within which readers look for the mark of a PDF."""
END_WITHIN: Final = 2048
"""Bytes before the end within which the last mark of a whole PDF stands, but for what servers append."""
_MAGIC: Final = b"%PDF-"
_END: Final = b"%%EOF"
_HTML: Final = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*(?:<!--.{0,400}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_TITLE: Final = re.compile(rb"<title[^>]*>(.{1,300}?)</title>", re.IGNORECASE | re.DOTALL)


def content_problem(head: bytes, content_type: str | None) -> str | None:
    """Say what came instead of a PDF; None when it looks like one.

    Args:
        head: The first :data:`MAGIC_WITHIN` bytes.
        content_type: What the server calls it.
    """
    if not head:
        return "empty"
    if _MAGIC in head:
        return None
    kind = without_controls((content_type or "").partition(";")[0])[:60].lower()
    if _HTML.match(head) or kind in {"text/html", "application/xhtml+xml"}:
        title = _TITLE.search(head)
        name = without_controls(html.unescape(title[1].decode("utf-8", "replace")))[:80] if title else ""
        return "a web page, not a PDF" + (f": {name!r}" if name else "")
    return "not a PDF" + (f", but {kind}" if kind and kind != "application/pdf" else "")


def looks_cut_short(tail: bytes) -> bool:
    """Whether the last :data:`END_WITHIN` bytes have no end of a PDF."""
    return _END not in tail
