from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nclue_build.store import layout
from nclue_build.store.beir import BeirFacts, BeirQrel, BeirRow, remove_beir, write_beir

if TYPE_CHECKING:
    from pathlib import Path


def test_the_folder_as_loaders_expect_it(tmp_path: Path) -> None:
    write_beir(
        tmp_path,
        iter([BeirRow("d1", "T\u00eftle", "line\nline", {"source": "s", "n_pages": 3})]),
        [BeirRow("q1", None, '"A"; "B"', {"n": 2})],
        [BeirQrel("q1", "d1", 2), BeirQrel("q1", "d2", 1)],
        [BeirQrel("q1", "d1", 1)],
        BeirFacts("main", 1, {2: 1}, 2, 1, "rules"),
    )
    assert json.loads((tmp_path / "corpus.jsonl").read_text(encoding="utf-8")) == {
        "_id": "d1", "title": "T\u00eftle", "text": "line\nline", "metadata": {"source": "s", "n_pages": 3},
    }  # fmt: skip
    assert json.loads((tmp_path / "queries.jsonl").read_text(encoding="utf-8")) == {
        "_id": "q1", "text": '"A"; "B"', "metadata": {"n": 2},
    }  # fmt: skip
    header = "query-id\tcorpus-id\tscore\n"
    assert (tmp_path / "qrels" / "test.tsv").read_text(encoding="utf-8") == f"{header}q1\td1\t2\nq1\td2\t1\n"
    assert (tmp_path / "qrels" / "gold.tsv").read_text(encoding="utf-8") == f"{header}q1\td1\t1\n"
    assert json.loads((tmp_path / "qrels" / "gold.jsonl").read_text(encoding="utf-8")) == {
        "query-id": "q1", "corpus-id": "d1", "score": 1,
    }  # fmt: skip
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nconfigs:\n- config_name: corpus\n")
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == set(layout.BEIR_FILES)
    for path in ("corpus.jsonl", "queries.jsonl", "qrels/test.jsonl", "qrels/gold.jsonl"):
        assert f"path: {path}\n" in card
    for words in (
        "# main: ", "gets n - 1", "use the split `gold`", "| queries | 1 (1 with n = 2) |", "| golds | 1 |",
        "no language model and no person", "Not for redistribution", "success at k",
    ):  # fmt: skip
        assert words in card
    remove_beir(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
