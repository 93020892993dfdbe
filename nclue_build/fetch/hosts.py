"""Manners towards hosts: so many requests at a time, a pause between them, and silence where one asks for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from nclue_build.fetch.outcome import PlaceError
from nclue_build.fetch.retry import MAX_WAIT_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from types import TracebackType


class Deadline:
    """The time a document may take; waiting for its turn at a host does not count.

    Args:
        seconds: How long the block may last, waits aside.

    Raises:
        TimeoutError: on leaving, when it lasted longer.
    """

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, trace)

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Time in this block does not count."""
        due, clock = self._timeout.when(), asyncio.get_running_loop().time
        began = clock()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            if due is not None and not self._timeout.expired():
                self._timeout.reschedule(due + clock() - began)


@dataclass(slots=True)
class _Host:
    """A host: who may ask it now, and from when on (time of the event loop) the next one may."""

    slots: asyncio.Semaphore
    order: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0


class Hosts:
    """The hosts of a run.

    Args:
        at_a_time: Requests a host answers at the same time.
        pause_s: Seconds from the beginning of a request to that of the next one to the same host.
    """

    def __init__(self, at_a_time: int, pause_s: float) -> None:
        self._pause_s = pause_s
        self._hosts: defaultdict[str, _Host] = defaultdict(lambda: _Host(asyncio.Semaphore(at_a_time)))

    @contextlib.asynccontextmanager
    async def turn(self, name: str, deadline: Deadline) -> AsyncIterator[None]:
        """Wait until a host may be asked; it is being asked while the block lasts.

        Raises:
            PlaceError: it wants to be left alone for longer than is waited for.
        """
        host = self._hosts[name]
        clock = asyncio.get_running_loop().time
        async with contextlib.AsyncExitStack() as held:
            with deadline.standing_still():
                await held.enter_async_context(host.slots)
                async with host.order:
                    while (wait_s := host.free_at - clock()) > 0:  # others may lengthen it meanwhile
                        if wait_s > MAX_WAIT_S:
                            raise left_alone("not asked", wait_s)
                        await asyncio.sleep(wait_s)
                    host.free_at = clock() + self._pause_s
            yield

    def leave_alone(self, name: str, wait_s: float) -> None:
        """Let nobody ask a host for so long."""
        host = self._hosts[name]
        host.free_at = max(host.free_at, asyncio.get_running_loop().time() + wait_s)


def left_alone(reason: str, wait_s: float) -> PlaceError:
    """The error of a place whose host is not waited for."""
    return PlaceError("failed", f"{reason}; the server asks to be left alone for {wait_s:.0f} s")
