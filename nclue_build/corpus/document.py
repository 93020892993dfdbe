"""From the pages of a document as they were read to page rows and what is known of the whole document.

Two passes: the first sees every page to learn what repeats and which type is the body's, the second
makes blocks. The pages of a long document are decoded twice rather than kept, so that it costs no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.text import matching_text
from nclue_build.corpus.contents import Contents
from nclue_build.corpus.furniture import Furniture
from nclue_build.corpus.interleaved import columns_in_order
from nclue_build.corpus.lines import FailedPage, RawPage, decode_page
from nclue_build.corpus.order import reading_order
from nclue_build.corpus.read import MadeDocument
from nclue_build.corpus.references import References
from nclue_build.corpus.roles import TypeScale, assign_roles
from nclue_build.corpus.segments import Segment, split_segments
from nclue_build.corpus.summary import DocumentSums, MadeBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nclue_build.corpus.read import ReadDocument

BACKEND: Final = "pymupdf"
MAX_KEPT_BYTES: Final = 4 << 20
"""Pages are kept decoded up to this size of all payloads: about 300 pages, and 20 MiB in memory."""


def make_document(read: ReadDocument, backend_version: str) -> MadeDocument:
    """Make the page rows of a document.

    Args:
        read: What the supervisor returned.
        backend_version: Version of the reader library.
    """
    maker = DocumentMaker()
    payloads = [payload for payload in read.payloads if isinstance(payload, bytes)]
    is_short = sum(map(len, payloads)) <= MAX_KEPT_BYTES
    kept: dict[int, RawPage] = {}
    for payload in payloads:
        page = decode_page(payload)
        maker.observe(page)
        if is_short:
            kept[page.page] = page

    def pages() -> Iterator[RawPage | FailedPage]:
        for number, payload in enumerate(read.payloads, 1):
            if isinstance(payload, FailedPage):
                yield payload
            else:
                yield kept.pop(number) if number in kept else decode_page(payload)

    return maker.make(pages(), read, backend_version)


class DocumentMaker:
    """Makes the page rows of one document, once it has observed each of its pages."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._furniture = Furniture()
        self._scale = TypeScale()
        self._contents = Contents()
        self._references = References()

    def observe(self, page: RawPage) -> None:
        """Learn from a page; pages come in their order."""
        self._furniture.observe(page)
        self._scale.observe(page)

    def make(self, pages: Iterable[RawPage | FailedPage], read: ReadDocument, backend_version: str) -> MadeDocument:
        """Make the rows.

        Args:
            pages: Every page, in order; what was not observed must have failed.
            read: What else is known of the document; its payloads are not looked at.
            backend_version: Version of the reader library.
        """
        self._scale.settle()
        self._furniture.settle(self._scale.body_size)
        sums = DocumentSums(read.n_pages, BACKEND, backend_version, read.error)
        rows = [
            sums.add_failed(page) if isinstance(page, FailedPage) else self._make_page(page, sums) for page in pages
        ]
        return MadeDocument(sums.finish(read.title, read.flags), rows)

    def _make_page(self, page: RawPage, sums: DocumentSums) -> bytes:
        segments = self._segments(page)
        flags = set(page.flags)
        if page.rotation or any(segment.lines[0].direction for segment in segments[:1]):
            flags.add("rotated")
        blocks = [MadeBlock(segment.role, segment.level, segment.text, segment.bbox) for segment in segments]
        title = _title(segments) if sums.first_title is None else None
        return sums.add_page(page, blocks, flags, title, page.backend)

    def _segments(self, page: RawPage) -> list[Segment]:
        body, furniture = [], []
        for line, role in zip(page.lines, self._furniture.roles(page), strict=True):
            if role is None:
                body.append(line)
            else:
                segment = Segment.of([line])
                segment.role = role
                furniture.append(segment)
        segments = reading_order(split_segments(columns_in_order(body)))
        segments = self._contents.mark(segments)
        assign_roles(segments, page, self._scale)
        segments = self._references.mark(segments)
        height = page.height
        furniture.sort(key=lambda s: (s.bbox[1], s.bbox[0]))
        above = [s for s in furniture if 2 * s.bbox[1] < height]
        return above + segments + [s for s in furniture if 2 * s.bbox[1] >= height]


def _title(segments: list[Segment]) -> str | None:
    titles = [segment for segment in segments if segment.role == "title"]
    if not titles:
        return None
    biggest = max(titles, key=lambda segment: segment.size)
    return matching_text(biggest.text) or None
