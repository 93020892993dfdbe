"""Recording and sealing: nothing is lost, nothing is chosen silently."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from nclue_build.calls.cache import CallCache
from nclue_build.calls.key import call_key, request_bytes
from nclue_build.calls.line import encode_line
from nclue_build.calls.places import CallPlaces, generations
from nclue_build.calls.seal import seal
from nclue_build.calls.segment import Segment
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import CacheConflict, CacheCorrupt, PermanentCallError
from nclue_build.records.calls import Provenance

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.records.calls import CallRequest

BY = Provenance(answered_by="a test")
WRITER = """
import sys
from pathlib import Path
from nclue_build.calls.places import CallPlaces
from nclue_build.calls.segment import Segment
from nclue_build.records.calls import CallRequest, Message, Provenance
from nclue_build.store.workspace import Build, Workspace

first, last = map(int, sys.argv[2:4])
response = b'{"type":"message","content":[{"type":"text","text":"{}"}],"pad":"' + b"x" * 3000 + b'"}'
with Segment(CallPlaces(Build(Workspace(Path(sys.argv[1])), "main"), 1)) as segment:
    print("ready", flush=True)
    for number in range(first, last):
        request = CallRequest(
            profile="p", model="m", prompt_id="cluster", prompt_version=1, prompt_sha256="ab" * 32, system="s",
            messages=(Message(role="user", content=f"number {number}"),), max_tokens=9, thinking="disabled",
            sampling={}, reply_schema="cluster/1", attempt=0)
        line = segment.append(request, "invalid", response, Provenance(answered_by="a test"))
        print(line[8:72].decode(), flush=True)
"""


def record(places: CallPlaces, *requests: CallRequest, response: bytes, by: Provenance = BY) -> None:
    with Segment(places) as segment:
        for request in requests:
            segment.append(request, "ok", response, by)


@pytest.fixture
def filled(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> CallPlaces:
    record(places, *(make_request(f"number {number}") for number in range(40)), response=make_response())
    seal(places)
    return places


def content(places: CallPlaces) -> dict[str, bytes]:
    return {str(path.relative_to(places.sealed)): path.read_bytes() for path in places.shards()}


def test_what_is_recorded_is_found(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    requests = [make_request(f"number {number}", prompt_id=name) for number in range(9) for name in ("cluster", "item")]
    record(places, *requests, response=make_response())
    assert CallCache(places).find("cluster", call_key(requests[0])) is None  # not sealed yet
    done = seal(places)
    assert (done.added, done.known, done.segments_left, done.torn) == (18, 0, 0, ())
    cache = CallCache(places)
    for request in requests:
        found = cache.find(request.prompt_id, call_key(request))
        assert found is not None
        assert found.request == request
    assert cache.find("cluster", "0" * 64) is None
    assert places.segments() == []
    assert seal(places).added == 0
    for path in places.shards():
        lines = path.read_bytes().splitlines()
        assert lines == sorted(lines)
        assert {line[8:10].decode() for line in lines} == {path.stem}


def test_the_order_of_recording_leaves_no_trace(
    filled: CallPlaces, tmp_path: Path, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    other = CallPlaces(type(filled.build)(type(filled.build.workspace)(tmp_path / "other"), "main"), 1)
    numbers = list(range(40))
    random.Random(5).shuffle(numbers)  # noqa: S311 - any order will do
    for part in (numbers[:7], numbers[7:20], numbers[15:]):
        record(other, *(make_request(f"number {number}") for number in part), response=make_response())
        seal(other)
    assert content(other) == content(filled)


def test_identical_lines_in_any_order_are_one_record(filled: CallPlaces) -> None:
    """What a union merge of two branches leaves."""
    path = next(filled.shards())
    before = len(list(CallCache(filled).records("cluster")))
    path.write_bytes(path.read_bytes()[::1] + path.read_bytes())
    assert len(list(CallCache(filled).records("cluster"))) == before
    assert verify_calls(filled).found.total == 0


def test_diverging_stores_merge_by_union(
    filled: CallPlaces, tmp_path: Path, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    other = CallPlaces(type(filled.build)(type(filled.build.workspace)(tmp_path / "other"), "main"), 1)
    record(other, *(make_request(f"number {number}") for number in range(20, 70)), response=make_response())
    seal(other)
    for path in other.shards():
        target = filled.sealed / path.relative_to(other.sealed)
        target.parent.mkdir(parents=True, exist_ok=True)
        there = target.read_bytes() if target.exists() else b""
        target.write_bytes(path.read_bytes() + there)
    seen = verify_calls(filled)
    assert (seen.records, seen.found.total) == (70, 0)


@pytest.mark.parametrize("sealed_first", [True, False])
def test_two_replies_to_one_call_are_a_conflict(
    places: CallPlaces,
    make_request: Callable[..., CallRequest],
    make_response: Callable[..., bytes],
    *,
    sealed_first: bool,
) -> None:
    record(places, make_request("a"), make_request("b"), response=make_response())
    if sealed_first:
        seal(places)
    before = content(places)
    record(places, make_request("c"), make_request("a"), response=make_response(id="another"))
    with pytest.raises(CacheConflict) as caught:
        seal(places)
    assert [finding.id for finding in caught.value.findings] == [call_key(make_request("a"))]
    assert content(places) == before
    assert places.segments() != []


def test_a_conflict_in_the_sealed_files_is_never_resolved_silently(
    filled: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    request = make_request("number 3")
    path = filled.shard("cluster", call_key(request))
    other = encode_line(request, "ok", make_response(id="another"), BY)
    path.write_bytes(path.read_bytes() + other + b"\n")
    with pytest.raises(CacheConflict, match="keep one of the two lines"):
        CallCache(filled).find("cluster", "0" * 64)
    assert verify_calls(filled).found.by_code == {"call-conflict": 1}


def test_every_edited_byte_of_a_file_is_found_with_its_line(filled: CallPlaces) -> None:
    path = max(filled.shards(), key=lambda path: path.read_bytes().count(b"\n"))
    whole = path.read_bytes()
    assert whole.count(b"\n") > 1
    for index in range(0, len(whole), 37):
        edited = bytearray(whole)
        edited[index] ^= 1
        path.write_bytes(bytes(edited))
        seen = verify_calls(filled)
        assert seen.found.total > 0, index
        # Where a line end goes, two lines become one.
        assert seen.found.kept[0].path == str(path)
        assert seen.found.kept[0].line == whole.count(b"\n", 0, index) + 1


def test_a_damaged_record_is_no_missing_one(filled: CallPlaces, make_request: Callable[..., CallRequest]) -> None:
    key = call_key(make_request("number 3"))
    path = filled.shard("cluster", key)
    path.write_bytes(path.read_bytes().replace(b"number 3", b"number 4"))
    with pytest.raises(CacheCorrupt, match=rf"{key[:2]}\.jsonl:\d+: was edited") as caught:
        CallCache(filled).find("cluster", key)
    assert [row.code for row in caught.value.findings] == ["call-corrupt"]


def test_what_others_seal_and_prune_meanwhile_is_no_damage(
    filled: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    """Places move when a file is written anew; a record that is as long as the one sought may stand there now."""
    cache = CallCache(filled)
    keys = [call_key(make_request(f"number {number}")) for number in range(10, 40)]
    assert cache.find("cluster", keys[0])
    record(filled, *(make_request(f"number {number}") for number in range(50, 80)), response=make_response())
    record(filled, *(make_request("Judge", system=f"s{number:03}") for number in range(90)), response=make_response())
    seal(filled)
    assert len({path.stat().st_size for path in filled.shards()}) > 1
    assert all((found := cache.find("cluster", key)) and found.key == key for key in keys)
    gone = filled.shard("cluster", keys[0])
    gone.unlink()
    assert cache.find("cluster", keys[0]) is None
    assert {record.key[:2] for _, record in cache.records("cluster")} == {path.stem for path in filled.shards()}


def test_a_record_that_is_as_long_is_not_taken_for_another(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    by_key = {call_key(request): request for request in (make_request(f"{number:05}") for number in range(60))}
    before, after = next(pair for pair in pairwise(sorted(by_key)) if pair[0][:2] == pair[1][:2])
    record(places, by_key[after], response=make_response())
    seal(places)
    cache = CallCache(places)
    assert cache.find("cluster", after)
    record(places, by_key[before], response=make_response())
    seal(places)
    found = cache.find_reply(by_key[after], request_bytes(by_key[after]), after)
    assert found is not None
    assert found.key == after


def test_reading_while_others_seal_finds_everything(
    filled: CallPlaces, make_request: Callable[..., CallRequest]
) -> None:
    requests = [make_request(f"number {number}") for number in range(40)]
    wanted = [(request, request_bytes(request), call_key(request)) for request in requests]
    writer = start_writer(filled, 0, 150)
    n_sealed = n_read = 0
    cache = CallCache(filled)
    with ThreadPoolExecutor(1) as pool:
        while writer.poll() is None:
            sealing = pool.submit(seal, filled)
            while not sealing.done():
                assert all(found := [cache.find_reply(*one) for one in wanted])
                assert [one.key for one in found if one] == [key for *_, key in wanted]
                n_read += 1
            n_sealed += sealing.result().added
    assert writer.stdout is not None
    writer.stdout.close()
    assert n_sealed + seal(filled).added == 150
    assert n_read > 0
    assert verify_calls(filled).found.total == 0


def test_the_last_line_of_a_segment_that_grows_is_no_torn_one(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    with Segment(places) as segment:
        segment.append(make_request("a"), "ok", make_response(), BY)
        (path,) = places.segments()
        whole = path.read_bytes()
        path.write_bytes(whole + whole[:40])
        assert (seal(places).torn, len(places.segments())) == ((), 1)
    assert [row.code for row in seal(places).torn] == ["call-torn"]


def test_a_torn_last_line_is_left_out_and_said(filled: CallPlaces) -> None:
    path = next(filled.shards())
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    cache = CallCache(filled)
    assert len(list(cache.records("cluster"))) == 39
    assert [(row.code, row.line) for row in cache.torn] == [("call-torn", whole.count(b"\n"))]
    assert verify_calls(filled).found.by_code == {"call-torn": 1}
    path.write_bytes(whole[:-1])  # only the line end is gone: the record is whole
    assert len(list(CallCache(filled).records("cluster"))) == 40
    path.write_bytes(whole[:100] + b"\n" + whole)  # cut in the middle of a file: somebody's edit
    with pytest.raises(CacheCorrupt):
        list(CallCache(filled).records("cluster"))


def test_a_misplaced_record_is_found(filled: CallPlaces) -> None:
    path = next(filled.shards())
    path.rename(filled.sealed / "cluster" / "zz.jsonl")
    assert set(verify_calls(filled).found.by_code) == {"call-misplaced"}


def test_a_secret_is_never_written(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("MY_KEY", "correct-horse")
    token = "sk-" + "A1b2" * 8
    bad = [
        (make_request("Authorization: Bearer x"), make_response()), (make_request(), make_response(id="correct-horse")),
        (make_request(f"use {token}"), make_response()),
        (make_request("-----BEGIN RSA PRIVATE KEY-----"), make_response()),
    ]  # fmt: skip
    with Segment(places, ("MY_KEY",)) as segment:
        for request, response in bad:
            with pytest.raises(PermanentCallError, match="holds") as caught:
                segment.append(request, "ok", response, BY)
            assert [row.code for row in caught.value.findings] == ["call-secret"]
            assert token not in str(caught.value)
            assert "correct-horse" not in str(caught.value)
        segment.append(make_request("the authorization of the bearer of bad news"), "ok", make_response(), BY)
    assert seal(places).added == 1


def test_generations_lie_beside_each_other(
    filled: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    second = CallPlaces(filled.build, 2)
    record(second, make_request("number 3"), response=make_response(id="another"))
    seal(second)
    assert generations(filled.build) == [1, 2]
    key = call_key(make_request("number 3"))
    first, other = CallCache(filled).find("cluster", key), CallCache(second).find("cluster", key)
    assert first is not None
    assert other is not None
    assert first.response["id"] == "m"
    assert other.response["id"] == "another"
    assert verify_calls(filled).records == 40
    assert [path.parent.parent.name for path in second.shards()] == ["gen-2"]


def start_writer(places: CallPlaces, first: int, last: int) -> subprocess.Popen[str]:
    root = str(places.build.workspace.root)
    command = [sys.executable, "-c", WRITER, root, str(first), str(last)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own program
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def kill_while_appending(places: CallPlaces, round_: int) -> set[str]:
    """Keys that a writer said were written before it was killed."""
    process = start_writer(places, 10_000 * round_, 10_000 * (round_ + 1))
    assert process.stdout is not None
    acknowledged = {process.stdout.readline().strip() for _ in range(3 + round_ % 7)}
    process.kill()
    acknowledged |= {line.strip() for line in process.stdout.read().splitlines() if len(line) == 64}
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return acknowledged


def check_kills(places: CallPlaces, rounds: int) -> None:
    written: set[str] = set()
    for round_ in range(rounds):
        written |= kill_while_appending(places, round_)
        if round_ % 2:
            seal(places)
    seal(places)
    seen = verify_calls(places)
    assert written <= seen.recs.keys()
    assert seen.found.total == 0
    assert places.segments() == []


def test_a_killed_writer_loses_nothing_it_said_was_written(places: CallPlaces) -> None:
    check_kills(places, 3)


@pytest.mark.slow
def test_fifty_killed_writers_lose_nothing(places: CallPlaces) -> None:
    check_kills(places, 50)


def test_sealing_while_others_write_loses_nothing(places: CallPlaces) -> None:
    writers = [start_writer(places, 1000 * number, 1000 * number + 60) for number in range(4)]
    left = 0
    while any(process.poll() is None for process in writers):
        left += seal(places).segments_left
    written = set()
    for process in writers:
        assert process.stdout is not None
        written |= set(process.stdout.read().split())
        process.stdout.close()
        assert process.returncode == 0
    seal(places)
    assert len(written) == 240
    assert written == verify_calls(places).recs.keys()
    assert places.segments() == []
    assert left > 0


def test_a_segment_of_a_dead_process_is_sealed_without_its_torn_end(
    places: CallPlaces, make_request: Callable[..., CallRequest], make_response: Callable[..., bytes]
) -> None:
    record(places, make_request("a"), make_request("b"), response=make_response())
    (path,) = places.segments()
    path.write_bytes(path.read_bytes()[:-20])
    done = seal(places)
    assert (done.added, [row.code for row in done.torn]) == (1, ["call-torn"])
    assert list(places.inbox.iterdir()) == []
