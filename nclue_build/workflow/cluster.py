"""Work on a dask cluster: the same functions over the same items, on other machines."""

from __future__ import annotations

import contextlib
import platform
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Final, TypeVar

from nclue_build.core.errors import InternalError, UsageError
from nclue_build.workflow.executors import PoolMapper
from nclue_build.workflow.packages import declared_packages, installed_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor, Future
    from types import TracebackType

    import distributed

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_CONNECT_TIMEOUT_S: Final = 30
_SHOWN: Final = 3


class DaskMapper(PoolMapper):
    """Map over the workers of a dask cluster, which see the workspace and the PDFs at the same paths.

    The connection is made when the first item comes. Workers must have the same packages as this process: others
    could give other results.

    Args:
        address: Of the scheduler, such as ``tcp://127.0.0.1:8786``.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: distributed.Client | None = None
        self._executor: Executor | None = None
        self._n_workers = 0

    @property
    def n_workers(self) -> int:
        """How many items are worked on at a time: the threads of all workers when the connection was made."""
        self._connected()
        return self._n_workers

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, executor = self._client, self._executor
        self._client = self._executor = None
        if client is None or executor is None:
            return
        try:
            if not isinstance(error, UsageError | InternalError):
                # Nothing can stop what runs on a worker. A later run must not find it writing still.
                executor.shutdown(wait=True)
        finally:
            client.close()

    def _connected(self) -> Executor:
        if self._executor is None:
            try:
                import distributed  # noqa: PLC0415 - an extra, and slow to import
            except ImportError:
                raise UsageError(
                    "[run] executor = \"dask\" needs the package distributed: pip install 'nclue-build[dask]'"
                ) from None
            try:
                client = distributed.Client(self._address, timeout=_CONNECT_TIMEOUT_S, set_as_default=False)
            except (OSError, ValueError) as error:
                raise self._unreachable() from error
            self._client = client
            try:
                client.wait_for_workers(1, timeout=_CONNECT_TIMEOUT_S)
            except TimeoutError:
                raise UsageError(
                    f"the dask scheduler at {self._address} has no workers: start some with "
                    f"'dask worker {self._address}'"
                ) from None
            self._n_workers = sum(client.nthreads().values())
            self._check_workers(client)
            self._executor = client.get_executor(pure=False)
        return self._executor

    def _check_workers(self, client: distributed.Client) -> None:
        """Refuse workers that could give other results.

        Raises:
            UsageError: a worker lacks this package, or has another Python or other packages.
        """
        try:
            found = client.run(environment)
        except ImportError as error:
            raise UsageError(
                f"a dask worker cannot import what it needs ({error}): install the same nclue-build there"
            ) from error
        ours = environment()
        for worker, theirs in sorted(found.items()):
            if different := sorted(name for name in ours if theirs.get(name) != ours[name]):
                listed = ", ".join(f"{name} {theirs.get(name)} instead of {ours[name]}" for name in different[:_SHOWN])
                raise UsageError(
                    f"dask worker {worker} could give other results: it has {listed}. Install the same packages there"
                )

    def _submit(self, function: Callable[[ItemT], ResultT], item: ItemT) -> Future[ResultT]:
        return self._connected().submit(function, item)

    def _unreachable(self) -> UsageError:
        return UsageError(
            f"no dask scheduler answers at {self._address!r} ([run] address): start one with 'dask scheduler', "
            'or set executor = "local"'
        )

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except CancelledError as error:  # what becomes of everything when the scheduler has gone
            raise self._unreachable() from error
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            raise InternalError(
                "a dask worker died several times over the same document: killed from outside, or out of memory. "
                "Run again with fewer threads or more memory per worker"
            ) from error


def environment() -> dict[str, str]:
    """What decides results on a machine: the versions of Python and of the packages we declare."""
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {name: installed_version(name) or "none" for name in ("nclue-build", *declared_packages())}
    return {"python": python} | versions
