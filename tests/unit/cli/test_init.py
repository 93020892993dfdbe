from __future__ import annotations

import os
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nclue_build.store.config_file import load_config
from nclue_build.store.prompts import PROMPT_FILES
from nclue_build.workflow import scaffold
from nclue_build.workflow.scaffold import FEW_DOCUMENTS

if TYPE_CHECKING:
    from tests.conftest import WritePdf
    from tests.unit.cli.conftest import Run


@pytest.fixture
def reports(tmp_path: Path, write_pdf: WritePdf) -> Path:
    folder = tmp_path / 'my "old" reports' / "größte"
    write_pdf(folder / "a.pdf", [["One"]])
    write_pdf(folder / "sub" / "b.PDF", [["Two"]])
    return folder


def snapshot(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_init_writes_what_a_run_needs_and_copies_nothing(tmp_path: Path, reports: Path, run: Run) -> None:
    made = run("init", tmp_path / "w", "--pdfs", reports)
    assert made.code == 0
    assert made.out.splitlines()[0] == f"2 documents, build 'main' in {tmp_path / 'w'}"
    assert "note: little can come of 2 documents" in made.out
    assert made.out.splitlines()[-1] == f"next: nclue-build -w {tmp_path / 'w'} run"
    assert sorted(snapshot(tmp_path / "w")) == [
        ".gitattributes", ".gitignore", "configs/main.toml", "configs/workspace.toml",
        *sorted(f"prompts/{name}" for name in PROMPT_FILES),
    ]  # fmt: skip
    config = load_config(tmp_path / "w" / "configs" / "main.toml")
    assert config.corpus.pdfs == '../my "old" reports/größte'
    assert config.mine.model_fields_set.isdisjoint({"min_documents", "max_document_share"})


def test_init_again_is_harmless_and_another_build_fits_in(tmp_path: Path, reports: Path, run: Run) -> None:
    folder = tmp_path / "w"
    assert run("init", folder, "--pdfs", reports).code == 0
    before = snapshot(folder)
    again = run("init", folder, "--pdfs", reports, "--json").envelope["result"]
    assert again["written"] == []
    assert snapshot(folder) == before
    second = run("init", folder, "--pdfs", reports / "sub", "-b", "second", "--json").envelope["result"]
    assert second["written"] == ["configs/second.toml"]
    shown = run("init", folder, "--pdfs", reports / "sub", "-b", "second").out.splitlines()
    assert shown[0] == f"1 document, build 'second' in {folder}"
    assert shown[-1] == f"next: nclue-build -w {folder} -b second run"
    assert before.items() < snapshot(folder).items()


def test_printed_commands_can_be_pasted(tmp_path: Path, reports: Path, run: Run) -> None:
    folder = tmp_path / "it's a\tplace $HOME"
    line = run("init", folder, "--pdfs", reports).out.splitlines()[-1]
    assert shlex.split(line.removeprefix("next: ")) == ["nclue-build", "-w", str(folder), "run"]


def test_hidden_files_do_not_count(tmp_path: Path, reports: Path, run: Run, write_pdf: WritePdf) -> None:
    write_pdf(reports / "._a.pdf", [["Resource fork"]])
    assert "2 documents" in run("init", tmp_path / "w", "--pdfs", reports).out


def test_names_that_are_not_utf_8_are_one_clear_line(
    tmp_path: Path, reports: Path, run: Run, write_pdf: WritePdf
) -> None:
    pdf = write_pdf(reports / "c.pdf", [["Three"]])
    pdf.rename(reports / os.fsdecode(b"caf\xe9.pdf"))
    failed = run("init", tmp_path / "w", "--pdfs", reports)
    assert failed.code == 3
    assert failed.err.count("\n") == 1
    assert r"caf\xe9.pdf: the name is not UTF-8: rename the file or folder" in failed.err
    folder = reports.rename(reports.parent / os.fsdecode(b"r\xe9gion"))
    failed = run("init", tmp_path / "w", "--pdfs", folder)
    assert failed.code == 2
    assert r"r\xe9gion: the name is not UTF-8: rename it" in failed.err
    assert not (tmp_path / "w").exists()


def test_enough_documents_need_no_note(tmp_path: Path, run: Run, write_pdf: WritePdf) -> None:
    for number in range(FEW_DOCUMENTS):
        write_pdf(tmp_path / "pdfs" / f"{number}.pdf", [["One"]])
    assert run("init", tmp_path / "w", "--pdfs", tmp_path / "pdfs", "--json").envelope["result"]["notes"] == []


def test_a_workspace_in_a_workspace_is_noted(tmp_path: Path, reports: Path, run: Run) -> None:
    run("init", tmp_path / "w", "--pdfs", reports)
    assert "lies inside another" not in run("init", tmp_path / "w", "--pdfs", reports).out
    inner = run("init", tmp_path / "w" / "a" / "b", "--pdfs", reports)
    assert inner.code == 0
    assert f"note: this workspace lies inside another, {tmp_path / 'w'}: " in inner.out


def test_a_template_that_does_not_fit_is_a_bug_of_ours(
    tmp_path: Path, reports: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaffold, "read_asset", lambda _: "schema = 1\n[corpus]\n")
    failed = run("init", tmp_path / "w", "--pdfs", reports)
    assert failed.code == 70
    assert "configs/template.toml has no line" in failed.err
    assert not (tmp_path / "w").exists()


def test_init_overwrites_nothing(tmp_path: Path, reports: Path, run: Run) -> None:
    config = tmp_path / "w" / "configs" / "main.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n", encoding="utf-8")
    failed = run("init", tmp_path / "w", "--pdfs", reports)
    assert failed.code == 2
    assert "main.toml is there already and differs" in failed.err
    assert snapshot(tmp_path / "w") == {"configs/main.toml": "# mine\n"}
    (tmp_path / "w" / ".gitignore").write_text("*.log\n", encoding="utf-8")
    made = run("init", tmp_path / "w", "--pdfs", reports, "--build", "other")
    assert made.code == 0
    assert "you may want to add .nclue/" in made.out
    assert (tmp_path / "w" / ".gitignore").read_text(encoding="utf-8") == "*.log\n"


def test_init_takes_a_corpus_file(reports: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (reports / "corpus.jsonl").write_text('{"doc_id":"a","source":"s","file_name":"a.pdf"}\n', encoding="utf-8")
    monkeypatch.chdir(reports)
    assert run("init", Path("w"), "--corpus", "corpus.jsonl").code == 0
    text = (reports / "w" / "configs" / "main.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["corpus"] == {"file": "../corpus.jsonl"}


@pytest.fixture
def inputs(tmp_path: Path, write_pdf: WritePdf, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with things to refer to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    write_pdf(tmp_path / "full" / "a.pdf", [["One"]])
    (tmp_path / "none.jsonl").write_text("\n", encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text('{"doc_id":"a","file_name":"a.pdf"}\n', encoding="utf-8")
    (tmp_path / "gone.jsonl").write_text('{"doc_id":"a","source":"s","file_name":"a.pdf"}\n', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["w"], 2, "give either --pdfs FOLDER or --corpus FILE.jsonl"),
        (["w", "--pdfs", ".", "--corpus", "bad.jsonl"], 2, "give either"),
        (["w", "--pdfs", "nowhere"], 2, "--pdfs: there is no folder nowhere"),
        (["w", "--pdfs", "empty"], 2, "--pdfs: there is no PDF in empty or its sub-folders: name another"),
        (["w", "--corpus", "nowhere.jsonl"], 2, "--corpus: there is no file nowhere.jsonl"),
        (["w", "--corpus", "none.jsonl"], 2, "lists no document"),
        (["w", "--corpus", "bad.jsonl"], 3, "bad.jsonl:1: source: Field required"),
        (["w", "--corpus", "gone.jsonl"], 3, "a: a.pdf: file not found"),
        (["bad.jsonl", "--pdfs", "full"], 2, "bad.jsonl is a file, not a folder"),
        (["w", "--pdfs", "full", "-b", "a b"], 2, "id 'a b' is not safe"),
        (["w", "--pdfs", "full", "-b", "workspace"], 2, "'workspace' is taken"),
    ],
)
def test_init_refuses(inputs: Path, run: Run, words: list[str], code: int, message: str) -> None:
    failed = run("init", *words)
    assert failed.code == code
    assert message in failed.err
    assert "configs/" not in failed.err.replace("configs/workspace.toml", "")
    assert not (inputs / "w").exists()


def test_init_copes_with_files_that_are_no_text(tmp_path: Path, reports: Path, run: Run) -> None:
    workspace = tmp_path / "w"
    (workspace / "configs").mkdir(parents=True)
    (workspace / ".gitignore").write_bytes(b"caf\xe9\n")
    assert run("init", workspace, "--pdfs", reports).code == 0
    (workspace / "configs" / "main.toml").write_bytes(b"\xff\xfe")
    refused = run("init", workspace, "--pdfs", reports)
    assert refused.code == 2
    assert "is there already and differs" in refused.err


def test_init_writes_toml_that_can_be_read_back(tmp_path: Path, run: Run, write_pdf: WritePdf) -> None:
    folder = tmp_path / 'odd "\\\x7f name'
    write_pdf(folder / "a.pdf", [["One"]])
    assert run("init", tmp_path / "w", "--pdfs", folder).code == 0
    assert load_config(tmp_path / "w" / "configs" / "main.toml").corpus.pdfs == '../odd "\\\x7f name'
