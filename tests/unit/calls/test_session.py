"""A stage's way to replies: frozen, recording, refreshing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls import session
from nclue_build.calls.answering import Answer
from nclue_build.calls.key import call_key
from nclue_build.calls.outcomes import read_record
from nclue_build.calls.pending import batch_file, read_pending
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.replay import state_of
from nclue_build.calls.replies import ClusterReply, ItemReply
from nclue_build.calls.session import Ask, Calls, answered_by
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import CacheCorrupt, FrozenMiss, PermanentCallError, TransientCallError, UsageError
from nclue_build.core.progress import NullProgress
from nclue_build.records.calls import Provenance
from nclue_build.records.config import CallsSection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nclue_build.calls.line import CallRecord
    from nclue_build.records.calls import CallRequest


class FakeService:
    """Answers like a service would; ``replies`` by the text of the request."""

    def __init__(self, respond: Callable[[CallRequest], bytes], fail_after: int | None = None) -> None:
        self.asked: list[CallRequest] = []
        self.respond, self.fail_after = respond, fail_after

    def answer(self, requests: Sequence[CallRequest]) -> Iterator[Answer]:
        for request in reversed(requests):  # any order will do
            if self.fail_after is not None and len(self.asked) >= self.fail_after:
                raise PermanentCallError("no money left")
            self.asked.append(request)
            yield Answer(request, self.respond(request), Provenance(endpoint_host="h", model_echoed="m"))


@pytest.fixture
def open_calls(places: CallPlaces) -> Callable[..., Calls]:
    return lambda **fields: Calls(places.build, CallsSection(**fields), "mine", NullProgress())


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, make_response: Callable[..., bytes]) -> FakeService:
    made = FakeService(lambda _: make_response())
    monkeypatch.setattr(session, "live_answerer", lambda *_: made)
    return made


def asks(make_request: Callable[..., CallRequest], *texts: str, **fields: Any) -> list[Ask]:
    return [Ask(text, make_request(text, **fields)) for text in texts]


def test_recording_asks_for_what_is_missing_and_no_more(
    places: CallPlaces, open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest]
) -> None:
    found = open_calls(mode="record").ask(asks(make_request, "a", "b", "a"), ClusterReply)
    assert [outcome.status for outcome in found if outcome] == ["ok", "ok", "ok"]
    assert len(service.asked) == 2  # equal requests are one call
    open_calls(mode="record").ask(asks(make_request, "a", "b", "c"), ClusterReply)
    assert len(service.asked) == 3
    frozen = open_calls()
    outcomes = frozen.ask(asks(make_request, "c", "a"), ClusterReply)
    assert [outcome.key for outcome in outcomes if outcome] == [
        call_key(make_request("c")),
        call_key(make_request("a")),
    ]
    assert len(service.asked) == 3
    assert [row.answered_by for row in frozen.used] == ["glm-5.2", "glm-5.2"]
    assert answered_by(frozen.used, ["cluster"]) == "glm-5.2"
    assert answered_by(frozen.used, ["item"]) is None
    assert places.segments() == []


def test_a_frozen_run_lists_every_miss_with_the_nearest_record(
    places: CallPlaces, open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest]
) -> None:
    recorded = [f"Name: concept {number}\nIn {number} documents" for number in range(30)]
    open_calls(mode="record").ask(asks(make_request, *recorded), ClusterReply)
    wanted = [
        *asks(make_request, recorded[7], prompt_version=2, prompt_sha256="cd" * 32),
        *asks(make_request, "Name: concept 9\nIn 10 documents"), *asks(make_request, recorded[3], model="glm-9"),
        *asks(make_request, recorded[4]), *asks(make_request, *(f"new {number}" for number in range(20))),
    ]  # fmt: skip
    with pytest.raises(FrozenMiss) as caught:
        open_calls().ask(wanted, ClusterReply)
    error = caught.value
    assert error.exit_code == 4
    assert {row.code for row in error.findings} == {"frozen-miss"}
    assert [row.id for row in error.findings] == [call_key(wanted[i].request) for i in (0, 1, 2, *range(4, 24))]
    keys = {number: call_key(make_request(recorded[number]))[:12] for number in (3, 7, 9)}
    messages = [row.message for row in error.findings]
    assert f"nearest record {keys[7]} differs in prompt_version, prompt_sha256" in messages[0]
    assert (
        f"nearest record {keys[9]} differs in messages (line 2: asked 'In 10 documents', recorded 'In 9" in messages[1]
    )
    assert f"nearest record {keys[3]} differs in model" in messages[2]
    assert "and 13 more" in error.message
    assert "calls import" in error.message
    pending = read_pending(places.build)
    assert {row.key for row in pending} == {row.id for row in error.findings}
    assert batch_file(places.build).read_bytes().count(b"\n") == 23
    assert len(service.asked) == 30


def test_a_first_run_has_nothing_near(
    open_calls: Callable[..., Calls], make_request: Callable[..., CallRequest]
) -> None:
    with pytest.raises(FrozenMiss, match="nothing is recorded for this prompt"):
        open_calls().ask(asks(make_request, "a"), ClusterReply)


def test_calls_that_can_be_done_without_are_no_error(
    places: CallPlaces, open_calls: Callable[..., Calls], make_request: Callable[..., CallRequest]
) -> None:
    assert open_calls().ask(asks(make_request, "a"), ClusterReply, required=False) == [None]
    assert read_pending(places.build) == []
    assert len(read_pending(places.build, required=False)) == 1


def test_a_service_that_fails_loses_nothing_that_was_answered(
    places: CallPlaces, open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest]
) -> None:
    service.fail_after = 3
    with pytest.raises(PermanentCallError, match="no money left"):
        open_calls(mode="record").ask(asks(make_request, *"abcde"), ClusterReply)
    assert verify_calls(places).records == 3
    service.fail_after = None
    open_calls(mode="record").ask(asks(make_request, *"abcde"), ClusterReply)
    assert len(service.asked) == 5


def test_an_answer_is_on_the_disk_before_another_is_taken_and_before_it_is_used(
    places: CallPlaces,
    open_calls: Callable[..., Calls],
    service: FakeService,
    make_request: Callable[..., CallRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kill loses only what is under way."""
    synced: set[str] = set()
    fsync, answer = os.fsync, service.answer

    def sync(file: int) -> None:
        fsync(file)
        synced.update(line[8:72].decode() for path in places.segments() for line in path.read_bytes().splitlines())

    def watched(requests: Sequence[CallRequest]) -> Iterator[Answer]:
        for given in answer(requests):
            assert call_key(given.request) not in synced
            yield given
            assert call_key(given.request) in synced

    def read(record: CallRecord, *rest: Any) -> Any:
        assert record.key in synced
        return read_record(record, *rest)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(session, "read_record", read)
    monkeypatch.setattr(service, "answer", watched)
    open_calls(mode="record").ask(asks(make_request, *"abc"), ClusterReply)
    assert len(synced) == 3


def test_an_answer_that_is_no_message_is_not_stored(
    places: CallPlaces, open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest]
) -> None:
    service.respond = lambda _: b"<html>502</html>"
    with pytest.raises(TransientCallError, match="something else"):
        open_calls(mode="record").ask(asks(make_request, "a"), ClusterReply)
    assert verify_calls(places).records == 0


@pytest.mark.parametrize("status", ["truncated", "refused", "empty", "invalid"])
def test_terminal_outcomes_are_stored_and_replayed_as_such(
    open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest],
    make_response: Callable[..., bytes], status: str,
) -> None:  # fmt: skip
    fields: dict[str, dict[str, Any]] = {
        "truncated": {"stop_reason": "max_tokens"}, "refused": {"stop_reason": "refusal"}, "empty": {"content": []},
        "invalid": {"content": [{"type": "text", "text": "KEEP"}]},
    }  # fmt: skip
    service.respond = lambda _: make_response(**fields[status])
    for mode in ("record", "frozen", "record"):
        (outcome,) = open_calls(mode=mode).ask(asks(make_request, "a"), ClusterReply)
        assert outcome is not None
        assert (outcome.status, outcome.reply) == (status, None)
    assert len(service.asked) == 1  # a bad reply is a reply: it is not asked again


def test_refreshing_begins_a_generation_of_its_own(
    places: CallPlaces, open_calls: Callable[..., Calls], service: FakeService, make_request: Callable[..., CallRequest]
) -> None:
    open_calls(mode="record").ask(asks(make_request, "a"), ClusterReply)
    before = {path: path.read_bytes() for path in places.shards()}
    with pytest.raises(UsageError, match="generation from 2"):
        open_calls(mode="refresh")
    with pytest.raises(UsageError, match="does not exist yet"):
        open_calls(mode="record", generation=2)
    for _ in range(2):
        open_calls(mode="refresh", generation=2).ask(asks(make_request, "a"), ClusterReply)
    assert len(service.asked) == 2
    assert {path: path.read_bytes() for path in places.shards()} == before
    assert verify_calls(CallPlaces(places.build, 2)).records == 1
    with pytest.raises(FrozenMiss):  # no generation falls back to another one
        open_calls(generation=3).ask(asks(make_request, "a"), ClusterReply)


@pytest.mark.usefixtures("service")
def test_a_record_of_other_rules_is_not_used(
    open_calls: Callable[..., Calls], make_request: Callable[..., CallRequest]
) -> None:
    open_calls(mode="record").ask(asks(make_request, "a"), ClusterReply)
    with pytest.raises(CacheCorrupt, match="calls verify") as caught:
        open_calls().ask(asks(make_request, "a"), ItemReply)
    assert [row.code for row in caught.value.findings] == ["call-status-differs"]


@pytest.mark.usefixtures("service")
def test_a_frozen_replay_writes_nothing(
    places: CallPlaces, open_calls: Callable[..., Calls], make_request: Callable[..., CallRequest]
) -> None:
    open_calls(mode="record").ask(asks(make_request, "a"), ClusterReply)
    root = places.build.workspace.root
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    open_calls().ask(asks(make_request, "a"), ClusterReply)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


@pytest.mark.usefixtures("service")
def test_a_file_that_is_pruned_while_files_are_looked_at_is_passed_over(
    places: CallPlaces,
    open_calls: Callable[..., Calls],
    make_request: Callable[..., CallRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_calls(mode="record").ask(asks(make_request, "a"), ClusterReply)
    (shard,) = places.shards("cluster")
    before = state_of(places, "cluster")
    monkeypatch.setattr(CallPlaces, "shards", lambda *_: iter([shard, shard.with_name("gone.jsonl")]))
    assert state_of(places, "cluster") == before
