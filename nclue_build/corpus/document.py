"""From the reader's page payloads to page rows and what is known of the whole document.

Two passes: the first sees every page to learn what repeats and which type is the body's, the second
makes blocks. Pages are decoded twice rather than kept, so a long document costs no memory.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.printable import without_controls
from nclue_build.core.text import matching_text
from nclue_build.corpus.contents import Contents
from nclue_build.corpus.furniture import Furniture
from nclue_build.corpus.lines import RawPage, decode_page
from nclue_build.corpus.order import reading_order
from nclue_build.corpus.quality import LanguageCount, count_language, is_broken, text_flags, words_of
from nclue_build.corpus.references import References
from nclue_build.corpus.roles import TypeScale, assign_roles
from nclue_build.corpus.segments import Segment, split_segments
from nclue_build.corpus.signature import SignatureBuilder
from nclue_build.corpus.supervisor import FailedPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.corpus.supervisor import ReadDocument

BACKEND: Final = "pymupdf"
_FURNITURE_ROLES: Final = frozenset({"header", "footer", "page_number"})
_EMPTY_SHA256: Final = sha256_bytes(b"")
_MAX_TITLE: Final = 300
_PICTURE_PAGES_PER_DOCUMENT: Final = 5
"""One page in so many may be a picture without text and still count as legitimately empty."""


@dataclass(slots=True)
class Summary:
    """What is known of a document once all its pages are made; stored with them in the cache.

    Args:
        passed: Pages that are ok or legitimately empty.
        text_sha256: Digest of the matching text without furniture.
        n_text_chars: Length of that text.
        signature: MinHash values, uint32 little-endian bytes.
        problems: Page, reason code and one line for every failed page.
    """

    n_pages: int = 0
    ok: int = 0
    empty: int = 0
    failed: int = 0
    passed: int = 0
    n_words: int = 0
    language: str | None = None
    non_english_pages: int = 0
    placeholder_pages: int = 0
    title: str | None = None
    text_sha256: str = _EMPTY_SHA256
    n_text_chars: int = 0
    signature: bytes = b""
    flags: list[str] = field(default_factory=list)
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    error: str | None = None


class DocumentPages:
    """Makes the page rows of a document, one after the other, and sums them up.

    Args:
        read: What the supervisor returned.
        backend_version: Version of the reader library.
    """

    def __init__(self, read: ReadDocument, backend_version: str) -> None:
        """Look at all pages once."""
        self._read = read
        self._backend_version = backend_version
        self._furniture = Furniture()
        self._scale = TypeScale()
        self._contents = Contents()
        self._references = References()
        for payload in read.payloads:
            if isinstance(payload, bytes):
                page = decode_page(payload)
                self._furniture.observe(page)
                self._scale.observe(page)
        self._scale.settle()
        self._furniture.settle(self._scale.body_size)
        self.summary = Summary(n_pages=read.n_pages, error=read.error)
        self._digest = hashlib.sha256()
        self._signature = SignatureBuilder()
        self._language = LanguageCount()
        self._n_pictures = 0
        self._first_title: str | None = None

    def rows(self) -> Iterator[bytes]:
        """Yield every page as a JSON row without document id; the summary is whole afterwards."""
        for payload in self._read.payloads:
            if isinstance(payload, FailedPage):
                self._note_failure(payload)
                yield orjson.dumps(self._row(payload.page, "failed", [payload.flag], []))
            else:
                yield self._make_page(decode_page(payload))
        self._finish()

    def _make_page(self, page: RawPage) -> bytes:
        segments = self._segments(page)
        texts = [segment.text for segment in segments]
        joined = "\n".join(texts)
        in_body = [segment.role not in _FURNITURE_ROLES for segment in segments]
        body = matching_text("\n".join(text for text, is_body in zip(texts, in_body, strict=True) if is_body))
        words = words_of(body)
        counts = count_language(words)
        flags = set(page.flags) | text_flags(joined, words, counts)
        if page.rotation or any(segment.lines[0].direction for segment in segments[:1]):
            flags.add("rotated")
        status = "ok"
        if not joined:
            status = "empty"
            self.summary.empty += 1
            if page.pictures:
                flags.add("no_text_layer")
                self._n_pictures += 1
        elif is_broken(joined):
            status = "failed"
            flags.add("unusable_text")
            self._note_failure(FailedPage(page.page, "unusable_text", "most characters have no meaning: needs OCR"))
        else:
            self._add_text(body, words, counts, flags)
            if self._first_title is None:
                self._first_title = _title(segments)
        blocks = [
            {"role": segment.role, "level": segment.level, "text": text, "bbox": segment.bbox}
            for segment, text in zip(segments, texts, strict=True)
        ]
        return orjson.dumps(self._row(page, status, sorted(flags), blocks, joined))

    def _note_failure(self, failure: FailedPage) -> None:
        self.summary.failed += 1
        self.summary.problems.append((failure.page, failure.flag, failure.reason))

    def _add_text(self, body: str, words: list[str], counts: LanguageCount, flags: set[str]) -> None:
        summary = self.summary
        summary.ok += 1
        summary.placeholder_pages += "placeholder_text" in flags
        summary.non_english_pages += "non_english" in flags
        summary.n_words += len(words)
        summary.n_text_chars += len(body)
        self._digest.update(body.encode("utf-8") + b"\n")
        self._signature.add(words)
        self._language.add(counts)

    def _finish(self) -> None:
        summary = self.summary
        summary.passed = summary.ok + summary.empty
        if self._n_pictures * _PICTURE_PAGES_PER_DOCUMENT > summary.n_pages:
            summary.passed -= self._n_pictures
            summary.flags.append("no_text_layer")
        summary.language = self._language.language()
        summary.title = _best_title(self._read.title, self._first_title)
        summary.signature = self._signature.finish()
        if summary.n_text_chars:
            summary.text_sha256 = self._digest.hexdigest()

    def _segments(self, page: RawPage) -> list[Segment]:
        body, furniture = [], []
        for line, role in zip(page.lines, self._furniture.roles(page), strict=True):
            if role is None:
                body.append(line)
            else:
                segment = Segment.of([line])
                segment.role = role
                furniture.append(segment)
        segments = reading_order(split_segments(body))
        segments = self._contents.mark(segments)
        assign_roles(segments, page, self._scale)
        segments = self._references.mark(segments)
        height = page.height
        furniture.sort(key=lambda s: (s.bbox[1], s.bbox[0]))
        above = [s for s in furniture if 2 * s.bbox[1] < height]
        return above + segments + [s for s in furniture if 2 * s.bbox[1] >= height]

    def _row(
        self, page: RawPage | int, status: str, flags: list[str], blocks: list[dict[str, Any]], text: str = ""
    ) -> dict[str, Any]:
        known = page if isinstance(page, RawPage) else None
        return {
            "page": known.page if known else page,
            "page_label": known.label if known else None,
            "width": known.width if known else 0,
            "height": known.height if known else 0,
            "rotation": known.rotation if known else 0,
            "backend": BACKEND,
            "backend_version": self._backend_version,
            "status": status,
            "flags": flags,
            "blocks": blocks,
            "text_sha256": sha256_bytes(text.encode("utf-8")) if text else _EMPTY_SHA256,
        }


def _title(segments: list[Segment]) -> str | None:
    titles = [segment for segment in segments if segment.role == "title"]
    if not titles:
        return None
    biggest = max(titles, key=lambda segment: segment.size)
    return matching_text(biggest.text) or None


def _best_title(stated: str | None, shown: str | None) -> str | None:
    """The title the PDF states, unless it is a single word (a file name) and the first page shows a better one."""
    stated, shown = without_controls(stated or ""), without_controls(shown or "")
    title = stated if stated and (not shown or len(stated.split()) > 1) else shown
    return title[:_MAX_TITLE] or None
