"""Answering requests live: so many at a time, within what may be spent, until too much fails."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from nclue_build.calls.answering import Answer
from nclue_build.calls.client.background import Background
from nclue_build.calls.client.endpoint import find_endpoint
from nclue_build.calls.client.failures import AttemptFailedError
from nclue_build.calls.client.retrying import retried
from nclue_build.calls.client.transport import Transport
from nclue_build.calls.key import call_key
from nclue_build.calls.sizes import most, price_of, taken
from nclue_build.calls.strict_json import read_object
from nclue_build.core.errors import BudgetReached, Finding, PermanentCallError, TransientCallError
from nclue_build.core.phrases import counted
from nclue_build.core.printable import printable_problem
from nclue_build.core.spending import Amount
from nclue_build.records.calls import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nclue_build.calls.client.endpoint import Endpoint
    from nclue_build.calls.client.retrying import Sleep
    from nclue_build.calls.strict_json import JsonObject
    from nclue_build.core.errors import CallError
    from nclue_build.core.progress import Progress
    from nclue_build.core.spending import Spending
    from nclue_build.records.calls import CallRequest
    from nclue_build.records.config import CallsSection, PriceRow

_NAME_LENGTH: Final = 200
_MOST_USAGE: Final = 10**12


class LiveClient:
    """Asks the configured service (:class:`nclue_build.calls.answering.Answerer`).

    Args:
        config: The ``[calls]`` table.
        spending: What the run may still spend.
        progress: Listener for warnings.
        sleep: Waits between attempts; for tests.

    Raises:
        UsageError: the environment names no service or no credential.
    """

    def __init__(
        self, config: CallsSection, spending: Spending, progress: Progress, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._config, self._spending, self._sleep = config, spending, sleep
        self._endpoint = find_endpoint(config)
        self._price = price_of(config, _now()[:10])
        if self._price is None and spending.max_cost is not None:
            progress.warn(
                f"there is no price of {config.model} ([calls] prices): --max-cost {spending.max_cost} limits nothing"
            )

    def answer(self, requests: Sequence[CallRequest]) -> Iterator[Answer]:
        """Yield answers as they come.

        A request is begun only when what came before it was taken, so that never more than ``concurrency`` answers
        can get lost in a kill; at most as many are asked for twice.

        Raises:
            PermanentCallError: credentials, spending, address: every other call would fail, too.
            TransientCallError: too many calls in a row failed, or some did after all their attempts.
            BudgetReached: the next call might go beyond what the run may spend.
        """
        with Background() as background:
            asking = _Asking(self._config, self._endpoint, self._spending, self._price, self._sleep)
            background.do(asking.open(requests))
            try:
                while answers := background.do(asking.next()):
                    yield from answers
            finally:
                background.do(asking.close())
        if (error := asking.error()) is not None:
            raise error


class _Asking:
    """One run over requests; every method but :meth:`error` runs in the event loop."""

    def __init__(
        self, config: CallsSection, endpoint: Endpoint, spending: Spending, price: PriceRow | None, sleep: Sleep
    ) -> None:
        self._config, self._endpoint, self._spending, self._price, self._sleep = (
            config, endpoint, spending, price, sleep,
        )  # fmt: skip
        self._waiting: deque[CallRequest] = deque()
        self._running: dict[asyncio.Task[bytes], tuple[CallRequest, Amount]] = {}
        self._total = self._answered = self._in_a_row = 0
        self._failures: list[Finding] = []
        self._refused = False
        self._end: CallError | None = None
        self._ended = asyncio.Event()

    async def open(self, requests: Sequence[CallRequest]) -> None:
        self._waiting.extend(requests)
        self._total = len(requests)
        self._transport = Transport(self._endpoint, self._config)

    async def close(self) -> None:
        self._waiting.clear()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._transport.close()

    async def next(self) -> list[Answer]:
        """Answers that have come; none when there will be no more. What is under way is waited for even at the end."""
        while True:
            self._begin()
            if not self._running:
                return []
            done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            answers = [answer for task in list(self._running) if task in done and (answer := self._finish(task))]
            if answers:
                return answers

    def _begin(self) -> None:
        while self._waiting and self._end is None and len(self._running) < self._config.concurrency:
            request = self._waiting[0]
            reserved = most([request], self._price)
            if (limit := self._spending.reserve(reserved)) is not None:
                if self._running:
                    return  # what those under way do not use of their worst case may be enough
                self._end = self._out_of_budget(limit, reserved)
                return
            self._waiting.popleft()
            self._running[asyncio.create_task(self._call(request))] = request, reserved

    async def _call(self, request: CallRequest) -> bytes:
        last: list[AttemptFailedError] = []

        async def attempt() -> bytes:
            if last and self._ended.is_set():  # while it waited
                raise last[0]
            try:
                return await self._transport.send(request)
            except AttemptFailedError as error:
                last[:] = [error]
                raise

        try:
            async with asyncio.timeout(self._config.call_timeout_s):
                body, _ = await retried(attempt, self._config, self._rest, self._ended.is_set)
                return body
        except TimeoutError:
            message = f"no answer in {self._config.call_timeout_s} seconds, all attempts together"
            raise AttemptFailedError(message, "retry") from None

    async def _rest(self, seconds: float) -> None:
        """Wait, unless the run ends."""
        waits = [asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._ended.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _finish(self, task: asyncio.Task[bytes]) -> Answer | None:
        request, reserved = self._running.pop(task)
        try:
            body = task.result()
        except AttemptFailedError as error:
            self._spending.settle(reserved, Amount(0, None))
            self._fail(request, error)
            return None
        message = read_object(body)
        usage = _usage(message)
        self._spending.settle(reserved, taken(request, usage, self._price))
        self._answered += 1
        self._in_a_row = 0
        return Answer(request, body, self._provenance(message, usage))

    def _provenance(self, message: JsonObject, usage: dict[str, int]) -> Provenance:
        echoed = message.get("model")
        plain = isinstance(echoed, str) and 0 < len(echoed) <= _NAME_LENGTH and not printable_problem(echoed)
        return Provenance(
            endpoint_host=self._endpoint.host,
            model_echoed=str(echoed) if plain else None,
            usage=usage,
            time=_now(),
            sdk_version=self._transport.sdk_version,
        )

    def _fail(self, request: CallRequest, error: AttemptFailedError) -> None:
        self._failures.append(
            Finding("call-failed", f"a {request.prompt_id} call: {error.message}", id=call_key(request))
        )
        self._refused = self._refused or error.reaction != "retry"
        self._in_a_row += 1
        if self._end is not None:
            return
        where = f"{self._config.model} at {self._endpoint.host}"
        if error.reaction == "run":
            message = f"{where}: {error.message}. Every other call would fail, too, so none was made. {self._kept()}"
            self._end = PermanentCallError(message, self._failures)
        elif self._in_a_row >= self._config.max_failures:
            message = f"{where}: {counted(self._in_a_row, 'call')} in a row failed, the last one: {error.message}"
            self._end = TransientCallError(f"{message}. {self._kept()}", self._failures)
        if self._end is not None:
            self._ended.set()

    def _out_of_budget(self, limit: str, reserved: Amount) -> BudgetReached:
        spent = f"{counted(self._spending.calls, 'call')} and {counted(self._spending.tokens, 'token')} so far"
        return BudgetReached(
            f"stopped at {limit} ({spent}; the next call can take {counted(reserved.tokens, 'token')}). {self._kept()}"
        )

    @staticmethod
    def _kept() -> str:
        return "What was answered is kept: run again to go on"

    def error(self) -> CallError | None:
        """Why not everything was answered; None when it was."""
        if self._end is not None:
            self._end.findings = tuple(self._failures)
            return self._end
        if not self._failures:
            return None
        first = self._failures[0].message
        message = (
            f"{len(self._failures)} of {counted(self._total, 'call')} failed, the first one: {first}. {self._kept()}"
        )
        return (PermanentCallError if self._refused else TransientCallError)(message, self._failures)


def _usage(message: JsonObject) -> dict[str, int]:
    """Counts of the usage, and nothing else of it."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return {}
    return {
        name: value
        for name, value in sorted(usage.items())
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_USAGE
        if len(name) <= _NAME_LENGTH and not printable_problem(name)
    }


def _now() -> str:
    """Time of day, UTC, in seconds: kept with a record, never part of a result."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
