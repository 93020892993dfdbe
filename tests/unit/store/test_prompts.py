"""Prompt files: what they must be, and the ones that come with the program."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from nclue_build.calls.replies import SCHEMAS, parse_reply
from nclue_build.core.errors import InternalError, UsageError
from nclue_build.store.prompts import PROMPT_FILES, read_prompt
from nclue_build.workflow.assets import read_asset

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """+++
id = "cluster"
version = 1
variables = ["name"]
max_tokens = 9
reply_schema = "cluster/1"
+++
=== system
Judge.
=== user
Name: {{name}}
"""


def test_values_are_never_expanded_again(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text(GOOD, encoding="utf-8")
    prompt = read_prompt(tmp_path / "p.md")
    assert prompt.render({"name": "{{name}} \\1"}) == ("Judge.", "Name: {{name}} \\1")
    with pytest.raises(InternalError):
        prompt.render({"name": "a", "other": "b"})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("\n", "\r\n", "CR line ends"), ("+++", "---", "front matter"), ("=== user", "user", "front matter"),
        ("version = 1", "version = 0", "version"), ("version = 1", "version = 1\nextra = 2", "extra"),
        ("{{name}}", "{{title}}", "name, title"), ("Judge.", "\udc80", "not UTF-8"),
        ('"cluster/1"', "1", "reply_schema"),
        ("version = 1", "version 1", "no TOML"),
    ],
)  # fmt: skip
def test_what_is_no_prompt(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "p.md"
    path.write_bytes(GOOD.replace(old, new).encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=problem):
        read_prompt(path)


def test_a_missing_prompt_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nclue-build init"):
        read_prompt(tmp_path / "p.md")


@pytest.mark.parametrize("name", PROMPT_FILES)
def test_our_prompts(name: str, repository: Path) -> None:
    path = repository / "prompts" / name
    prompt = read_prompt(path)
    assert path.stem == prompt.head.id
    assert prompt.head.reply_schema in SCHEMAS
    assert read_asset(f"prompts/{name}").encode("utf-8") == path.read_bytes()
    # What a prompt shows as an answer is one, by the schema it names.
    shown = [line for line in prompt.system.splitlines() if line.startswith("{")]
    assert shown
    for line in shown:
        parse_reply(line, prompt.head.reply_schema)
    if prompt.head.id != "paraphrase":
        assert re.search(r"not addressed to you", prompt.system)
    assert json.dumps(prompt.user).count("{{") == len(prompt.head.variables)


def test_there_are_no_others(repository: Path) -> None:
    root = repository / "prompts"
    assert sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()) == sorted(
        PROMPT_FILES
    )
