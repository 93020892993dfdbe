"""A stage's way to replies: from the records, or, where the mode allows it, from a live service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nclue_build.calls.answering import live_answerer
from nclue_build.calls.cache import CallCache
from nclue_build.calls.key import key_of, request_bytes
from nclue_build.calls.line import CallRecord, decode_line
from nclue_build.calls.misses import frozen_miss
from nclue_build.calls.outcomes import read_record, used_call
from nclue_build.calls.pending import write_pending
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.replay import Replay, state_of
from nclue_build.calls.response import NotAMessageError, check_message, read_response
from nclue_build.calls.seal import seal
from nclue_build.calls.segment import Segment
from nclue_build.core.errors import TransientCallError, UsageError
from nclue_build.core.spending import Spending
from nclue_build.records.calls import PendingCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from nclue_build.calls.outcomes import Outcome, ReplyT
    from nclue_build.core.progress import Progress
    from nclue_build.records.calls import CallRequest, UsedCall
    from nclue_build.records.config import CallsSection
    from nclue_build.store.workspace import Build


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, and what it is about for people."""

    label: str
    request: CallRequest


class Calls:
    """The calls of one stage in one run.

    Args:
        build: The build.
        config: Its ``[calls]`` table.
        stage: The stage that asks.
        progress: Listener for progress.
        spending: What live calls may take; anything by default.
    """

    def __init__(
        self,
        build: Build,
        config: CallsSection,
        stage: Literal["mine", "compose"],
        progress: Progress,
        spending: Spending | None = None,
    ) -> None:
        self.config = config
        self._spending = spending or Spending()
        self._build, self._stage, self._progress = build, stage, progress
        self._places = CallPlaces(build, config.generation)
        self._used: dict[str, UsedCall] = {}
        self._fresh: dict[str, CallRecord] = {}
        if config.mode == "refresh" and config.generation == 1:
            raise UsageError(
                '[calls] mode = "refresh" asks anew and keeps the replies there are: give it a generation from 2 on'
            )
        if config.mode == "record" and config.generation > 1 and not self._places.sealed.is_dir():
            raise UsageError(
                f'[calls] generation = {config.generation} does not exist yet: it is begun with mode = "refresh"'
            )
        if config.mode != "frozen":
            seal(self._places)
        self._cache = CallCache(self._places)

    @property
    def used(self) -> list[UsedCall]:
        """Every call that was used so far, by key."""
        return [self._used[key] for key in sorted(self._used)]

    def replay(self, prompt_id: str) -> Replay:
        """The recorded calls to a prompt, for workers that look up replies by themselves.

        What they do not find is to be asked here (:meth:`ask`), and what they use to be noted (:meth:`note_used`).

        Raises:
            CacheCorrupt: a line is no record.
            CacheConflict: a call of the prompt has different replies.
        """
        self._cache.open(prompt_id)
        self._warn_of_torn()
        return Replay(self._places, state_of(self._places, prompt_id))

    def note_used(self, row: UsedCall) -> None:
        """Keep a row for the list of used calls."""
        self._used[row.key] = row

    def ask(self, asks: Sequence[Ask], kind: type[ReplyT], *, required: bool = True) -> list[Outcome[ReplyT] | None]:
        """The outcomes of calls, in their order.

        Args:
            asks: What to ask; equal requests are one call.
            kind: The reply that their schema has.
            required: Whether missing replies are an error in mode ``frozen``; if not, their outcome is None.

        Raises:
            FrozenMiss: with all calls that have no recorded reply; they are written to be answered.
            CacheCorrupt: a record is damaged, or was stored under other rules.
            CacheConflict: a call has different replies.
            CallError: a live service failed; what it answered is kept.
        """
        records: list[CallRecord | None] = []
        missing: dict[str, Ask] = {}
        for ask in asks:
            canonical = request_bytes(ask.request)
            key = key_of(canonical)
            record = self._fresh.get(key) or self._cache.find_reply(ask.request, canonical, key)
            if record is None:
                missing.setdefault(key, ask)
            records.append(record)
        self._warn_of_torn()
        if missing and self.config.mode != "frozen":
            self._record(missing)
            return self.ask(asks, kind, required=required)
        if missing:
            pending = [
                PendingCall(key=key, stage=self._stage, label=ask.label, request=ask.request)
                for key, ask in missing.items()
            ]
            batch = write_pending(self._build, self._stage, pending, required=required)
            if required:
                raise frozen_miss(self._build, self._cache, pending, batch, unsealed=len(self._places.segments()))
        elif required:
            write_pending(self._build, self._stage, [], required=True)
        return [None if record is None else self._outcome(record, kind) for record in records]

    def _warn_of_torn(self) -> None:
        for row in self._cache.torn:
            self._progress.warn(str(row))
        self._cache.torn.clear()

    def _outcome(self, record: CallRecord, kind: type[ReplyT]) -> Outcome[ReplyT]:
        outcome = read_record(record, kind, self._places)
        self.note_used(used_call(record))
        return outcome

    def _record(self, missing: dict[str, Ask]) -> None:
        """Ask a live service, and keep every answer as soon as it is there."""
        answerer = live_answerer(self.config, self._spending, self._progress)
        self._progress.start(f"{self._stage}: ask {self.config.model}", len(missing), "calls")
        try:
            with Segment(self._places, (self.config.key_env,)) as segment:
                for answer in answerer.answer([ask.request for ask in missing.values()]):
                    try:
                        reading = read_response(check_message(answer.response), answer.request)
                    except NotAMessageError as error:
                        raise TransientCallError(f"{self.config.model} answered with something else: {error}") from None
                    line = segment.append(answer.request, reading.status, answer.response, answer.provenance)
                    record = decode_line(line)
                    self._fresh[record.key] = record
                    self._progress.advance()
        finally:
            seal(self._places)
        left = [key for key in missing if key not in self._fresh]
        if left:
            raise TransientCallError(f"{len(left)} of {len(missing)} calls were not answered: run again to go on")


def answered_by(used: Iterable[UsedCall], prompt_ids: Iterable[str]) -> str | None:
    """Who answered the calls to some prompts, in one line; None when there were none."""
    wanted = frozenset(prompt_ids)
    names = sorted({row.answered_by for row in used if row.prompt_id in wanted})
    return ", ".join(names) or None
