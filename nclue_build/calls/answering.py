"""The seam to a live service: whoever answers requests with the bytes of responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.records.calls import CallRequest, Provenance
    from nclue_build.records.config import CallsSection


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it came.

    Args:
        request: What it answers.
        response: The body, a message of the Messages API.
        provenance: Where it comes from.
    """

    request: CallRequest
    response: bytes
    provenance: Provenance


class Answerer(Protocol):
    """Answers requests, live."""

    def answer(self, requests: Sequence[CallRequest]) -> Iterator[Answer]:
        """Yield an answer as soon as it is there, in any order; each is on the disk before the next one is taken.

        Args:
            requests: No two alike.

        Raises:
            CallError: it cannot go on; what it has yielded is kept.
        """


def live_answerer(config: CallsSection) -> Answerer:
    """The client of the configured service.

    Raises:
        UsageError: there is none in this version.
    """
    raise UsageError(
        f'[calls] mode = "{config.mode}" asks a live service, which this version cannot: set mode = "frozen" and let '
        "somebody answer what 'nclue-build calls export' writes"
    )
