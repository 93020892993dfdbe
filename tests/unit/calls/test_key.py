"""What makes a key, and what does not."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.calls.asking import make_request as request_of
from nclue_build.calls.key import EXCLUDED, KEYED, call_key, request_bytes
from nclue_build.core.canonical import canonical_json
from nclue_build.core.errors import DataError
from nclue_build.records.calls import CallRequest, Message
from nclue_build.records.config import CallsSection
from nclue_build.store.prompts import Prompt, PromptHead

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER: dict[str, Any] = {
    "profile": "another", "model": "glm-5.3", "prompt_id": "item", "prompt_version": 2, "prompt_sha256": "cd" * 32,
    "system": "Judge!", "messages": (Message(role="user", content="Name: wetland"),), "max_tokens": 701,
    "thinking": "unset", "sampling": {"temperature": "0.2"}, "reply_schema": "cluster/2", "attempt": 1,
}  # fmt: skip
GOLDEN = "720c0af906cb67e69f11c42f78c80c532623d15d85f34e2a9248c0fca58cddda"


def test_the_golden_key(make_request: Callable[..., CallRequest]) -> None:
    assert call_key(make_request("N\u00e4me: wetlands \U0001f33e \u2028")) == GOLDEN


@pytest.mark.parametrize("field", KEYED)
def test_every_keyed_field_changes_the_key(field: str, make_request: Callable[..., CallRequest]) -> None:
    assert call_key(make_request(**{field: OTHER[field]})) != call_key(make_request())


def test_the_list_of_fields_is_that_of_the_contract() -> None:
    assert set(KEYED) == set(OTHER) == set(CallRequest.model_fields)
    assert set(EXCLUDED) == {"host", "credentials", "timeouts", "retries", "concurrency", "SDK version"}


def test_roles_numbers_and_order_of_messages_change_the_key(make_request: Callable[..., CallRequest]) -> None:
    one, two = Message(role="user", content="a"), Message(role="assistant", content="b")
    variants: list[dict[str, Any]] = [
        {"messages": (one, two)}, {"messages": (two, one)}, {"messages": (one,)},
        {"sampling": {"temperature": "0.2"}}, {"sampling": {"temperature": "0.20"}}, {"sampling": {"top_p": "0.2"}},
    ]  # fmt: skip
    assert len({call_key(make_request(**fields)) for fields in variants}) == len(variants)


PROMPT = Prompt(
    PromptHead(id="cluster", version=1, variables=("name",), max_tokens=700, reply_schema="cluster/1"),
    "Judge.", "Name: {{name}}", "ab" * 32,
)  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url_env": "ELSEWHERE"}, {"key_env": "OTHER_KEY"}, {"auth": "x-api-key"}, {"mode": "record"},
        {"generation": 2},
    ],
    ids=lambda fields: next(iter(fields)),
)  # fmt: skip
def test_where_and_how_a_call_goes_does_not_change_the_key(fields: dict[str, Any]) -> None:
    plain = request_of(PROMPT, {"name": "wetlands"}, CallsSection())
    assert call_key(request_of(PROMPT, {"name": "wetlands"}, CallsSection(**fields))) == call_key(plain)


@pytest.mark.parametrize(
    "fields",
    [{"profile": "other"}, {"model": "m"}, {"thinking": "unset"}, {"sampling": {"top_p": "1"}}],
    ids=lambda fields: next(iter(fields)),
)
def test_what_the_model_is_told_changes_the_key(fields: dict[str, Any]) -> None:
    plain = request_of(PROMPT, {"name": "wetlands"}, CallsSection())
    assert call_key(request_of(PROMPT, {"name": "wetlands"}, CallsSection(**fields))) != call_key(plain)
    assert call_key(request_of(PROMPT, {"name": "wetlands"}, CallsSection(), 1)) != call_key(plain)


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_key_is_the_same_in_every_process(seed: str) -> None:
    script = (
        "from nclue_build.calls.key import call_key\n"
        "from nclue_build.records.calls import CallRequest, Message\n"
        "r = CallRequest(profile='anthropic-compatible', model='glm-5.2', prompt_id='cluster', prompt_version=1,"
        " prompt_sha256='ab'*32, system='Judge.', messages=(Message(role='user', content='N\\u00e4me: wetlands"
        " \\U0001f33e \\u2028'),), max_tokens=700, thinking='disabled', sampling={},"
        " reply_schema='cluster/1', attempt=0)\n"
        "print(call_key(r))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)  # noqa: S603
    assert done.stdout.strip() == GOLDEN


@given(
    st.text(), st.text(), st.integers(1, 2**40), st.dictionaries(st.sampled_from(["a", "b", "\u00e9"]), st.just("0.5"))
)
def test_the_quick_way_gives_canonical_bytes(system: str, text: str, tokens: int, sampling: dict[str, str]) -> None:
    request = CallRequest(
        profile="p", model="m", prompt_id="cluster", prompt_version=1, prompt_sha256="ab" * 32, system=system,
        messages=(Message(role="user", content="a" + text),), max_tokens=tokens, thinking="disabled", sampling=sampling,
        reply_schema="cluster/1", attempt=0,
    )  # fmt: skip
    assert request_bytes(request) == canonical_json(request.model_dump())


def test_a_lone_surrogate_is_an_error_and_never_replaced(make_request: Callable[..., CallRequest]) -> None:
    request = make_request()
    broken = request.model_copy(update={"system": "a\udc80"})
    with pytest.raises(DataError, match="lone surrogate"):
        call_key(broken)


def test_floats_have_no_place_in_a_request(make_request: Callable[..., CallRequest]) -> None:
    with pytest.raises(ValueError, match="sampling"):
        make_request(sampling={"temperature": 0.2})
    with pytest.raises(ValueError, match="sampling"):
        make_request(sampling={"temperature": "2e-1"})
