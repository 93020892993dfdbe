from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nclue_build.store.beir import BeirQrel, BeirRow, write_beir

if TYPE_CHECKING:
    from pathlib import Path


def test_the_folder_as_loaders_expect_it(tmp_path: Path) -> None:
    write_beir(
        tmp_path,
        iter([BeirRow("d1", "T\u00eftle", "line\nline", {"source": "s", "n_pages": 3})]),
        [BeirRow("q1", None, '"A"; "B"', {"n": 2})],
        [BeirQrel("q1", "d1", 2)],
        ("Name", "What it is."),
    )
    assert json.loads((tmp_path / "corpus.jsonl").read_text(encoding="utf-8")) == {
        "_id": "d1", "title": "T\u00eftle", "text": "line\nline", "metadata": {"source": "s", "n_pages": 3},
    }  # fmt: skip
    assert json.loads((tmp_path / "queries.jsonl").read_text(encoding="utf-8")) == {
        "_id": "q1", "text": '"A"; "B"', "metadata": {"n": 2},
    }  # fmt: skip
    assert (tmp_path / "qrels" / "test.tsv").read_text(encoding="utf-8") == "query-id\tcorpus-id\tscore\nq1\td1\t2\n"
    assert json.loads((tmp_path / "qrels" / "test.jsonl").read_text(encoding="utf-8")) == {
        "query-id": "q1", "corpus-id": "d1", "score": 2,
    }  # fmt: skip
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nconfigs:\n- config_name: corpus\n")
    for path in ("corpus.jsonl", "queries.jsonl", "qrels/test.jsonl"):
        assert f"path: {path}\n" in card
    assert card.endswith("# Name\n\nWhat it is.\n")
