"""The configurations that a language model judges, and the calls that wait in the repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nclue_build.calls.key import call_key
from nclue_build.calls.pending import request_body
from nclue_build.records.calls import CallRequest, Message
from nclue_build.records.config import CallsSection
from nclue_build.store.config_file import load_config
from nclue_build.store.prompts import read_prompt

if TYPE_CHECKING:
    from pathlib import Path


def test_the_set_up_of_the_study(repository: Path) -> None:
    """The figures and the judge of the published supplement; what it does not say has its default."""
    config = load_config(repository / "configs" / "crosspage.toml")
    compose, calls = config.compose, config.calls
    assert (compose.n_candidates, compose.n_queries, compose.share_n3, compose.seed) == (4000, 1000, 0.186, 11)
    assert compose.verify == "golds"  # the judge reads the pages of a candidate's golds
    assert compose.paraphrases == "none"
    assert (config.judge.kind, config.mine.miner) == ("model", "lexical")
    assert (calls.model, calls.thinking, calls.sampling, calls.mode) == ("glm-5.2", "disabled", {}, "frozen")
    assert (calls.profile, calls.auth, calls.generation) == ("anthropic-compatible", "bearer", 1)
    assert [row.model for row in calls.prices] == ["glm-5.2"]
    untold = {"model", "thinking", "sampling", "mode", "base_url_env", "key_env", "auth", "prices"}
    assert calls.model_dump(exclude=untold) == CallsSection().model_dump(exclude=untold)
    request = CallRequest(
        profile=calls.profile, model=calls.model, prompt_id="cluster", prompt_version=1, prompt_sha256="0" * 64,
        system="s", messages=(Message(role="user", content="u"),), max_tokens=7, thinking=calls.thinking,
        sampling=dict(calls.sampling), reply_schema="cluster/1", attempt=0,
    )  # fmt: skip
    assert request_body(request).keys() == {"model", "max_tokens", "system", "messages", "thinking"}


@pytest.mark.parametrize("name", ["crosspage", "demo-model"])
def test_every_prompt_says_how_long_an_answer_may_be(repository: Path, name: str) -> None:
    assert load_config(repository / "configs" / f"{name}.toml").judge.kind == "model"
    for path in sorted((repository / "prompts").rglob("*.md")):
        assert 0 < read_prompt(path).head.max_tokens <= 4000


def test_the_first_round_of_the_demonstration_is_what_its_configuration_and_prompt_make(repository: Path) -> None:
    """Each line has the key of its own request. Which clusters are asked about: tests/unit/cli/test_answering.py."""
    config = load_config(repository / "configs" / "demo-model.toml")
    assert config.corpus == load_config(repository / "configs" / "demo.toml").corpus
    prompt = read_prompt(repository / "prompts" / "mine" / "cluster.md")
    text = (repository / "frozen_outputs" / "demo-model" / "round-1.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    assert 0 < len(rows) <= 250
    assert len({row["custom_id"] for row in rows}) == len(rows)
    for row in rows:
        params = row["params"]
        (message,) = params["messages"]
        request = CallRequest(
            profile=config.calls.profile, model=config.calls.model, prompt_id="cluster",
            prompt_version=prompt.head.version, prompt_sha256=prompt.sha256, system=params["system"],
            messages=(Message(**message),), max_tokens=prompt.head.max_tokens, thinking="disabled", sampling={},
            reply_schema=prompt.head.reply_schema, attempt=0,
        )  # fmt: skip
        assert request_body(request) == params
        assert call_key(request) == row["custom_id"]
