"""The seam to a live service: whoever answers requests with the bytes of responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.core.progress import Progress
    from nclue_build.core.spending import Spending
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


def live_answerer(config: CallsSection, spending: Spending, progress: Progress) -> Answerer:
    """The client of the configured service.

    Args:
        config: The ``[calls]`` table.
        spending: What the run may spend.
        progress: Listener for warnings.

    Raises:
        UsageError: the environment names no service or no credential.
    """
    from nclue_build.calls.client.live import LiveClient  # noqa: PLC0415 - a replay does without it

    return LiveClient(config, spending, progress)
