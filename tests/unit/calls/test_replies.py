"""From texts to replies: strictly, and never by mending."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.calls.replies import SCHEMAS, ClusterReply, InvalidReplyError, parse_reply

KEEP: dict[str, Any] = {
    "verdict": "KEEP", "reason": "a subject",
    "rubric": {"requirement": "r", "counts": "c", "does_not_count": 'd {not this} "}', "note": None},
}  # fmt: skip
TEXT = json.dumps(KEEP)
GOOD: dict[str, dict[str, Any]] = {
    "cluster/1": KEEP,
    "partition/1": {"groups": [["a", "b"], ["c"]], "reason": "two things"},
    "item/1": {
        "conditions": [
            {"id": "c1", "present": True, "evidence": "e"}, {"id": "c2", "present": False, "evidence": None},
        ],
    },
    "page-facts/1": {"facts": [{"fact": "f", "form": "g", "span": "s"}]},
    "paraphrase/1": {"paraphrase": "p"},
    "pair/1": {"present": True, "evidence": [{"page": "p1", "quote": "q"}], "reason": "r"},
}  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_schema_takes_a_good_reply(schema: str) -> None:
    reply = parse_reply(json.dumps(GOOD[schema]), schema)
    assert isinstance(reply, SCHEMAS[schema])
    assert json.loads(reply.model_dump_json()) == GOOD[schema]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_no_schema_takes_a_key_more_or_less(schema: str) -> None:
    with pytest.raises(InvalidReplyError):
        parse_reply(json.dumps(GOOD[schema] | {"confidence": 1}), schema)
    for key in GOOD[schema]:
        with pytest.raises(InvalidReplyError):
            parse_reply(json.dumps({name: value for name, value in GOOD[schema].items() if name != key}), schema)


@pytest.mark.parametrize(
    "text",
    [
        TEXT, f"  {TEXT}\n", f"```json\n{TEXT}\n```", f"Here it is:\n```\n{TEXT}\n```\nThat is all.",
        f"My verdict: {TEXT} - as asked.", f"{TEXT}\n{TEXT}",
    ],
    ids=["raw", "space", "fence", "fence-in-words", "object-in-words", "first-of-two"],
)  # fmt: skip
def test_where_a_reply_is_looked_for(text: str) -> None:
    reply = parse_reply(text, "cluster/1")
    assert isinstance(reply, ClusterReply)
    assert reply.model_dump(mode="json") == KEEP


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("KEEP", "no JSON object"),
        (f"[{TEXT}]", "expected an object, found list"),
        (f"answers: [{TEXT}, ", "no JSON object"),
        ("```json\n" + TEXT[:-9], "no JSON object"),
        (f"<think>hm</think>{TEXT}", "thinking in the text"),
        (TEXT.replace('"reason"', '"verdict": "REJECT", "reason"'), "'verdict' stands twice"),
        (TEXT.replace("null", "NaN"), "NaN is no JSON"),
        (TEXT.replace('"a subject"', "1"), "reason: Input should be a valid string"),
        (TEXT.replace('"KEEP"', '"keep"'), "verdict: Input should be"),
        (TEXT.replace('"a subject"', '" "'), "reason: is blank"),
        (TEXT.replace('"a subject"', '"\\ud800"'), ""),
        (TEXT.replace('"KEEP"', '"REJECT"'), "a rubric goes with KEEP"),
        ('{"verdict": "KEEP", "reason": "r", "rubric": null}', "a rubric goes with KEEP"),
        ("{" * 100_000, "no JSON object"),
        ('{"a":' * 30_000 + "1" + "}" * 30_000, "nested too deeply"),
        (TEXT.replace("'", "").replace('"', "'"), "no JSON object"),
        (TEXT[:-1] + ",}", "no JSON object"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_reply(text: str, problem: str) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        parse_reply(text, "cluster/1")
    assert problem.lower() in str(caught.value).lower()


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_cut_reply_is_never_mended(schema: str) -> None:
    text = json.dumps(GOOD[schema])
    for prefix in ("", "```json\n", "So: "):
        for size in range(len(text)):
            with pytest.raises(InvalidReplyError):
                parse_reply(prefix + text[:size], schema)


@given(st.text(), st.text().filter(lambda text: "{" not in text and "`" not in text and "think" not in text.lower()))
def test_any_text_is_a_reply_or_invalid(text: str, before: str) -> None:
    with contextlib.suppress(InvalidReplyError):
        parse_reply(text, "cluster/1")
    if not before.rstrip().endswith("["):
        assert parse_reply(before + TEXT, "cluster/1") == parse_reply(TEXT, "cluster/1")


def test_evidence_goes_with_present_and_with_nothing_else() -> None:
    for present, evidence in ((True, None), (False, "e")):
        row = {"id": "c1", "present": present, "evidence": evidence}
        with pytest.raises(InvalidReplyError, match="evidence goes with"):
            parse_reply(json.dumps({"conditions": [row]}), "item/1")
    for written in ('"true"', "1", "null"):
        text = '{"conditions": [{"id": "c1", "present": %s, "evidence": "e"}]}' % written  # noqa: UP031 - braces
        with pytest.raises(InvalidReplyError, match="valid boolean"):
            parse_reply(text, "item/1")
