"""The annotated template says exactly what the configuration model says."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from nclue_build.records.config import BuildConfig
from nclue_build.store.config_file import load_config
from nclue_build.workflow.assets import read_asset

if TYPE_CHECKING:
    from pathlib import Path

KEY = re.compile(r"^(?P<off># )?(?P<key>[a-z_0-9]+) = (?P<value>.+?)\s+# (?P<comment>.+)$")
BY_SIZE = {"min_documents", "max_document_share", "min_subsets", "max_per_gold"}
"""Keys whose default depends on the size of the corpus."""


@pytest.fixture
def keys(repository: Path) -> dict[tuple[str, str], tuple[bool, object, str]]:
    """(table, key) -> (commented out, value, comment)."""
    found: dict[tuple[str, str], tuple[bool, object, str]] = {}
    table = ""
    for line in (repository / "configs" / "template.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            table = line.partition("]")[0][1:]
            assert "#" in line, f"[{table}] says nothing about itself"
        elif match := KEY.match(line):
            value = tomllib.loads(f"x = {match['value']}")["x"]
            found[table, match["key"]] = (match["off"] is not None, value, match["comment"])
    return found


def test_the_template_has_every_key_and_no_other(keys: dict[tuple[str, str], tuple[bool, object, str]]) -> None:
    model = {("", "schema")}
    for table, field in BuildConfig.model_fields.items():
        if table != "schema_":
            assert field.annotation is not None
            model |= {(table, key) for key in field.annotation.model_fields}
    assert set(keys) == model


def test_the_template_shows_the_defaults(keys: dict[tuple[str, str], tuple[bool, object, str]]) -> None:
    for (table, key), (off, value, comment) in keys.items():
        if table in {"", "corpus"}:
            continue
        default = getattr(BuildConfig.model_fields[table].default, key)
        assert (list(default) if isinstance(default, tuple) else default) == value
        assert off == (key in BY_SIZE), f"{key}: a key whose default depends on the size is commented out"
        assert ("small corpora" in comment) == (key in BY_SIZE)


def test_units_are_named(keys: dict[tuple[str, str], tuple[bool, object, str]]) -> None:
    words = {"_s": "seconds", "_mb": "MiB", "share": "0 to 1", "rate": "0 to 1"}
    for (_, key), (_, _, comment) in keys.items():
        for part, word in words.items():
            if key.endswith(part):
                assert word in comment, key


def test_the_template_is_a_configuration(repository: Path) -> None:
    assert load_config(repository / "configs" / "template.toml").corpus.file == "corpora/demo/corpus.jsonl"
    assert read_asset("configs/template.toml") == (repository / "configs" / "template.toml").read_text(encoding="utf-8")
