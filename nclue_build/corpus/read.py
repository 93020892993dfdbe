"""What became of reading a document: its pages as they were read, and the rows made of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

import orjson

from nclue_build.corpus.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.corpus.lines import FailedPage


class MadeDocument(NamedTuple):
    """The page rows of a document, each as JSON without document id, and what they sum up to."""

    summary: Summary
    rows: Sequence[bytes]

    def lines(self) -> Iterator[bytes]:
        """All of it as lines of JSON without their ends: what files and pipes carry."""
        yield orjson.dumps(asdict(self.summary) | {"signature": self.summary.signature.hex()})
        yield from self.rows

    @classmethod
    def of_lines(cls, lines: Sequence[bytes]) -> Self:
        """What :meth:`lines` gave.

        Raises:
            KeyError, TypeError, ValueError: this is something else.
        """
        head, *rows = lines
        known = orjson.loads(head)
        known["signature"] = bytes.fromhex(known["signature"])
        known["problems"] = [(page, flag, reason) for page, flag, reason in known["problems"]]
        return cls(Summary(**known), rows)


@dataclass(slots=True)
class ReadDocument:
    """What was read of a document.

    Args:
        n_pages: 0 when it could not be opened.
        title: From the document's own metadata.
        payloads: Page payload or failure per page; every page is present.
        error: Why the document could not be opened.
        flags: What the reader has to say of the whole document.
        hit_limit: Whether a time or memory limit, or a crash, had a part in the result: then it must
            not be cached, since another machine could do better.
        made: What the reader itself has made of these payloads, where it has.
    """

    n_pages: int = 0
    title: str | None = None
    payloads: list[bytes | FailedPage] = field(default_factory=list)
    error: str | None = None
    flags: list[str] = field(default_factory=list)
    hit_limit: bool = False
    made: MadeDocument | None = None
