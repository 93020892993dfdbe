"""Taking answers in: every line is checked like a live reply, and every refused one is listed with its reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.imports import import_answers
from nclue_build.calls.key import call_key
from nclue_build.calls.pending import write_pending
from nclue_build.calls.verify import verify_calls
from nclue_build.core.errors import UsageError
from nclue_build.records.calls import CallRequest, PendingCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.calls.places import CallPlaces

GOOD = '{"verdict": "REJECT", "reason": "made up", "rubric": null}'
NAME = "a test, no model and no person"
Answer = dict[str, Any]


@pytest.fixture
def keys(places: CallPlaces, make_request: Callable[..., CallRequest]) -> list[str]:
    """Keys of twelve calls that the build waits for."""
    requests = [make_request(f"Name: concept {number}") for number in range(12)]
    calls = [
        PendingCall(key=call_key(request), stage="mine", label=f"concept {number}", request=request)
        for number, request in enumerate(requests)
    ]
    write_pending(places.build, "mine", calls)
    return [call.key for call in calls]


def answer(key: str, message: Answer) -> Answer:
    return {"custom_id": key, "result": {"type": "succeeded", "message": message}}


def write(path: Path, lines: list[Answer | str]) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(text + "\n" for text in texts), "utf-8")
    return path


def bad_answers(keys: list[str], make: Callable[..., Answer]) -> list[tuple[str, Answer | str]]:
    """Reasons, and answers that are refused for them."""
    return [
        ("no_json", "{not json"),
        ("no_custom_id", {"custom_id": 7, "result": {}}),
        ("unknown", answer("0" * 64, make())),
        ("not_succeeded", {"custom_id": keys[0], "result": {"type": "errored", "error": {"type": "overloaded_error"}}}),
        ("repeated", answer(keys[0], make())),
        ("no_message", answer(keys[1], {"type": "error"})),
        ("invalid", answer(keys[2], make(GOOD[:-9]))),
        ("invalid", answer(keys[3], make(GOOD.replace("{", '{"confidence": 1, ', 1)))),
        ("invalid", answer(keys[4], make("KEEP, definitely."))),
        ("truncated", answer(keys[5], make(GOOD, stop_reason="max_tokens"))),
        ("refused", answer(keys[6], make("I cannot help with that.", stop_reason="refusal"))),
        ("empty", answer(keys[7], make("", content=[{"type": "thinking", "thinking": "hm"}]))),
        ("invalid", answer(keys[8], make("<think>hm</think>" + GOOD))),
        ("secret", answer(keys[9], make(GOOD, id="sk-" + "A1b2" * 8))),
    ]


def test_every_bad_line_is_refused_and_listed(
    places: CallPlaces, keys: list[str], tmp_path: Path, make_message: Callable[..., Answer]
) -> None:
    bad = bad_answers(keys, make_message)
    done = import_answers(places, write(tmp_path / "a.jsonl", [line for _, line in bad]), NAME)
    assert [row.message.partition(":")[0] for row in done.rejected.kept] == [reason for reason, _ in bad]
    assert [row.line for row in done.rejected.kept] == list(range(1, len(bad) + 1))
    assert done.rejected.by_code == {"call-rejected": len(bad) - 1, "call-unknown": 1}
    assert (done.recorded, done.known, done.left) == ({}, 0, len(keys))
    assert sum(done.reasons.values()) == len(bad)
    assert verify_calls(places).records == 0


def test_good_lines_among_bad_ones_are_recorded_in_any_order(
    places: CallPlaces, keys: list[str], tmp_path: Path, make_message: Callable[..., Answer]
) -> None:
    lines = [line for _, line in bad_answers(keys, make_message) if isinstance(line, str)]
    good = [answer(key, make_message(GOOD)) for key in reversed(keys)]
    path = write(tmp_path / "a.jsonl", [*good[:5], *lines, *good[5:]])
    done = import_answers(places, path, NAME)
    assert (done.recorded, done.left) == ({"ok": 12}, 0)
    seen = verify_calls(places)
    assert sorted(seen.recs) == sorted(keys)
    assert seen.answered_by == {NAME: 12}
    again = import_answers(places, path, NAME)
    assert (again.recorded, again.known) == ({}, 12)
    other = import_answers(places, path, "somebody else")
    assert other.reasons == {"conflict": 12, "no_json": 1}
    assert verify_calls(places).answered_by == {NAME: 12}


def test_failures_are_recorded_when_they_are_to_be_kept(
    places: CallPlaces, keys: list[str], tmp_path: Path, make_message: Callable[..., Answer]
) -> None:
    lines = [line for _, line in bad_answers(keys, make_message)]
    done = import_answers(places, write(tmp_path / "a.jsonl", lines), NAME, keep_failures=True)
    assert done.recorded == {"invalid": 4, "truncated": 1, "refused": 1, "empty": 1}
    assert verify_calls(places).statuses == done.recorded


def test_what_a_build_waits_for_must_be_known(
    places: CallPlaces, tmp_path: Path, make_message: Callable[..., Answer]
) -> None:
    """In a fresh checkout every line would be refused as unknown, and none of them is at fault."""
    with pytest.raises(UsageError, match="calls export FILE"):
        import_answers(places, write(tmp_path / "answers.jsonl", [answer("0" * 64, make_message(GOOD))]), NAME)


@pytest.mark.parametrize("name", ["", "  ", "two\nlines"])
def test_somebody_must_have_answered(places: CallPlaces, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="--answered-by"):
        import_answers(places, tmp_path / "a.jsonl", name)
