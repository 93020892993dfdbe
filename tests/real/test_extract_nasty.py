"""The extract stage on 30 hard PDFs: each behaves as its manifest expects, and nobody sees a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from nclue_build.core.text import fold, matching_text, occurs, readings
from nclue_build.records.corpus import QUALITY_ROW, CorpusRow, DocumentQuality, PageRow
from nclue_build.store.jsonl import read_jsonl, read_numbered

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("nasty")  # the hard PDFs are read once for all tests

MAX_MEMORY_MB: Final = 1024
PASSWORDS: Final = {"13": "usersecret", "14": "foo", "15": "openpassword"}
MEASURED: Final = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
sys.exit(code)
"""
BODY: Final = {"title", "text", "list", "table", "caption", "footnote"}


@dataclass
class Extracted:
    """One run of the command line; documents are named by the number their file starts with."""

    code: int
    envelope: dict[str, Any]
    errors: str
    peak_mb: int
    written: bytes
    quality: dict[str, DocumentQuality]
    documents: dict[str, CorpusRow]
    pages: dict[str, list[PageRow]]


def run(real_data: Path, root: Path, passwords: dict[str, str]) -> Extracted:
    (root / "configs").mkdir(parents=True)
    (root / "configs" / "workspace.toml").write_text("schema = 1\n")
    folder = os.path.relpath(real_data / "nasty" / "pdf", root)
    keys = 'passwords_file = "secrets.toml"\n' if passwords else ""
    names = {path.name[:2]: path.name for path in (real_data / "nasty" / "pdf").iterdir()}
    (root / "secrets.toml").write_text("".join(f'"{names[key]}" = "{word}"\n' for key, word in passwords.items()))
    (root / "configs" / "main.toml").write_text(
        f'schema = 1\n[corpus]\npdfs = "{folder}"\n[extract]\nduplicates = "keep"\n{keys}'
    )
    command = [sys.executable, "-m", "nclue_build", "-w", str(root), "--json", "extract"]
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, timeout=300, check=False
    )
    *errors, peak_mb = done.stderr.strip().splitlines()
    inventory = root / "inventory" / "main"
    rows = [row for _, row in read_numbered(inventory / "documents_quality.jsonl", QUALITY_ROW)]
    return Extracted(
        code=done.returncode,
        envelope=json.loads(done.stdout),
        errors="\n".join(errors),
        peak_mb=int(peak_mb),
        written=b"".join(path.read_bytes() for path in sorted(root.rglob("*.json*"))) + done.stdout.encode(),
        quality={row.doc_id[:2]: row for row in rows if isinstance(row, DocumentQuality)},
        documents={row.doc_id[:2]: row for row in read_jsonl(inventory / "documents.jsonl", CorpusRow)},
        pages={path.name[:2]: list(read_jsonl(path, PageRow)) for path in (inventory / "pages").iterdir()},
    )


@pytest.fixture(scope="module")
def plain(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Extracted:
    return run(real_data, tmp_path_factory.mktemp("nasty"), {})


@pytest.fixture(scope="module")
def unlocked(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Extracted:
    return run(real_data, tmp_path_factory.mktemp("unlocked"), PASSWORDS)


def is_on(page: PageRow, phrase: str) -> bool:
    """Whether a phrase is found in a block that can count as evidence."""
    form = fold(matching_text(phrase))
    return any(
        occurs(form, fold(reading)) for block in page.blocks if block.role in BODY for reading in readings(block.text)
    )


def test_the_run_ends_with_a_row_per_document_and_no_traceback(real_data: Path, plain: Extracted) -> None:
    listed = [json.loads(line) for line in (real_data / "nasty" / "manifest.jsonl").read_text().splitlines()]
    assert plain.code == 0
    assert set(plain.quality) == set(plain.documents) == set(plain.pages) == {row["file"][:2] for row in listed}
    assert len(listed) == len(plain.quality) == 30
    assert "Traceback" not in plain.errors
    assert plain.envelope["ok"]
    failed = {key for key, row in plain.quality.items() if row.status == "failed"}
    assert {found["id"][:2] for found in plain.envelope["findings"] if found["code"] == "document-failed"} == failed
    assert all("\n" not in found["message"] for found in plain.envelope["findings"])


def test_no_process_takes_a_gigabyte(plain: Extracted) -> None:
    assert plain.peak_mb < MAX_MEMORY_MB


@pytest.mark.parametrize(
    ("key", "status", "counts", "flags", "removed", "message"),
    [
        ("01", "failed", (0, 0, 0), [], "unreadable", "not a PDF, or damaged beyond repair"),
        ("02", "failed", (0, 0, 0), [], "unreadable", "not a PDF, or damaged beyond repair"),
        ("06", "failed", (0, 0, 0), [], "unreadable", "Invalid number of pages"),
        ("08", "failed", (0, 0, 1), ["repaired"], "unreadable", "no page could be read: cycle in page tree"),
        ("10", "ok", (1, 0, 0), ["language_unknown", "repaired"], None, None),
        ("11", "ok", (1, 0, 0), ["repaired"], None, None),
        ("12", "ok", (1, 0, 0), [], None, None),
        ("13", "failed", (0, 0, 0), [], "unreadable", "encrypted: needs a password (extract.passwords_file)"),
        ("14", "failed", (0, 0, 0), [], "unreadable", "encrypted: needs a password (extract.passwords_file)"),
        ("15", "failed", (0, 0, 0), [], "unreadable", "encrypted: needs a password (extract.passwords_file)"),
        ("16", "ok", (1, 0, 0), ["language_unknown"], None, None),
        ("17", "ok", (1, 0, 0), ["copy_forbidden"], None, None),
        ("19", "ok", (4, 0, 0), ["language_unknown"], None, None),
        ("23", "ok", (1, 0, 0), ["language_unknown"], None, None),
        ("24", "ok", (0, 1, 0), [], "no_text", "every page is blank"),
        (
            "27",
            "partial",
            (52, 0, 2),
            [],
            None,
            "page 4 and 1 more failed: its content cannot be decoded: the file is damaged or cut off",
        ),
        ("33", "ok", (117, 0, 0), ["non_english"], None, None),
        ("36", "ok", (1, 0, 0), ["non_english"], None, None),
        ("40", "ok", (19, 0, 0), ["repaired"], None, None),
        ("41", "ok", (3, 0, 0), ["language_unknown", "placeholder_text"], None, None),
        ("43", "ok", (1, 0, 0), ["attachments", "language_unknown", "placeholder_text"], None, None),
        ("44", "ok", (1, 0, 0), ["attachments"], None, None),
        ("47", "ok", (5, 0, 0), ["language_unknown"], None, None),
        ("53", "ok", (4, 0, 0), ["copy_forbidden"], None, None),
        ("56", "failed", (0, 0, 0), [], "unreadable", "no pages: its page tree is empty or lost"),
    ],
)
def test_each_document_has_its_outcome(  # noqa: PLR0913, PLR0917 - the columns of the table
    plain: Extracted, key: str, status: str, counts: tuple[int, ...], flags: list[str], removed: str, message: str
) -> None:
    row = plain.quality[key]
    assert (row.status, (row.pages_ok, row.pages_empty, row.pages_failed)) == (status, counts)
    assert (list(row.flags), row.removed, row.message) == (flags, removed, message)
    assert len(plain.pages[key]) == row.n_pages


@pytest.mark.parametrize(
    ("key", "without_text"), [("20", [1]), ("21", [1, 2, 3, 5, 6]), ("22", [1]), ("49", [1]), ("50", [1])]
)
def test_pictures_of_any_size_are_told_to_have_no_text(plain: Extracted, key: str, without_text: list[int]) -> None:
    assert [page.page for page in plain.pages[key] if "no_text_layer" in page.flags] == without_text
    assert "no_text_layer" in plain.quality[key].flags


@pytest.mark.parametrize(
    ("key", "language"), [("27", "en"), ("33", "de"), ("36", None), ("40", "en"), ("41", None), ("43", None)]
)
def test_languages_are_told_and_placeholder_text_has_none(plain: Extracted, key: str, language: str | None) -> None:
    assert plain.documents[key].language == language


@pytest.mark.parametrize(("key", "n_words"), [("13", 1), ("14", 1), ("15", 1)])
def test_encrypted_documents_open_with_their_passwords_which_are_written_nowhere(
    unlocked: Extracted, key: str, n_words: int
) -> None:
    assert unlocked.quality[key].status == "ok"
    assert unlocked.quality[key].n_words >= n_words
    assert not any(word.encode() in unlocked.written for word in PASSWORDS.values() if len(word) > 3)
    assert "password" not in unlocked.errors


def test_a_title_that_cannot_be_read_falls_back_to_the_file_name(plain: Extracted) -> None:
    assert plain.documents["56"].title == "56_bad-metadata__unreadablemetadata"


def test_labels_are_kept_beside_physical_pages(plain: Extracted) -> None:
    assert [(page.page, page.page_label) for page in plain.pages["47"]] == [
        (1, "iii"), (2, "iv"), (3, "1"), (4, "2"), (5, "1"),
    ]  # fmt: skip


def test_no_control_character_is_left_and_the_text_is(plain: Extracted) -> None:
    texts = [block.text for rows in plain.pages.values() for page in rows for block in page.blocks]
    assert not any("\x00" in text for text in texts)
    assert sum(len(block.text.split()) for page in plain.pages["27"] for block in page.blocks) > 14_000


@pytest.mark.parametrize(
    ("key", "page", "phrase"),
    [
        ("40", 1, "periodic reports"),  # broken after peri-
        ("40", 1, "disposal of controlled substances"),  # con-trolled, sub-stances
        ("40", 1, "Native American Church"),  # Amer-ican
        ("40", 1, "proceedings for rulemaking"),
        ("40", 2, "updated, and republished"),
        ("27", 1, "West Africa Rice Development Association"),
        ("27", 6, "medium size mill"),
        ("27", 10, "selected paddy procurement indicators"),
        ("27", 31, "simplified balance sheet"),  # beside a diagram in a font without a Unicode mapping
        ("33", 7, "Definition 2"),  # fi as a ligature
        ("33", 7, "offener"),
        ("33", 13, "ist offen in"),
        ("41", 1, "adipiscing elit"),
        ("41", 1, "filled with Lorem Ipsum"),
        ("41", 1, "pellentesque ante"),  # begins the second column
        ("12", 1, "Beautiful is better than ugly"),  # rotated by a quarter
        ("19", 1, "حَبيبي"),
        ("19", 2, "حَبيبي"),
        ("19", 3, "حَبيبي"),
        ("19", 4, "حَبيبي"),
        ("23", 1, "No vote"),  # invisible text behind a picture
    ],
)
def test_a_phrase_is_found_on_the_page_where_a_person_sees_it(
    plain: Extracted, key: str, page: int, phrase: str
) -> None:
    assert is_on(plain.pages[key][page - 1], phrase)


@pytest.mark.parametrize(("key", "page", "phrase"), [("40", 1, "con trolled"), ("41", 1, "adip iscing")])
def test_what_nobody_sees_is_not_found(plain: Extracted, key: str, page: int, phrase: str) -> None:
    assert not is_on(plain.pages[key][page - 1], phrase)


def test_columns_are_read_one_after_the_other(plain: Extracted) -> None:
    text = "\n".join(block.text for block in plain.pages["41"][0].blocks)
    places = [text.index(word) for word in ("Abstract", "Nam dui ligula", "Nulla malesuada", "Quisque ullamcorper")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("key", "page", "heading"),
    [
        ("27", 6, "3.1.1 Milling capacity"),
        ("27", 10, "3.1.3 Pattern of activities"),
        ("33", 13, "1.3 Stetigkeit"),
        ("41", 1, "Abstract"),
    ],
)
def test_a_heading_is_split_from_the_paragraph_below(plain: Extracted, key: str, page: int, heading: str) -> None:
    titles = [matching_text(block.text) for block in plain.pages[key][page - 1].blocks if block.role == "title"]
    assert heading in titles


def test_lines_of_contents_are_no_evidence_and_headings_are(plain: Extracted) -> None:
    contents, first = plain.pages["27"][1], plain.pages["27"][2]
    lines = [block for block in contents.blocks if "....." in block.text]
    assert len(lines) > 10
    assert {block.role for block in lines} == {"toc"}
    assert not is_on(contents, "Methodology")
    assert not is_on(contents, "Financial analysis")
    assert is_on(first, "Introduction")
