"""Corpus rows, page rows, extraction outcomes and duplicate groups."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
    model_validator,
)

from nclue_build.core.printable import printable_problem, without_controls
from nclue_build.records.base import Count, DocumentId, Id, Page, Record, Sha256

Role = Literal[
    "title",
    "text",
    "list",
    "table",
    "caption",
    "figure",
    "equation",
    "code",
    "header",
    "footer",
    "page_number",
    "footnote",
    "toc",
    "reference",
    "other",
]
PageStatus = Literal["ok", "empty", "failed"]
Centipoint = int
"""1/100 pt."""


MAX_PAGES: Final = 1_000_000
"""No PDF that can be read has more pages: a larger number is a mistake."""


def _check_line(value: str) -> str:
    if problem := printable_problem(value):
        raise ValueError(problem)
    return value


def _check_not_blank(value: str) -> str:
    if not value.strip():
        message = "is blank"
        raise ValueError(message)
    return value


def _check_file_name(value: str) -> str:
    if PurePosixPath(value).is_absolute():
        message = "must be relative, not absolute: lists of documents are to be true wherever they lie"
        raise ValueError(message)
    if "\0" in value:
        message = "has a NUL character, which no file name can have"
        raise ValueError(message)
    return value


Line = Annotated[str, AfterValidator(_check_line)]
"""Text without control characters: it fits on one line of a table or message."""
TitleLine = Annotated[str, AfterValidator(without_controls), AfterValidator(_check_line)]
"""The same, but control characters are taken out: titles come out of PDFs, where they are common and mean nothing."""


class CorpusRow(Record):
    """A document of the corpus: ``corpus.jsonl`` as given, ``documents.jsonl`` completed.

    Only ``doc_id``, ``source`` and a file or URL are required; ``file_name`` is relative
    to the corpus file (or to the folder of PDFs).
    """

    doc_id: DocumentId
    source: Annotated[Line, Field(min_length=1), AfterValidator(_check_not_blank)]
    """Where the document comes from: shares of pages read and the mix of queries are per source."""
    title: TitleLine | None = None
    url: str | None = None
    pdf_url: str | None = None
    sha256: Sha256 | None = None
    """Of the file; filled in when absent, an error when it differs."""
    bytes: Count | None = None
    n_pages: Annotated[int, Field(ge=0, le=MAX_PAGES)] | None = None
    language: str | None = None
    license: str | None = None
    license_note: str | None = None
    published: str | None = None
    retrieved_at: str | None = None
    archive_url: str | None = None
    file_name: Annotated[str, Field(min_length=1), AfterValidator(_check_file_name)] | None = None
    """Relative to the corpus file, or to the folder of PDFs."""

    @model_validator(mode="after")
    def _has_a_file_or_url(self) -> CorpusRow:
        if self.file_name is None and self.pdf_url is None and self.url is None:
            message = "a document needs a file_name or a URL (url or pdf_url)"
            raise ValueError(message)
        return self


class Block(Record):
    """A typed piece of a page in reading order; ``bbox`` is x0, y0, x1, y1 in 1/100 pt.

    ``html`` is a table as the program that read it has it, tags and all; the key is left out where there is none.
    Nothing is mined from it: what a page says is ``text``.
    """

    role: Role
    level: Annotated[int, Field(ge=1, le=6)] | None = None
    text: str
    bbox: tuple[Centipoint, Centipoint, Centipoint, Centipoint] | None = None
    html: Annotated[str, Field(min_length=1)] | None = None

    @model_serializer(mode="wrap")
    def _without_absent_html(self, dump: SerializerFunctionWrapHandler) -> dict[str, object]:
        row: dict[str, object] = dump(self)
        if self.html is None:
            row.pop("html", None)
        return row


class CachedPage(Record):
    """A page as the reader made it: keyed by PDF and reader digest, so it holds no document id."""

    page: Page
    page_label: str | None = None
    width: Centipoint
    height: Centipoint
    rotation: Literal[0, 90, 180, 270] = 0
    backend: str
    backend_version: str
    status: PageStatus
    flags: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    text_sha256: Sha256


class _OfDocument(Record):
    """What a row is about; as the last base it gives a row its first field."""

    doc_id: DocumentId


class PageRow(CachedPage, _OfDocument):
    """``inventory/<build>/pages/<doc_id>.jsonl``: a page of a document, one a line, every page present."""


class DocumentQuality(Record):
    """Extraction outcome of a document (``documents_quality.jsonl``, ``kind = document``).

    ``in_benchmark`` says whether the document stays in the benchmark's corpus;
    ``removed`` names the reason when it does not. ``gold_eligible`` is false for documents that may be
    judged but never serve as a gold (not English, placeholder text), ``flags`` say why.
    """

    kind: Literal["document"] = "document"
    doc_id: DocumentId
    source: str
    status: Literal["ok", "partial", "failed"]
    n_pages: Count
    pages_ok: Count
    pages_empty: Count
    pages_failed: Count
    n_words: Count
    language: str | None
    flags: tuple[str, ...]
    in_benchmark: bool
    gold_eligible: bool
    removed: Literal["unreadable", "no_text", "source_below_rate", "duplicate"] | None
    message: str | None

    @model_validator(mode="after")
    def _is_consistent(self) -> DocumentQuality:
        if self.in_benchmark != (self.removed is None):
            message = "a document is in the benchmark's corpus, or removed for a reason"
            raise ValueError(message)
        return self


class SourceQuality(Record):
    """Extraction rate of a source (``documents_quality.jsonl``, ``kind = source``).

    The rate is (pages ok + pages legitimately empty) / pages, kept as two integers.
    """

    kind: Literal["source"] = "source"
    source: str
    n_documents: Count
    n_pages: Count
    pages_passed: Count
    passed: bool


QualityRow = Annotated[DocumentQuality | SourceQuality, Field(discriminator="kind")]
"""A row of ``documents_quality.jsonl``."""
QUALITY_ROW: Final[TypeAdapter[DocumentQuality | SourceQuality]] = TypeAdapter(QualityRow)


class DuplicateGroup(Record):
    """Documents with the same bytes, the same text or nearly the same text (``duplicates.jsonl``)."""

    group_id: Id
    kind: Literal["exact", "same_text", "near"]
    representative: DocumentId
    doc_ids: tuple[DocumentId, ...]
    removed: tuple[DocumentId, ...]
    similarity_percent: Annotated[int, Field(ge=0, le=100)] | None = None
