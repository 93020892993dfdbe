"""Encrypted PDFs, with and without the password, and where a password must never turn up."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import OutcomeError, UsageError
from nclue_build.corpus.passwords import assign_passwords, read_passwords
from nclue_build.corpus.stage import Extract
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality
from nclue_build.store.jsonl import read_numbered
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.runner import run_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nclue_build.corpus.supervisor import Supervisor
    from nclue_build.store.stage import StageContext, StageResult

SECRET = "zebra-crossing-42"  # noqa: S105 - of PDFs made here
AES_256 = 5
PRINT_ONLY = 4


@pytest.fixture
def locked(tmp_path: Path, text: Any, make_pdf: Any) -> Path:
    pages = [[text(72, 200, "The annual report")]]
    return make_pdf(tmp_path / "pdfs" / "locked.pdf", pages, encryption=AES_256, user_pw=SECRET, owner_pw="owner")  # type: ignore[no-any-return]


def run(context: StageContext) -> StageResult:
    with LocalMapper(1) as mapper:
        return Extract().run(dataclasses.replace(context, mapper=mapper))


def outcomes(context: StageContext) -> list[DocumentQuality]:
    rows = [row for _, row in read_numbered(context.build.quality, QUALITY_ROW)]
    return [row for row in rows if isinstance(row, DocumentQuality)]


@pytest.mark.parametrize(
    ("password", "error"),
    [
        (SECRET, None),
        ("owner", None),
        (None, "encrypted: needs a password (extract.passwords_file)"),
        ("wrong", "encrypted: the password in extract.passwords_file is not the right one"),
        ("", "encrypted: the password in extract.passwords_file is not the right one"),
    ],
)
def test_the_reader_opens_with_the_right_password_alone(
    locked: Path, supervisor: Supervisor, password: str | None, error: str | None
) -> None:
    read = supervisor.read(locked, password)
    assert read.error == error
    assert read.n_pages == (error is None)


@pytest.mark.parametrize("key", ["id", "sha256", "file"])
def test_a_password_is_found_by_id_digest_and_file_name_and_written_nowhere(
    tmp_path: Path, locked: Path, make_build: Callable[..., StageContext], key: str
) -> None:
    context = make_build('pdfs = "../pdfs"')
    with pytest.raises(OutcomeError):
        run(context)
    (row,) = (CorpusRow.model_validate_json(line) for line in context.build.documents.read_bytes().splitlines())
    name = {"id": row.doc_id, "sha256": row.sha256, "file": locked.name}[key]
    (tmp_path / "w" / "secrets.toml").write_text(f'"{name}" = "{SECRET}"\n')
    context = make_build('pdfs = "../pdfs"', 'passwords_file = "secrets.toml"')
    report = run_build(context.build.workspace.root, "main", last="extract")
    (document,) = outcomes(context)
    assert (document.status, document.pages_ok) == ("ok", 1)
    assert not report.stages[0].findings
    written = [path for path in (tmp_path / "w").rglob("*") if path.is_file() and path.name != "secrets.toml"]
    assert len(written) > 4
    assert not any(SECRET.encode() in path.read_bytes() or SECRET in str(path) for path in written)


def test_the_outcome_follows_the_password_given_whatever_was_cached(
    tmp_path: Path, locked: Path, make_build: Callable[..., StageContext]
) -> None:
    secrets = tmp_path / "w" / "secrets.toml"
    context = make_build('pdfs = "../pdfs"', 'passwords_file = "secrets.toml"')
    for password, status in [(SECRET, "ok"), ("wrong", "failed"), (SECRET, "ok")]:
        secrets.write_text(f'"{locked.name}" = "{password}"\n')
        try:
            run(context)
        except OutcomeError as error:
            assert "wrong" not in str(error)  # noqa: PT017 - the run ends without a document
        assert [document.status for document in outcomes(context)] == [status]


def test_an_entry_without_a_document_is_told_by_its_number(
    tmp_path: Path, locked: Path, make_build: Callable[..., StageContext]
) -> None:
    context = make_build('pdfs = "../pdfs"', 'passwords_file = "secrets.toml"')
    (tmp_path / "w" / "secrets.toml").write_text(f'"{locked.name}" = "{SECRET}"\n"{SECRET}2" = "swapped"\n')
    (finding,) = run(context).findings
    assert finding.code == "password-unused"
    assert finding.message.endswith("1 entry without a document in the corpus (number 2)")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'"a" == "{SECRET}"', r"is not valid TOML in line 1: write"),
        (f'a.pdf = "{SECRET}"', r"entry 1 is no text"),
        ('"a" = 7', r"entry 1 is no text"),
        (b"\xff\xfe", r"is not UTF-8"),
        (None, r"secrets\.toml: no such file \(extract\.passwords_file\)"),
    ],
)
def test_a_bad_file_is_told_without_a_word_of_it(
    tmp_path: Path, make_build: Callable[..., StageContext], content: str | bytes | None, message: str
) -> None:
    context = make_build('pdfs = "../pdfs"')
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "w" / "secrets.toml").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_passwords(context.build, "secrets.toml")
    assert re.search(message, caught.value.message)
    assert SECRET not in str(caught.value)


def test_a_file_that_would_be_published_is_refused(make_build: Callable[..., StageContext]) -> None:
    context = make_build('pdfs = "../pdfs"')
    with pytest.raises(UsageError, match="do not belong into a folder that is published"):
        read_passwords(context.build, "inventory/secrets.toml")


def test_a_published_folder_is_known_through_links(tmp_path: Path, make_build: Callable[..., StageContext]) -> None:
    context = make_build('pdfs = "../pdfs"')
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secrets.toml").write_text("")
    (tmp_path / "w" / "inventory").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    for name in ("inventory/secrets.toml", "../elsewhere/secrets.toml", "x/../inventory/secrets.toml"):
        with pytest.raises(UsageError, match="do not belong into a folder that is published"):
            read_passwords(context.build, name)
    (tmp_path / "private.toml").write_text("")
    (tmp_path / "w" / "benchmarks").mkdir()
    (tmp_path / "w" / "benchmarks" / "secrets.toml").symlink_to(tmp_path / "private.toml")
    with pytest.raises(UsageError, match="do not belong into a folder that is published"):
        read_passwords(context.build, "benchmarks/secrets.toml")


def test_nothing_that_is_written_confirms_a_guess(
    tmp_path: Path, locked: Path, make_build: Callable[..., StageContext]
) -> None:
    """Two workspaces with the same PDF and password name their cache files and receipts differently."""
    seen = []
    secrets = f'"{locked.name}" = "{SECRET}"\n'
    for _ in range(2):
        context = make_build('pdfs = "../pdfs"', 'passwords_file = "../secrets.toml"')
        (tmp_path / "secrets.toml").write_text(secrets)
        run_build(context.build.workspace.root, "main", last="extract")
        state = context.build.workspace.state
        assert (state / "digest.key").stat().st_mode & 0o777 == 0o600
        receipt = (context.build.receipts / "extract.json").read_text()
        assert hashlib.sha256(secrets.encode()).hexdigest() not in receipt
        seen.append({path.name for path in (state / "pages").rglob("*.jsonl")})
        assert run_build(context.build.workspace.root, "main", last="extract").stages[0].ran is False
        shutil.rmtree(tmp_path / "w")
    assert not seen[0] & seen[1]


def test_one_file_may_have_a_password_for_each_document_it_is(
    tmp_path: Path, locked: Path, make_build: Callable[..., StageContext]
) -> None:
    rows = [{"doc_id": name, "source": "s", "file_name": locked.name} for name in "ab"]
    (locked.parent / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    context = make_build('file = "../pdfs/corpus.jsonl"', 'passwords_file = "secrets.toml"')
    (tmp_path / "w" / "secrets.toml").write_text(f'"a" = "{SECRET}"\n"b" = "another"\n')
    run_build(context.build.workspace.root, "main", last="extract")
    assert [document.status for document in outcomes(context)] == ["ok", "failed"]


def test_without_a_file_there_are_no_passwords(make_build: Callable[..., StageContext]) -> None:
    assert read_passwords(make_build('pdfs = "../pdfs"').build, "") == {}
    assert assign_passwords([CorpusRow(doc_id="a", source="s", file_name="a.pdf")], {}) == ({}, None)


def test_a_pdf_that_forbids_copying_is_read_and_flagged(
    tmp_path: Path, text: Any, make_pdf: Any, supervisor: Supervisor
) -> None:
    pages = [[text(72, 200, "The annual report")]]
    options = {"encryption": AES_256, "owner_pw": "owner", "permissions": PRINT_ONLY}
    path = make_pdf(tmp_path / "a.pdf", pages, **options)
    assert supervisor.read(path).flags == ["copy_forbidden"]
    assert supervisor.read(make_pdf(tmp_path / "b.pdf", pages)).flags == []
