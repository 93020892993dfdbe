"""Asynchronous work for callers that are not, or that are inside an event loop themselves."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Self

    ResultT = TypeVar("ResultT")


class Background:
    """An event loop in a thread of its own, for as long as the context lasts."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="live calls", daemon=True)

    def do(self, work: Coroutine[None, None, ResultT]) -> ResultT:
        """The result of work done in the loop; whoever is interrupted while waiting for it ends it."""
        doing = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return doing.result()
        finally:
            doing.cancel()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
