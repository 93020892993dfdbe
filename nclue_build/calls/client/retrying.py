"""Trying again: the one place that does, and the only module that knows tenacity."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, TypeVar

import tenacity

from nclue_build.calls.client.failures import AttemptFailedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nclue_build.records.config import CallsSection

    ResultT = TypeVar("ResultT")
    Sleep = Callable[[float], Awaitable[None]]

_FIRST_WAIT_S: Final = 1.0


def wait_s(failures: int, asked_s: float | None, max_wait_s: float) -> float:
    """Seconds before the next attempt.

    Args:
        failures: Attempts that failed so far.
        asked_s: Seconds the service wants to be left alone.
        max_wait_s: The longest wait.

    Returns:
        Between half and all of a second, doubled with every failure: calls that failed together do not come back
        together. At least what the service asks for, and a little at random on top.
    """
    full = min(_FIRST_WAIT_S * 2.0 ** (failures - 1), max_wait_s)
    share = random.uniform(0.5, 1.0)  # noqa: S311 - spreads requests in time, nothing else
    if asked_s is None:
        return full * share
    return min(asked_s + share * min(1.0, full), max_wait_s)


async def retried(
    attempt: Callable[[], Awaitable[ResultT]], config: CallsSection, sleep: Sleep, give_up: Callable[[], bool]
) -> tuple[ResultT, int]:
    """The result of the first attempt that does not fail, and how many it took.

    Args:
        attempt: One attempt.
        config: How often, how long.
        sleep: Waits.
        give_up: Whether the run is about to end, so that nothing is tried again.

    Raises:
        AttemptFailedError: the last one, or one that is not to be repeated.
    """

    def again(error: BaseException) -> bool:
        return (
            isinstance(error, AttemptFailedError)
            and error.reaction == "retry"
            and (error.retry_after_s or 0.0) <= config.max_wait_s
            and not give_up()
        )

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked_s = error.retry_after_s if isinstance(error, AttemptFailedError) else None
        return wait_s(state.attempt_number, asked_s, float(config.max_wait_s))

    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(config.max_attempts), tenacity.stop_before_delay(config.call_timeout_s)
        ),
        wait=wait,
        retry=tenacity.retry_if_exception(again),
        sleep=sleep,
        reraise=True,
    )

    async def once() -> ResultT:  # tenacity looks whether a function is asynchronous, and a lambda is not
        return await attempt()

    result: ResultT = await retrying(once)
    return result, int(retrying.statistics.get("attempt_number", 1))
