"""The demonstration, told as MinerU would tell it: a whole build from its output, which finds what the PDFs give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from nclue_build.records.corpus import CorpusRow, PageRow
from nclue_build.store.jsonl import read_jsonl
from nclue_build.workflow.runner import run_build

if TYPE_CHECKING:
    from pathlib import Path

TYPES: Final = {
    "title": "title", "text": "text", "list": "list", "table": "text", "caption": "text", "figure": "text",
    "equation": "text", "code": "code", "footnote": "text", "toc": "index", "reference": "ref_text",
    "other": "aside_text",
}  # fmt: skip


def as_middle(pages: list[PageRow]) -> dict[str, Any]:
    """A middle file of 2.7 with the blocks of these pages."""
    entries = []
    for page in pages:
        entry: dict[str, Any] = {
            "page_idx": page.page - 1,
            "page_size": [page.width / 100, page.height / 100],
            "preproc_blocks": [],
            "para_blocks": [],
            "discarded_blocks": [],
        }
        for index, block in enumerate(page.blocks):
            made = {
                "bbox": [value / 100 for value in block.bbox or (0, 0, 0, 0)],
                "index": index,
                "level": block.level,
                "lines": [{"spans": [{"type": "text", "content": line}]} for line in block.text.split("\n")],
            }
            if block.role in TYPES:
                entry["preproc_blocks"].append(made | {"type": TYPES[block.role]})
            else:
                entry["discarded_blocks"].append(made | {"type": block.role})
        entries.append(entry)
    return {"pdf_info": entries, "_backend": "pipeline", "_version_name": "2.7.6"}


@pytest.mark.slow
def test_a_build_from_mineru_finds_what_the_pdfs_give(repository: Path, tmp_path: Path, write_pdf: Any) -> None:
    demo = repository / "inventory" / "demo"
    rows = list(read_jsonl(demo / "documents.jsonl", CorpusRow))
    listing = []
    for row in rows:
        pages = list(read_jsonl(demo / "pages" / f"{row.doc_id}.jsonl", PageRow))
        write_pdf(tmp_path / "pdfs" / f"{row.doc_id}.pdf", [[row.doc_id]] * len(pages))
        listing.append({"doc_id": row.doc_id, "source": row.source, "file_name": f"pdfs/{row.doc_id}.pdf"})
        middle = tmp_path / "out" / row.doc_id / "auto" / f"{row.doc_id}_middle.json"
        middle.parent.mkdir(parents=True)
        middle.write_text(json.dumps(as_middle(pages)))
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listing))
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "workspace.toml").write_text("schema = 1\n")
    (tmp_path / "configs" / "main.toml").write_text(
        'schema = 1\n[corpus]\nfile = "corpus.jsonl"\n[extract]\nreader = "mineru"\nmineru_output = "out"\n'
    )
    report = run_build(tmp_path, "main")
    assert report.ok
    counts = {stage.stage: dict(stage.counts) for stage in report.stages}
    assert counts["extract"]["documents_failed"] == 0
    assert counts["compose"]["queries"] > 0
    mined, known = tmp_path / "inventory" / "main" / "P0" / "conditions.jsonl", demo / "P0" / "conditions.jsonl"
    found = {json.loads(line)["condition_id"] for line in mined.read_text().splitlines()}
    wanted = {json.loads(line)["condition_id"] for line in known.read_text().splitlines()}
    print(f"{len(found & wanted)} of the {len(wanted)} conditions of the PDFs, {len(found - wanted)} others")  # noqa: T201
    assert len(found & wanted) >= 0.9 * len(wanted)
