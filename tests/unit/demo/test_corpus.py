# mypy: disable-error-code="no-untyped-call"
"""The generated corpus: reproducible, and its truth agrees with the finished PDFs."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pymupdf
import pytest

from nclue_build.core.text import fold, readings
from nclue_build.records.corpus import CorpusRow

if TYPE_CHECKING:
    from pathlib import Path

TRAP = "dredging licence register"
SECOND_PRINTING = ("harrow-tunnel-refurbishment", "harrow-tunnel-second-printing")
FORM = "premises-check-"
"""One template, filled in for several premises."""
GERMAN, FILLER = "lenn-hochwasserbericht", "selmouth-museum-draft"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def page_readings(generated: Path) -> dict[tuple[str, int], tuple[str, ...]]:
    """Both readings of the text of every page, keyed by (document, page)."""
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for path in sorted((generated / "pdf").glob("*.pdf")):
        with pymupdf.open(path) as pdf:
            for number, page in enumerate(pdf, start=1):
                found[path.stem, number] = readings(page.get_text())
    return found


def _occurs(concept: dict[str, Any], texts: tuple[str, ...]) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(alias['form'])}(?!\w)", text)
        if alias["match"] == "exact"
        else re.search(rf"(?<!\w){re.escape(fold(alias['form']))}(?!\w)", fold(text))
        for alias in concept["aliases"]
        for text in texts
    )


def test_a_second_run_gives_the_same_bytes(generated: Path, demo_folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(demo_folder / "generate.py"), str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})  # noqa: S603 - our own script
    assert _files(tmp_path) == _files(generated)


def test_the_committed_corpus_is_the_generated_one(generated: Path, demo_folder: Path) -> None:
    made = _files(generated)
    committed = _files(demo_folder)
    assert {name: committed.get(name) == data for name, data in made.items()} == dict.fromkeys(made, True)
    assert {name for name in committed if name.startswith("pdf/")} <= set(made)
    assert sum(len(data) for name, data in made.items() if name.startswith("pdf/")) < 3_000_000


def test_corpus_rows_are_valid_and_their_files_exist(generated: Path) -> None:
    lines = (generated / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [CorpusRow.model_validate_json(line) for line in lines]
    assert [row.doc_id for row in rows] == sorted({row.doc_id for row in rows})
    assert all((generated / str(row.file_name)).is_file() for row in rows)
    assert len({row.source for row in rows}) == 3


def test_pdfs_carry_no_date(generated: Path) -> None:
    for path in sorted((generated / "pdf").glob("*.pdf")):
        with pymupdf.open(path) as pdf:
            assert not pdf.metadata["creationDate"]
            assert not pdf.metadata["modDate"]


def test_truth_names_only_existing_pages(generated: Path, truth: dict[str, Any]) -> None:
    lengths = {}
    for path in sorted((generated / "pdf").glob("*.pdf")):
        with pymupdf.open(path) as pdf:
            lengths[path.stem] = len(pdf)
    assert truth["documents"] == lengths
    assert set(lengths.values()) <= set(range(2, 9))
    for concept in truth["concepts"]:
        for pages in (concept["pages"], concept["uncounted"]):
            for doc_id, numbers in pages.items():
                assert numbers == sorted(set(numbers))
                assert set(numbers) <= set(range(1, lengths[doc_id] + 1))


def test_a_concept_stands_on_its_pages_and_on_no_other(
    truth: dict[str, Any], page_readings: dict[tuple[str, int], tuple[str, ...]]
) -> None:
    for concept in truth["concepts"]:
        expected = {
            (doc_id, number)
            for pages in (concept["pages"], concept["uncounted"])
            for doc_id, numbers in pages.items()
            for number in numbers
        }
        found = {key for key, texts in page_readings.items() if _occurs(concept, texts)}
        assert found == expected, concept["name"]


def test_every_concept_is_in_three_to_twelve_documents(truth: dict[str, Any]) -> None:
    counts = {concept["name"]: len(concept["pages"]) for concept in truth["concepts"]}
    assert counts.pop(TRAP) == 0
    assert len(counts) >= 70
    assert {name: count for name, count in counts.items() if not 3 <= count <= 12} == {}
    assert sum(count >= 4 for count in counts.values()) >= 70


def test_headers_contents_and_references_do_not_count(truth: dict[str, Any]) -> None:
    trap = next(concept for concept in truth["concepts"] if concept["name"] == TRAP)
    assert trap["pages"] == {}
    assert len(trap["uncounted"]) >= 3


def _outcome(sets: list[set[int]]) -> str:
    if set.intersection(*sets):
        return "single_page"
    return "ok" if any(len(set(pages)) == len(sets) for pages in itertools.product(*sets)) else "no_assignment"


def test_conjunctions_meet_every_outcome_of_the_page_gate(truth: dict[str, Any]) -> None:
    concepts = [concept["pages"] for concept in truth["concepts"] if concept["pages"]]
    outcomes: Counter[tuple[int, tuple[str, ...]]] = Counter()
    for n in (2, 3):
        for chosen in itertools.combinations(concepts, n):
            shared = set(chosen[0]).intersection(*chosen[1:])
            found = {_outcome([set(pages[doc_id]) for pages in chosen]) for doc_id in shared}
            if "ok" in found:  # a query is possible
                outcomes[n, tuple(sorted(found))] += 1
    assert outcomes[2, ("ok",)] >= 100
    assert outcomes[3, ("ok",)] >= 100
    assert outcomes[2, ("ok", "single_page")] >= 10
    assert outcomes[3, ("no_assignment", "ok")] >= 5


def _family(name: str) -> str:
    """What a document is allowed to share wording with: its other printing, the other forms of one template."""
    return FORM if name.startswith(FORM) else SECOND_PRINTING[0] if name in SECOND_PRINTING else name


@pytest.fixture(scope="module")
def shared_runs(generator: Any, demo_folder: Path) -> dict[tuple[str, ...], set[str]]:
    """Documents that hold each run of eight words, of the runs that stand in several documents."""
    seen: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path in sorted((demo_folder / "text").glob("*.md")):
        for page in generator.parse(path).pages:
            for block in page:
                words = re.findall(r"\w+", block.text.lower())
                for start in range(len(words) - 7):
                    seen[tuple(words[start : start + 8])].add(path.stem)
    return {run: names for run, names in seen.items() if len(names) > 1}


def test_ordinary_documents_share_no_wording(shared_runs: dict[tuple[str, ...], set[str]]) -> None:
    assert {run: names for run, names in shared_runs.items() if len(set(map(_family, names))) > 1} == {}


def test_the_exceptions_share_their_wording(shared_runs: dict[tuple[str, ...], set[str]]) -> None:
    forms = {name for names in shared_runs.values() for name in names if name.startswith(FORM)}
    assert len(forms) == 5
    assert sum(names == forms for names in shared_runs.values()) >= 100
    assert sum(names == set(SECOND_PRINTING) for names in shared_runs.values()) >= 1000


def test_one_document_is_german_and_one_mostly_filler(generated: Path, generator: Any, demo_folder: Path) -> None:
    rows = [json.loads(line) for line in (generated / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["doc_id"] for row in rows if row["language"] != "en"] == [GERMAN]
    pages = generator.parse(demo_folder / "text" / f"{FILLER}.md").pages
    assert sum(any("lorem ipsum" in block.text.lower() for block in page) for page in pages) == 3


def test_one_acronym_stands_for_two_things(
    truth: dict[str, Any], page_readings: dict[tuple[str, int], tuple[str, ...]]
) -> None:
    long_forms = {"Clinic Referral System", "Coastal Resilience Scheme"}
    defined = {
        name: {doc for (doc, _), texts in page_readings.items() if f"{name} (CRS)" in texts[0]} for name in long_forms
    }
    assert all(len(documents) >= 2 for documents in defined.values())
    assert set.intersection(*defined.values()) == set()
    assert not any(alias["form"] == "CRS" for concept in truth["concepts"] for alias in concept["aliases"])


def test_the_hard_cases_are_in_the_pdfs(generated: Path) -> None:
    with pymupdf.open(generated / "pdf" / "penholm-flats-completion.pdf") as pdf:
        assert "Ground-\nwater monitoring" in pdf[1].get_text()
        left, right = (block[0] for block in (pdf[1].get_text("blocks")[1], pdf[1].get_text("blocks")[-1]))
        assert right > left + 100
    with pymupdf.open(generated / "pdf" / "calder-home-retrofit-evaluation.pdf") as pdf:
        raw = pdf[6].get_text(flags=pymupdf.TEXT_PRESERVE_LIGATURES)
        assert "Third-party veri\ufb01cation" in raw


def test_licence_is_named_in_every_row(generated: Path) -> None:
    rows = [json.loads(line) for line in (generated / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["license"] for row in rows} == {"AGPL-3.0-or-later; written for this project"}
