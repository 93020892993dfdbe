"""From the blocks of pages to page rows, and what they sum up to: the same whichever reader made the blocks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import orjson

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.printable import without_controls
from nclue_build.core.text import matching_text
from nclue_build.corpus.lines import FailedPage
from nclue_build.corpus.nontext import TrueRoles, is_placeholder
from nclue_build.corpus.quality import LanguageCount, count_language, is_broken, may_have_placeholder, text_flags
from nclue_build.corpus.signature import SignatureBuilder
from nclue_build.corpus.words import Words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nclue_build.records.corpus import Role

FURNITURE: Final = frozenset({"header", "footer", "page_number"})
"""Roles of what repeats from page to page and is no text of the document."""
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
        unknown_types: Types of blocks that the program that read it has, and this one does not know.
        lost_pages: Pages with text in the PDF of which the program that read it has none.
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
    unknown_types: list[str] = field(default_factory=list)
    lost_pages: int = 0
    error: str | None = None


class MadeBlock(NamedTuple):
    """A block of a page row: its fields, in their order there; ``html`` is left out of the row where there is none."""

    role: Role
    level: int | None
    text: str
    bbox: tuple[int, int, int, int] | None
    html: str | None = None

    def row(self, role: Role) -> dict[str, Any]:
        """The block as a page row has it, with the role that its text shows."""
        _, level, text, bbox, html = self
        if html is not None:
            return {"role": role, "level": level, "text": text, "bbox": bbox, "html": html}
        return {"role": role, "level": level, "text": text, "bbox": bbox}


class PageFacts(Protocol):
    """What a page row says of a page beside its text: 1-based number, printed label, size in 1/100 pt, rotation."""

    page: int
    label: str | None
    width: int
    height: int
    rotation: int
    pictures: bool
    """Whether a page without text shows something all the same."""


class DocumentSums:
    """Makes the page rows of a document, one after the other, and sums them up.

    Args:
        n_pages: Number of pages of the document.
        backend: Name of the reader, as the page rows have it.
        backend_version: Its version.
        error: Why there is nothing to read.
    """

    def __init__(self, n_pages: int, backend: str, backend_version: str, error: str | None = None) -> None:
        """Start with no page."""
        self.summary = Summary(n_pages=n_pages, error=error)
        self._backend = backend
        self._backend_version = backend_version
        self._digest = hashlib.sha256()
        self._signature = SignatureBuilder()
        self._language = LanguageCount()
        self._n_pictures = 0
        self.first_title: str | None = None

    def add_failed(self, failure: FailedPage) -> bytes:
        """The row of a page that could not be read."""
        self._note_failure(failure)
        return orjson.dumps(self._row(None, failure.page, "failed", [failure.flag], []))

    def add_page(
        self,
        page: PageFacts,
        blocks: Sequence[MadeBlock],
        flags: Iterable[str],
        title: str | None = None,
        backend: tuple[str, str] | None = None,
    ) -> bytes:
        """The row of a page, as JSON without document id.

        Args:
            page: What is known of it.
            blocks: Its blocks in reading order.
            flags: What the reader has to say; those that follow from the text are added.
            title: What may be the document's title, should the page be the first that has one.
            backend: Name and version of the reader of this page, where it is not the document's.
        """
        texts = [block.text for block in blocks]
        joined = "\n".join(texts)
        body = matching_text("\n".join([block.text for block in blocks if block.role not in FURNITURE]))
        words = Words(words_of(body))
        counts = count_language(words)
        all_flags = {*flags, *text_flags(joined, words, counts)}
        status = "ok"
        if not joined:
            status = "empty"
            self.summary.empty += 1
            if page.pictures:
                all_flags.add("no_text_layer")
                self._n_pictures += 1
        elif is_broken(texts):
            status = "failed"
            all_flags.add("unusable_text")
            self._note_failure(FailedPage(page.page, "unusable_text", "most characters have no meaning: needs OCR"))
        else:
            self._add_text(body, words, counts, all_flags)
            if self.first_title is None:
                self.first_title = title
        # A page that is placeholder text throughout is shown as the text it has: flags say what it is.
        roles = TrueRoles(joined, latin=may_have_placeholder(words) and not is_placeholder(body))
        rows = [block.row(roles.of(block.role, block.text)) for block in blocks]
        row = self._row(page, page.page, status, sorted(all_flags), rows, joined)
        if backend is not None:
            row["backend"], row["backend_version"] = backend
        return orjson.dumps(row)

    def finish(self, stated_title: str | None, flags: Iterable[str] = ()) -> Summary:
        """The sums, whole once every page was added.

        Args:
            stated_title: The title that the document's own metadata gives.
            flags: What the reader has to say of the whole document.
        """
        summary = self.summary
        summary.flags += flags
        summary.passed = summary.ok + summary.empty
        if self._n_pictures * _PICTURE_PAGES_PER_DOCUMENT > summary.n_pages:
            summary.passed -= self._n_pictures
            summary.flags.append("no_text_layer")
        summary.language = self._language.language()
        summary.title = _best_title(stated_title, self.first_title)
        summary.signature = self._signature.finish()
        if summary.n_text_chars:
            summary.text_sha256 = self._digest.hexdigest()
        return summary

    def _note_failure(self, failure: FailedPage) -> None:
        self.summary.failed += 1
        self.summary.problems.append((failure.page, failure.flag, failure.reason))

    def _add_text(self, body: str, words: Words, counts: LanguageCount, flags: set[str]) -> None:
        summary = self.summary
        summary.ok += 1
        summary.placeholder_pages += "placeholder_text" in flags
        summary.non_english_pages += "non_english" in flags
        summary.n_words += len(words)
        summary.n_text_chars += len(body)
        self._digest.update(body.encode("utf-8") + b"\n")
        self._signature.add(words.hashes)
        self._language.add(counts)

    def _row(
        self,
        known: PageFacts | None,
        page: int,
        status: str,
        flags: list[str],
        blocks: list[dict[str, Any]],
        text: str = "",
    ) -> dict[str, Any]:
        return {
            "page": page,
            "page_label": known.label if known else None,
            "width": known.width if known else 0,
            "height": known.height if known else 0,
            "rotation": known.rotation if known else 0,
            "backend": self._backend,
            "backend_version": self._backend_version,
            "status": status,
            "flags": flags,
            "blocks": blocks,
            "text_sha256": sha256_bytes(text.encode("utf-8")) if text else _EMPTY_SHA256,
        }


def _best_title(stated: str | None, shown: str | None) -> str | None:
    """The title the PDF states, unless it is a single word (a file name) and the first page shows a better one."""
    stated, shown = without_controls(stated or ""), without_controls(shown or "")
    title = stated if stated and (not shown or len(stated.split()) > 1) else shown
    return title[:_MAX_TITLE] or None
