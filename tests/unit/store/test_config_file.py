from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.core.errors import UsageError
from nclue_build.store.config_file import load_config

if TYPE_CHECKING:
    from pathlib import Path

GOOD = 'schema = 1\n\n[corpus]\npdfs = "reports"\n'


def load(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "main.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(path) in caught.value.message
    return caught.value.message.replace(str(path), "main.toml")


def test_a_short_configuration_has_every_default(tmp_path: Path) -> None:
    (tmp_path / "main.toml").write_text(GOOD, encoding="utf-8")
    config = load_config(tmp_path / "main.toml")
    assert config.compose.seed == 11
    assert config.extract.allowed_roles == ("title", "text", "list", "table", "caption", "footnote")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe", "main.toml: not UTF-8"),
        ("schema = ", "main.toml: not valid TOML: "),
        ("schema = 1\nschema = 1\n", "main.toml: not valid TOML: "),
        (GOOD + "[mine]\nmin_document = 3\n", "main.toml:6: mine.min_document: unknown key; did you mean 'min_doc"),
        (GOOD + "[mining]\n", "main.toml:5: mining: unknown key; did you mean 'mine'?"),
        (GOOD + "[run]\nqqq = 1\n", "main.toml:6: run.qqq: unknown key; known keys: address, executor, workers"),
        (GOOD + "[mine]\nmin_documents = 0\n", "main.toml:6: mine.min_documents: Input should be greater"),
        (GOOD + '[mine]\nmin_documents = "3"\n', "main.toml:6: mine.min_documents: Input should be a valid integer"),
        (GOOD + "[compose]\nshare_n3 = nan\n", "main.toml:6: compose.share_n3: "),
        (GOOD + "[extract]\nocr_languages = []\n", "main.toml:6: extract.ocr_languages: must not be empty (got [])"),
        (GOOD + '[extract]\nallowed_roles = ["title", "body"]\n', "extract.allowed_roles"),
        ("schema = 1\n", "corpus: Field required"),
        ("schema = 1\n[corpus]\n", "main.toml:2: corpus: give either file"),
        ('schema = 1\n[corpus]\nfile = "a"\npdfs = "b"\n', "main.toml:2: corpus: give either file"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in load(tmp_path, text)


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    assert len(load(tmp_path, GOOD + "[mine]\na = 1\nb = 2\n").splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"[compose]\nseed = {10**30}", "compose.seed"),
        (f"[extract]\npage_timeout_s = {10**18}", "extract.page_timeout_s"),
        ("[extract]\ndocument_memory_mb = 10000000000000", "extract.document_memory_mb"),
        ("[mine]\nmax_document_share = nan", "mine.max_document_share"),
    ],
)
def test_values_out_of_bounds_are_named_with_their_line(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "main.toml"
    path.write_text(f'schema = 1\n[corpus]\npdfs = "x"\n{text}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=key) as caught:
        load_config(path)
    assert ":5:" in caught.value.message


@pytest.mark.parametrize("text", ['[corpus]\nfile = "a\\u0000b"', "x = " + "[" * 5000 + "]" * 5000])
def test_odd_toml_is_a_usage_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "main.toml"
    path.write_text(f"schema = 1\n{text}\n", encoding="utf-8")
    with pytest.raises(UsageError):
        load_config(path)
