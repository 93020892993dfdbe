"""What became of each document, and the sums."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from nclue_build.core.errors import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.store.workspace import Build

Failure = Literal["mismatch", "gone", "not-pdf", "too-large", "failed"]
"""Why a document is not there; the same words say why one place did not give it."""
Status = Literal["ok", "already-there", "recorded"] | Failure
"""``recorded``: it came, and no SHA-256 was known to check it by."""
STATUSES: Final[tuple[Status, ...]] = ("ok", "already-there", "recorded", *get_args(Failure))
_CODES: Final[Mapping[str, str]] = MappingProxyType({
    "mismatch": "digest-differs",
    "gone": "fetch-gone",
    "not-pdf": "fetch-not-pdf",
    "too-large": "fetch-too-large",
    "failed": "fetch-failed",
    "recorded": "fetch-cut-short",
})  # fmt: skip


class PlaceError(Exception):
    """Why one place does not give a document.

    Args:
        status: What it means for the document, when no other place has it.
        reason: The same in words.
        again: Whether the same place may give it a little later.
        wait_s: How long the server asked to be left alone; None when it said nothing.
    """

    def __init__(self, status: Failure, reason: str, *, again: bool = False, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.status: Failure = status
        self.reason = reason
        self.again = again
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one document.

    Args:
        doc_id: Its id.
        status: In a word.
        path: Where its file lies or would lie, relative to the workspace.
        sha256: Digest of the file; None where there is none.
        n_bytes: Size of the file.
        place: Where it came from, when it came now.
        n_received: Bytes that came over the network or out of a local folder, failures included.
        message: What there is to say of it; None when all is well.
    """

    doc_id: str
    status: Status
    path: str
    sha256: str | None = None
    n_bytes: int | None = None
    place: str | None = None
    n_received: int = 0
    message: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether the document is a file now."""
        return self.status in {"ok", "already-there", "recorded"}

    def finding(self, shown: str, line: int) -> Finding | None:
        """What is wrong with it; None when nothing is."""
        if self.message is None:
            return None
        return Finding(_CODES[self.status], f"{self.doc_id}: {self.message}", shown, line, self.doc_id)


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What fetching did.

    Args:
        build: The build.
        outcomes: One per document asked for, sorted by id.
        findings: What went wrong, in the order of the corpus file.
        n_listed: Documents of the corpus file.
        n_recorded: Rows of ``documents.jsonl`` that got a digest; None when that was not asked for.
    """

    build: Build
    outcomes: tuple[Outcome, ...]
    findings: tuple[Finding, ...]
    n_listed: int
    n_recorded: int | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Documents per status, all of them named."""
        found = Counter(outcome.status for outcome in self.outcomes)
        return {status: found[status] for status in STATUSES}

    @property
    def n_received(self) -> int:
        """Bytes that came, failures included."""
        return sum(outcome.n_received for outcome in self.outcomes)

    @property
    def ok(self) -> bool:
        """Whether any document is there: fetching is no use only when all fail."""
        return not self.outcomes or any(outcome.is_there for outcome in self.outcomes)
