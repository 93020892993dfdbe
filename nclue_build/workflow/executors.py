"""Executors: the one place that knows how work over documents is spread."""

from __future__ import annotations

import abc
import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Self, TypeVar

from nclue_build.core.collector import collect_rarely
from nclue_build.core.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from types import TracebackType

    from nclue_build.records.config import RunSection

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_IN_FLIGHT_PER_WORKER = 2


def available_cores() -> int:
    """Processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_mapper(settings: RunSection) -> PoolMapper:
    """The mapper that a configuration names; nothing starts before the first item comes."""
    if settings.executor == "dask":
        from nclue_build.workflow.cluster import DaskMapper  # noqa: PLC0415 - distributed is an extra, and slow to import

        return DaskMapper(settings.address)
    return LocalMapper(settings.workers)


class PoolMapper(abc.ABC):
    """Map over whatever runs functions elsewhere, a few items per worker in flight, results in order."""

    @property
    @abc.abstractmethod
    def n_workers(self) -> int:
        """How many items are worked on at a time."""

    def __enter__(self) -> Self:
        return self

    @abc.abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def map(self, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        """Yield ``function(item)`` for every item in the order of the items.

        Raises:
            InternalError: a worker died.
            UsageError: the workers cannot be reached.
        """
        pending: deque[Future[ResultT]] = deque()
        with self._explaining():
            for item in items:
                pending.append(self._submit(function, item))
                if len(pending) >= self.n_workers * _IN_FLIGHT_PER_WORKER:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    @abc.abstractmethod
    def _submit(self, function: Callable[[ItemT], ResultT], item: ItemT) -> Future[ResultT]:
        """Hand an item over."""

    @abc.abstractmethod
    def _explaining(self) -> contextlib.AbstractContextManager[None]:
        """Turn what the executor says of lost workers into an error of ours."""


class LocalMapper(PoolMapper):
    """Map over a process pool, or in this process when there is one worker.

    Workers are started with ``spawn`` (a forked copy of a threaded process can deadlock), only
    when the first item comes, and are gone when the block ends: at once when it ends with an
    exception, such as the one of Ctrl-C. With ``n_workers`` above 1 a program that calls the
    library needs the usual ``if __name__ == "__main__":`` guard.

    Args:
        n_workers: Processes; 0 means one per available core.
    """

    def __init__(self, n_workers: int = 0) -> None:
        self._n_workers = n_workers or available_cores()
        self._pool: ProcessPoolExecutor | None = None

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time."""
        return self._n_workers

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is None:
            return
        if kind is not None:
            # Waiting for items in progress could take minutes. terminate_workers() comes with Python 3.14.
            for process in list((self._pool._processes or {}).values()):  # noqa: SLF001 - no public way before 3.14
                process.terminate()
        # Futures that somebody cancels trip up a pool that finds its workers dead (fixed in later Pythons).
        self._pool.shutdown(wait=True, cancel_futures=kind is None)
        self._pool = None

    def map(self, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        """Yield ``function(item)`` for every item in the order of the items.

        Raises:
            InternalError: a worker process died.
        """
        if self._n_workers == 1:
            return map(function, items)
        return super().map(function, items)

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except BrokenProcessPool as error:
            raise InternalError(
                "a worker process died: killed from outside, out of memory, or started by a program without an "
                '`if __name__ == "__main__":` guard. Run again with fewer workers ([run] workers in the configuration)'
            ) from error

    def _submit(self, function: Callable[[ItemT], ResultT], item: ItemT) -> Future[ResultT]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._n_workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin_work
            )
        # A worker leaves Ctrl-C to its parent. It inherits the blocked signal, so that holds while it starts, too.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(function, item)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_work() -> None:
    collect_rarely()
    _follow_parent()


def _follow_parent() -> None:
    """Let a worker never outlive its parent.

    A parent that was killed cannot shut the pool down, and its queues never close: the workers hold both ends.
    """
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            with contextlib.suppress(OSError):
                parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
