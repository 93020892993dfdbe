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
        (GOOD + "[run]\nqqq = 1\n", "main.toml:6: run.qqq: unknown key; known keys: executor, workers"),
        (GOOD + "[mine]\nmin_documents = 0\n", "main.toml:6: mine.min_documents: Input should be greater"),
        (GOOD + '[mine]\nmin_documents = "3"\n', "main.toml:6: mine.min_documents: Input should be a valid integer"),
        (GOOD + "[compose]\nshare_n3 = nan\n", "main.toml:6: compose.share_n3: "),
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
