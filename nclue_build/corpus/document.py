"""From the reader's page payloads to page rows and what is known of the whole document.

Two passes: the first sees every page to learn what repeats and which type is the body's, the second
makes blocks. The pages of a long document are decoded twice rather than kept, so that it costs no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nclue_build.core.text import matching_text
from nclue_build.corpus.contents import Contents
from nclue_build.corpus.furniture import Furniture
from nclue_build.corpus.lines import RawPage, decode_page
from nclue_build.corpus.order import reading_order
from nclue_build.corpus.references import References
from nclue_build.corpus.roles import TypeScale, assign_roles
from nclue_build.corpus.segments import Segment, split_segments
from nclue_build.corpus.summary import DocumentSums, MadeBlock
from nclue_build.corpus.supervisor import FailedPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nclue_build.corpus.supervisor import ReadDocument

BACKEND: Final = "pymupdf"
_MAX_KEPT_BYTES: Final = 4 << 20
"""Pages are kept decoded up to this size of all they say: about 300 pages, and 20 MiB in memory."""


class DocumentPages:
    """Makes the page rows of a document, one after the other, and sums them up.

    Args:
        read: What the supervisor returned.
        backend_version: Version of the reader library.
    """

    def __init__(self, read: ReadDocument, backend_version: str) -> None:
        """Look at all pages once."""
        self._read = read
        self._furniture = Furniture()
        self._scale = TypeScale()
        self._contents = Contents()
        self._references = References()
        payloads = [payload for payload in read.payloads if isinstance(payload, bytes)]
        is_short = sum(map(len, payloads)) <= _MAX_KEPT_BYTES
        self._kept: dict[int, RawPage] = {}
        for payload in payloads:
            page = decode_page(payload)
            self._furniture.observe(page)
            self._scale.observe(page)
            if is_short:
                self._kept[page.page] = page
        self._scale.settle()
        self._furniture.settle(self._scale.body_size)
        self._sums = DocumentSums(read.n_pages, BACKEND, backend_version, read.error)
        self.summary = self._sums.summary

    def rows(self) -> Iterator[bytes]:
        """Yield every page as a JSON row without document id; the summary is whole afterwards."""
        for number, payload in enumerate(self._read.payloads, 1):
            if isinstance(payload, FailedPage):
                yield self._sums.add_failed(payload)
            else:
                yield self._make_page(self._kept.pop(number) if number in self._kept else decode_page(payload))
        self._sums.finish(self._read.title, self._read.flags)

    def _make_page(self, page: RawPage) -> bytes:
        segments = self._segments(page)
        flags = set(page.flags)
        if page.rotation or any(segment.lines[0].direction for segment in segments[:1]):
            flags.add("rotated")
        blocks = [MadeBlock(segment.role, segment.level, segment.text, segment.bbox) for segment in segments]
        title = _title(segments) if self._sums.first_title is None else None
        return self._sums.add_page(page, blocks, flags, title, page.backend)

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


def _title(segments: list[Segment]) -> str | None:
    titles = [segment for segment in segments if segment.role == "title"]
    if not titles:
        return None
    biggest = max(titles, key=lambda segment: segment.size)
    return matching_text(biggest.text) or None
