"""Bad input: one clear line each, and the right exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import WritePdf
    from tests.unit.cli.conftest import Outcome, Run


Row = dict[str, Any]


@pytest.fixture
def with_corpus(fresh: Path) -> Callable[[list[Row] | str], Path]:
    """Gives the workspace a corpus file beside the PDFs."""

    def change(rows: list[Row] | str) -> Path:
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        (fresh.parent / "reports" / "corpus.jsonl").write_text(text, encoding="utf-8")
        config = 'schema = 1\n[corpus]\nfile = "../reports/corpus.jsonl"\n[run]\nworkers = 1\n'
        (fresh / "configs" / "main.toml").write_text(config, encoding="utf-8")
        return fresh

    return change


def row(number: int, **changes: object) -> Row:
    return {"doc_id": f"r{number}", "source": "coast", "file_name": f"report {number}.pdf", **changes}


def rows(*changed: Row) -> list[Row]:
    return [*changed, *(row(number) for number in range(1, 10))]


def one_line(outcome: Outcome) -> str:
    """The only error line, with the rest of stderr being progress."""
    assert outcome.out == ""
    lines = [line for line in outcome.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert "Traceback" not in outcome.err
    return lines[0]


def test_a_good_corpus_file_passes(with_corpus: Callable[[list[Row]], Path], run: Run) -> None:
    assert run("-w", with_corpus(rows(row(0))), "run", "--to", "extract").code == 0


@pytest.mark.parametrize(
    ("changed", "code", "message"),
    [
        ([row(1)], 3, "../reports/corpus.jsonl:2: doc_id 'r1' stands twice (first in line 1)"),
        ([row(0, doc_id="../x")], 3, "../reports/corpus.jsonl:1: doc_id: id '../x' is not safe"),
        ([row(0, doc_id="a report")], 3, "id 'a report' is not safe"),
        ([row(0, doc_id="r#1")], 3, "id 'r#1' is not safe"),
        ([row(0, doc_id="r_p0007")], 3, "'r_p0007' ends like a page id"),
        ([row(0, file_name="gone.pdf")], 3, "r0: gone.pdf: file not found"),
        ([row(0, sha256="0" * 64)], 3, f"not {'0' * 64} as listed"),
        ([row(0, bytes=3)], 3, "not 3 as listed"),
        ([row(0, colour="red")], 3, "corpus.jsonl:1: colour: unknown key; known keys: archive_url, bytes, "),
        ([row(0, sha265="0" * 64)], 3, "corpus.jsonl:1: sha265: unknown key; did you mean 'sha256'?"),
        ([{"doc_id": "r0", "source": "coast"}], 3, "a document needs a file_name or a URL"),
    ],
)
def test_bad_rows(
    with_corpus: Callable[[list[Row]], Path], run: Run, changed: list[Row], code: int, message: str
) -> None:
    failed = run("-w", with_corpus(rows(*changed)), "run")
    assert failed.code == code
    assert message in one_line(failed)


def test_all_bad_rows_come_in_one_report(with_corpus: Callable[[list[Row]], Path], run: Run) -> None:
    bad = [row(0, doc_id="a b"), row(1, sha256="x"), row(2, file_name="gone.pdf")]
    envelope = run("-w", with_corpus(rows(*bad)), "run", "--json").envelope
    found = {(finding["code"], finding["line"]) for finding in envelope["findings"]}
    assert {("bad-record", 1), ("bad-record", 2), ("file-missing", 3)} <= found
    assert envelope["ok"] is False
    assert envelope["result"] is None


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", 2, "the corpus file lists no document"),
        ("not json\n", 3, "corpus.jsonl:1: record: Invalid JSON"),
    ],
)
def test_bad_corpus_files(with_corpus: Callable[[str], Path], run: Run, text: str, code: int, message: str) -> None:
    failed = run("-w", with_corpus(text), "run")
    assert failed.code == code
    assert message in one_line(failed)


def test_a_missing_corpus_file(fresh: Path, with_corpus: Callable[[str], Path], run: Run) -> None:
    with_corpus("")
    (fresh.parent / "reports" / "corpus.jsonl").unlink()
    failed = run("-w", fresh, "run")
    assert failed.code == 2
    assert "no such corpus file" in one_line(failed)


def test_no_workspace(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["run"], ["-w", tmp_path, "run"], ["validate"], ["gate"]):
        failed = run(*words)
        assert failed.code == 2
        assert "workspace" in one_line(failed)
        assert "nclue-build init" in failed.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 1\n[corpus\n", "configs/main.toml: not valid TOML: "),
        ('schema = 1\n[corpus]\npdfs = "x"\n[mine]\nmin_document = 3\n', "5: mine.min_document: unknown key; did you"),
        ('schema = 1\n[corpus]\npdfs = "x"\n[compose]\nseed = "a"\n', "main.toml:5: compose.seed: "),
        ("schema = 1\n[corpus]\n", "main.toml:2: corpus: give either file"),
        ('schema = 2\n[corpus]\npdfs = "x"\n', "main.toml:1: schema: "),
        ('schema = 1\n[corpus]\npdfs = "../nowhere"\n', "nowhere"),
        ('schema = 1\n[corpus]\npdfs = "configs"\n', "no PDF"),
    ],
)  # fmt: skip
def test_bad_configurations(fresh: Path, run: Run, text: str, message: str) -> None:
    (fresh / "configs" / "main.toml").write_text(text, encoding="utf-8")
    failed = run("-w", fresh, "run")
    assert failed.code == 2
    assert message in one_line(failed)


def test_a_wrong_build_name_lists_the_builds(fresh: Path, run: Run) -> None:
    failed = run("-w", fresh, "-b", "other", "run")
    assert failed.code == 2
    assert "no build 'other' here: there is main" in one_line(failed)


def test_no_query_possible(fresh: Path, run: Run, write_pdf: WritePdf, report_pages: list[list[list[str]]]) -> None:
    for number, pages in enumerate(report_pages):  # all on one page: no two conditions stand on different pages
        lines = [line for page in pages for line in page]
        write_pdf(fresh.parent / "reports" / f"report {number}.pdf", [lines])
    failed = run("-w", fresh, "run")
    assert failed.code == 1
    assert "no query is possible: " in one_line(failed)
    envelope = run("-w", fresh, "run", "--json").envelope
    assert [finding["code"] for finding in envelope["findings"]] == ["nothing-to-deliver"]


def test_no_document_readable(fresh: Path, run: Run) -> None:
    for path in (fresh.parent / "reports").glob("*.pdf"):
        path.write_bytes(b"%PDF-1.4 nothing " + path.name.encode())
    failed = run("-w", fresh, "run")
    assert failed.code == 1
    assert "no page of 10 documents can be read" in one_line(failed)


def test_empty_files_are_documents_that_cannot_be_read(fresh: Path, run: Run) -> None:
    for name in ("empty.pdf", "too.pdf"):
        (fresh.parent / "reports" / name).touch()
    made = run("-w", fresh, "run", "--json")
    assert made.code == 0
    found = made.envelope["findings"]
    assert [finding["code"] for finding in found] == ["document-failed"] * 2
    assert {finding["id"].partition("_")[0] for finding in found} == {"empty", "too"}
    counts = made.envelope["result"]["stages"][0]["counts"]
    assert (counts["documents"], counts["documents_in_benchmark"], counts["documents_failed"]) == (12, 10, 2)
    assert "[document-failed]" in run("-w", fresh, "run").out
    assert run("-w", fresh, "validate").code == 0


def test_one_broken_document_is_a_warning(fresh: Path, run: Run) -> None:
    (fresh.parent / "reports" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    made = run("-w", fresh, "run", "--json", "--to", "extract")
    assert made.code == 0
    assert made.envelope["ok"] is True
    assert [finding["code"] for finding in made.envelope["findings"]] == ["document-failed"]
