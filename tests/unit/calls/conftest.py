"""Requests and replies made up for tests. No model has answered any of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.calls.places import CallPlaces
from nclue_build.records.calls import CallRequest, Message
from nclue_build.store.workspace import Build, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

REJECT = '{"verdict": "REJECT", "reason": "made up", "rubric": null}'


@pytest.fixture(scope="session")
def make_request() -> Callable[..., CallRequest]:
    """A request to the cluster prompt; any field by name."""

    def make(text: str = "Name: wetlands", **fields: Any) -> CallRequest:
        known: dict[str, Any] = {
            "profile": "anthropic-compatible", "model": "glm-5.2", "prompt_id": "cluster", "prompt_version": 1,
            "prompt_sha256": "ab" * 32, "system": "Judge.", "messages": (Message(role="user", content=text),),
            "max_tokens": 700, "thinking": "disabled", "sampling": {}, "reply_schema": "cluster/1", "attempt": 0,
        }  # fmt: skip
        return CallRequest(**known | fields)

    return make


@pytest.fixture(scope="session")
def make_message() -> Callable[..., dict[str, Any]]:
    """A message of the Messages API with one text block; any field by name."""

    def make(text: str = REJECT, **fields: Any) -> dict[str, Any]:
        known: dict[str, Any] = {
            "id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 9},
        }  # fmt: skip
        return known | fields

    return make


@pytest.fixture(scope="session")
def make_response(make_message: Callable[..., dict[str, Any]]) -> Callable[..., bytes]:
    """The same as bytes."""
    return lambda *args, **fields: json.dumps(make_message(*args, **fields)).encode("utf-8")


@pytest.fixture
def places(tmp_path: Path) -> CallPlaces:
    """The first generation of a build in an empty workspace."""
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "workspace.toml").write_text("schema = 1\n", encoding="utf-8")
    return CallPlaces(Build(Workspace(tmp_path), "main"), 1)
